import TomboloSQLite

/// The tables and conditions of one `SELECT`: the whole fetch, or a subquery over a to-many.
final class QueryScope {
  /// The first table, with its alias.
  let base: String
  private(set) var joins: [String] = []
  var conditions: [String] = []

  init(base: String) { self.base = base }

  func join(_ clause: String) { joins.append(clause) }

  /// `FROM … JOIN … WHERE …`.
  var clause: String {
    var text = "FROM \(base)"
    for join in joins { text += " \(join)" }
    if !conditions.isEmpty { text += " WHERE \(conditions.joined(separator: " AND "))" }
    return text
  }
}

/// A record that a query looks at. Its table is joined only once a column of it is asked for: its key may do.
///
/// Joins are left joins on the primary key, so no row of the fetch is ever dropped or doubled by one.
final class QueryRow {
  enum Source {
    /// Already in its scope, under this alias.
    case table(alias: String)
    /// Joined by its key, behind which there may be no record.
    case key(mayDangle: Bool)
    /// The derived side of a one-to-one: the record whose reference holds `owner`.
    case holder(of: String, column: String)
  }

  let entity: EntityPlan
  let scope: QueryScope
  private let source: Source
  /// SQL for its key; null where the record is absent.
  private let key: String
  private var alias: String?
  fileprivate struct Step: Hashable {
    let name: String
    let cast: String?
  }
  /// The records that its references lead to.
  fileprivate var children: [Step: QueryRow] = [:]

  init(entity: EntityPlan, scope: QueryScope, key: String, source: Source) {
    self.entity = entity
    self.scope = scope
    self.key = key
    self.source = source
    if case .table(let alias) = source { self.alias = alias }
  }

  /// SQL for the record's key.
  func identifier(in compiler: QueryCompiler) -> String {
    if case .holder = source { return "\(joined(in: compiler)).\"_tombolo_id\"" }
    return key
  }

  /// SQL that is null exactly where the record is absent; its table is joined only if its key alone does not tell.
  func presenceKey(in compiler: QueryCompiler) -> String {
    switch source {
    case .table, .key(mayDangle: false): key
    case .key, .holder: "\(joined(in: compiler)).\"_tombolo_id\""
    }
  }

  /// Whether its columns may be null because there is no record.
  var mayBeAbsent: Bool {
    if case .table = source { return false }
    return true
  }

  /// The alias of its table, joined now if it was not.
  func joined(in compiler: QueryCompiler) -> String {
    if let alias { return alias }
    let alias = compiler.makeAlias()
    self.alias = alias
    let table = entity.table.quotedIdentifier
    switch source {
    case .table, .key:
      scope.join("LEFT JOIN \(table) AS \(alias) ON \(alias).\"_tombolo_id\" = \(key)")
    case .holder(let owner, let column):
      // One at most, whatever an unfinished merge left behind.
      let inner = compiler.makeAlias()
      scope.join(
        "LEFT JOIN \(table) AS \(alias) ON \(alias).\"_tombolo_id\" = (SELECT \(inner).\"_tombolo_id\" "
          + "FROM \(table) AS \(inner) WHERE \(inner).\(column.quotedIdentifier) = \(owner) LIMIT 1)")
    }
    return alias
  }
}

/// A row as an expression sees it: perhaps as a subclass, perhaps absent.
struct RowOperand {
  var row: QueryRow
  /// The entity that the expression takes it for.
  var entity: EntityPlan
  var map: KeyPathMap
  var isNullable: Bool
  /// The condition of a cast, never null; nil where the row's own key decides.
  var cast: String?
  /// SQL expressions of which none is null where the row is there.
  var nullWith: [String]

  /// The record that a reference leads to, made once. Behind `as?` it is there only where the cast holds: `guarded` makes
  /// an expression null elsewhere.
  func child(_ name: String, make: (_ guarded: (String) -> String) -> QueryRow) -> QueryRow {
    let step = QueryRow.Step(name: name, cast: cast)
    if let known = row.children[step] { return known }
    let child = make { sql in cast.map { "CASE WHEN \($0) THEN \(sql) END" } ?? sql }
    row.children[step] = child
    return child
  }

  /// Whether another row is absent wherever this one's cast does not hold.
  func leads(to other: RowOperand) -> Bool {
    if other.row === row { return other.cast == cast }
    return row.children.contains { step, child in step.cast == cast && child.leads(to: other.row) }
  }
}

extension QueryRow {
  fileprivate func leads(to other: QueryRow) -> Bool {
    other === self || children.values.contains { $0.leads(to: other) }
  }
}

/// A to-many relationship of one row, perhaps filtered.
struct QueryRelation {
  enum Source {
    case farSide(FarSidePlan)
    case link(LinkPlan)
  }
  let source: Source
  let destination: EntityPlan
  let map: KeyPathMap
  /// SQL for the owner's key.
  let owner: String
  var filters: [(QueryCompiler, QueryOperand) throws -> QueryScalar] = []
}
