import TomboloProtocol
import TomboloSQLite

/// The full-text index of one table's attributes that are declared `.spotlight` (https://sqlite.org/fts5.html).
///
/// The text stays in the records alone: the index reads it through a view, `_tombolo_searched_TABLE`. Both name a record by the number that
/// `_tombolo_number` gives it, since SQLite's own row numbers may change.
struct SearchPlan {
  let table: String
  /// The columns' names in the table, and in the index.
  let columns: [(column: String, name: String)]

  /// Folds capitals and diacritics.
  static let tokenizer = "unicode61 remove_diacritics 2"

  var index: String { "_tombolo_search_\(table)" }
  var view: String { "_tombolo_searched_\(table)" }

  /// Nil where no attribute of the table is searched.
  init?(root: EntityPlan, in schema: StoreSchema) {
    var columns: [(column: String, name: String)] = []
    for member in schema.entities where member.table == root.table {
      for column in member.columns where column.isSearched && !columns.contains(where: { $0.column == column.column }) {
        // Names that the index has for itself.
        let isTaken = ["rank", "rowid"].contains(StoreLayout.folded(column.column))
        columns.append((column.column, isTaken ? column.column + "_" : column.column))
      }
    }
    if columns.isEmpty { return nil }
    table = root.table
    self.columns = columns.sorted { $0.column < $1.column }
  }

  private var names: String { columns.map(\.name.quotedIdentifier).joined(separator: ", ") }

  private func values(_ row: String) -> String {
    columns.map { "\(row).\($0.column.quotedIdentifier)" }.joined(separator: ", ")
  }

  var companions: [CompanionTables.Companion] {
    let shown = columns.map { "t.\($0.column.quotedIdentifier) AS \($0.name.quotedIdentifier)" }.joined(separator: ", ")
    return [
      CompanionTables.Companion(
        name: view, isView: true,
        statement:
          "CREATE VIEW \(view.quotedIdentifier) AS SELECT n.number AS number, \(shown) FROM _tombolo_number n "
          + "JOIN \(table.quotedIdentifier) t ON t._tombolo_id = n.record"),
      CompanionTables.Companion(
        name: index,
        statement:
          "CREATE VIRTUAL TABLE \(index.quotedIdentifier) USING fts5(\(names), content=\(view.quotedLiteral), "
          + "content_rowid='number', tokenize='\(Self.tokenizer)')",
        filling: ["INSERT INTO \(index.quotedIdentifier)(\(index.quotedIdentifier)) VALUES ('rebuild')"]),
    ]
  }

  // MARK: What triggers do

  /// The columns whose change concerns the index.
  var watched: [String] { columns.map(\.column) }

  var isChanged: String {
    columns.map { "OLD.\($0.column.quotedIdentifier) IS NOT NEW.\($0.column.quotedIdentifier)" }.joined(
      separator: " OR ")
  }

  /// - Parameter row: `NEW`.
  func add(_ row: String) -> String {
    "INSERT INTO \(index.quotedIdentifier)(rowid, \(names)) SELECT number, \(values(row)) FROM _tombolo_number "
      + "WHERE record = \(row)._tombolo_id;"
  }

  /// Makes the index forget the words of a row that went without a trigger: its record is the first parameter, then come
  /// the columns' values.
  var removeBound: String {
    let parameters = columns.indices.map { "?\($0 + 2)" }.joined(separator: ", ")
    return "INSERT INTO \(index.quotedIdentifier)(\(index.quotedIdentifier), rowid, \(names)) SELECT 'delete', number, "
      + "\(parameters) FROM _tombolo_number WHERE record = ?1"
  }

  /// Indexes a record anew, which is the parameter. A word that was forgotten is forgotten in every row of the same number.
  var renew: [String] {
    let isOfRecord = "WHERE number = (SELECT number FROM _tombolo_number WHERE record = ?1)"
    return [
      "INSERT INTO \(index.quotedIdentifier)(\(index.quotedIdentifier), rowid, \(names)) SELECT 'delete', number, "
        + "\(names) FROM \(view.quotedIdentifier) \(isOfRecord)",
      "INSERT INTO \(index.quotedIdentifier)(rowid, \(names)) SELECT number, \(names) "
        + "FROM \(view.quotedIdentifier) \(isOfRecord)",
    ]
  }

  /// The index is told the text that it has to forget: it does not keep it.
  var remove: String {
    "INSERT INTO \(index.quotedIdentifier)(\(index.quotedIdentifier), rowid, \(names)) SELECT 'delete', number, "
      + "\(values("OLD")) FROM _tombolo_number WHERE record = OLD._tombolo_id;"
  }
}
