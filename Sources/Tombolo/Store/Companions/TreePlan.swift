import TomboloProtocol
import TomboloSQLite

/// An `#Index(.rtree([…]))`: the records as points, found by ranges in all their dimensions at once (https://sqlite.org/rtree.html).
///
/// A tree holds numbers of 32 bits, rounded outwards: what it finds is a little more than what is asked for, and the
/// predicate itself decides. A record that lacks one of the values is not in the tree.
package struct TreePlan: Sendable {
  /// The table of its records.
  let table: String
  /// Positions in ``EntityPlan/columns`` of the entity that declares it.
  let columns: [ColumnPlan]

  package var name: String { "_tombolo_tree_\(table)_\(columns.map(\.column).joined(separator: "_"))" }

  /// SQLite's limit.
  package static let dimensionsMax = 5

  /// Nil for columns that no tree can hold.
  init?(table: String, columns: [ColumnPlan]) {
    guard (1...Self.dimensionsMax).contains(columns.count),
      columns.allSatisfy({ column in
        guard case .attribute(let attribute) = column.kind else { return false }
        return attribute.type.isTreeDimension
      })
    else { return nil }
    self.table = table
    self.columns = columns
  }

  var companion: CompanionTables.Companion {
    let bounds = columns.indices.map { "\"\($0)_min\", \"\($0)_max\"" }.joined(separator: ", ")
    return CompanionTables.Companion(
      name: name, statement: "CREATE VIRTUAL TABLE \(name.quotedIdentifier) USING rtree(number, \(bounds))",
      filling: [
        "INSERT INTO \(name.quotedIdentifier) SELECT n.number, \(values("t")) FROM \(table.quotedIdentifier) t "
          + "JOIN _tombolo_number n ON n.record = t._tombolo_id WHERE \(isThere("t"))"
      ])
  }

  private func values(_ row: String) -> String {
    columns.map { "\(row).\($0.column.quotedIdentifier), \(row).\($0.column.quotedIdentifier)" }.joined(separator: ", ")
  }

  private func isThere(_ row: String) -> String {
    columns.map { "\(row).\($0.column.quotedIdentifier) IS NOT NULL" }.joined(separator: " AND ")
  }

  // MARK: What triggers do

  var watched: [String] { columns.map(\.column) }

  var isChanged: String {
    columns.map { "OLD.\($0.column.quotedIdentifier) IS NOT NEW.\($0.column.quotedIdentifier)" }.joined(
      separator: " OR ")
  }

  func add(_ row: String) -> String {
    "INSERT INTO \(name.quotedIdentifier) SELECT number, \(values(row)) FROM _tombolo_number "
      + "WHERE record = \(row)._tombolo_id AND \(isThere(row));"
  }

  /// - Parameter rows: the row's names, of which one has the record's identity.
  func remove(_ rows: String...) -> String {
    let records = rows.map { "\($0)._tombolo_id" }.joined(separator: ", ")
    return "DELETE FROM \(name.quotedIdentifier) WHERE number IN "
      + "(SELECT number FROM _tombolo_number WHERE record IN (\(records)));"
  }

  // MARK: Queries

  /// SQL that holds for every record in the given ranges, and for few others.
  ///
  /// - Parameter bounds: by column: SQL for what it is at least, and at most.
  /// - Returns: nil where the tree would leave a record out, or nothing is bounded.
  func condition(key: String, bounds: [String: (lower: [String], upper: [String])]) -> String? {
    var parts: [String] = []
    for (index, column) in columns.enumerated() {
      let bound = bounds[column.column]
      // A record without that value is in no tree, and might be asked for.
      if bound == nil, column.isOptional { return nil }
      for lower in bound?.lower ?? [] { parts.append("r.\"\(index)_max\" >= \(lower)") }
      for upper in bound?.upper ?? [] { parts.append("r.\"\(index)_min\" <= \(upper)") }
    }
    if parts.isEmpty { return nil }
    return "\(key) IN (SELECT n.record FROM \(name.quotedIdentifier) r JOIN _tombolo_number n ON n.number = r.number "
      + "WHERE \(parts.joined(separator: " AND ")))"
  }
}

extension AttributeType {
  /// Whether values of the type are numbers in the store.
  package var isTreeDimension: Bool {
    switch self {
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double, .date: true
    case .bool, .decimal, .string, .data, .uuid, .url, .codable: false
    }
  }
}
