import Foundation
package import TomboloProtocol
package import TomboloSQLite

/// A fetch as SQL: where the records come from, which ones, in what order, how many.
///
/// The text depends on the shape of the predicate only, not on captured values (but for nil, Booleans and the length of
/// short lists), so that prepared statements are used again; values are bound. The fetched record's table has the
/// alias `t0`. ``RecordOrder`` documents the order.
package struct FetchPlan: Sendable {
  /// From `FROM` to the end; the caller puts `SELECT` and its columns of `t0` before it.
  package let tail: String
  /// Values of the parameters `?1`, `?2`, …
  package let arguments: [Value]
  /// The same records without an order.
  private let unorderedTail: String
  private let isLimited: Bool

  /// - Parameters:
  ///   - limit: nil or 0 for all.
  ///   - offset: nil or 0 for the first.
  ///   - textForms: what is known about the text that columns hold.
  /// - Throws: ``TomboloError`` `unsupported_predicate`, `unsupported_sort`, `limit_exceeded`.
  package init<Model>(
    predicate: Predicate<Model>?, sortBy: [SortDescriptor<Model>] = [], limit: Int? = nil, offset: Int? = nil,
    entity: EntityPlan, schema: StoreSchema, maps: KeyPathMaps, textForms: TextForms = .unknown
  ) throws {
    let compiler = QueryCompiler(schema: schema, maps: maps, textForms: textForms)
    let map = try compiler.plan(of: entity.name).1
    let alias = compiler.makeAlias()
    let key = "\(alias).\"_tombolo_id\""
    let scope = QueryScope(base: "\(entity.table.quotedIdentifier) AS \(alias)")
    let base = RowOperand(
      row: QueryRow(entity: entity, scope: scope, key: key, source: .table(alias: alias)), entity: entity, map: map,
      isNullable: false, cast: nil, nullWith: [key])
    var conditions: [QueryScalar] = []
    if entity.hasEntityColumn, entity.lineage.count > 1 {
      conditions.append(
        .condition(QueryCompiler.entityCondition(entity, alias: alias, isNullable: false), .equality))
    }
    if let predicate {
      compiler.define(predicate.variable.key, as: .row(base))
      compiler.isDemanded = true
      conditions.append(try compiler.condition(predicate.expression, toleratesNull: true))
      compiler.isDemanded = false
    }
    let condition = QueryCompiler.joined(conditions, isConjunction: true)
    if condition.sql != "1" { scope.conditions.append(condition.sql) }
    if !condition.mayFail, let found = Self.treeCondition(entity, alias: alias, schema: schema, compiler.bounds) {
      scope.conditions.append(found)
    }
    var unordered = scope.clause
    let terms = try sortBy.map { descriptor in
      guard let path = descriptor.keyPath else {
        throw QueryFailure.unsupportedSort("a descriptor without a key path", instead: "Sort by a stored attribute.")
      }
      let steps = try maps.sortPaths.parts(of: path, in: entity.name) {
        try SortPath(path, entity: entity, map: map, in: compiler)
      }
      return try compiler.orderTerm(steps, of: base, isReversed: descriptor.order == .reverse)
    }
    var ordered = scope.clause + " ORDER BY " + (terms + [key]).joined(separator: ", ")
    let limit = limit.flatMap { $0 > 0 ? $0 : nil }
    let offset = offset.flatMap { $0 > 0 ? $0 : nil }
    if limit != nil || offset != nil {
      var page = " LIMIT \(try compiler.bind(.integer(Int64(limit ?? -1))))"
      if let offset { page += " OFFSET \(try compiler.bind(.integer(Int64(offset))))" }
      unordered += page
      ordered += page
    }
    tail = ordered
    unorderedTail = unordered
    isLimited = limit != nil || offset != nil
    arguments = compiler.arguments
  }

  /// Where the predicate asks for ranges of what an `.rtree` index holds, a condition that the tree answers. SQLite decides
  /// whether it begins there.
  private static func treeCondition(
    _ entity: EntityPlan, alias: String, schema: StoreSchema, _ bounds: [String: (lower: [String], upper: [String])]
  ) -> String? {
    if bounds.isEmpty { return nil }
    for tree in entity.lineage.compactMap({ schema.entity($0) }).flatMap(\.trees) {
      var known: [String: (lower: [String], upper: [String])] = [:]
      for column in tree.columns { known[column.column] = bounds[column.value(in: alias)] }
      // One open end is half of all records: a scan is no worse.
      guard known.values.reduce(0, { $0 + $1.lower.count + $1.upper.count }) > 1 else { continue }
      if let condition = tree.condition(key: "\(alias).\"_tombolo_id\"", bounds: known) { return condition }
    }
    return nil
  }

  /// A whole statement that returns these columns (as `t0."title"`).
  package func select(_ columns: String) -> String { "SELECT \(columns) \(tail)" }

  /// A whole statement that returns one integer.
  package var countStatement: String {
    isLimited ? "SELECT count(*) FROM (SELECT 1 \(unorderedTail))" : "SELECT count(*) \(unorderedTail)"
  }

  /// A whole statement that returns the keys of the records.
  package var identifierStatement: String { select("t0.\"_tombolo_id\"") }

  /// A statement of the connection's cache, with this plan's values bound; for SQL that was made of the plan.
  /// - Throws: ``TomboloError`` `limit_exceeded` where SQLite cannot nest the predicate so deeply.
  package func statement(_ sql: String, on connection: Connection) throws -> Statement {
    do {
      let statement = try connection.cached(sql)
      bind(to: statement)
      return statement
    } catch {
      throw QueryFailure.translated(error)
    }
  }

  /// Runs work that steps through a statement of this plan, with SQLite's errors in our words: `predicate_failed`.
  package static func translatingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch { throw QueryFailure.translated(error) }
  }

  /// Binds the arguments to a statement that was made of this plan.
  package func bind(to statement: Statement) {
    for (index, value) in arguments.enumerated() { statement.bind(value, at: Int32(index + 1)) }
  }
}
