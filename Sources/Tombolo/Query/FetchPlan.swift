package import Foundation
package import TomboloProtocol
package import TomboloSQLite

/// A fetch as SQL: where the records come from, which ones, in what order, how many.
///
/// The text depends on the shape of the predicate only, never on captured values, so that prepared statements are used
/// again; values are bound. The fetched record's table has the alias `t0`.
package struct FetchPlan: Sendable {
  /// From `FROM` to the end; the caller puts `SELECT` and its columns of `t0` before it.
  package let tail: String
  /// Values of the parameters `?1`, `?2`, …
  package let arguments: [Value]
  private let isLimited: Bool

  /// - Parameters:
  ///   - limit: nil or 0 for all.
  ///   - offset: nil or 0 for the first.
  ///   - textForms: what is known about the text that columns hold.
  /// - Throws: ``TomboloError`` `unsupported_predicate`, `predicate_too_complex`.
  package init<Model>(
    predicate: Predicate<Model>?, sortBy: [SortDescriptor<Model>] = [], limit: Int? = nil, offset: Int? = nil,
    entity: EntityPlan, schema: StoreSchema, maps: KeyPathMaps, textForms: TextForms = .unknown
  ) throws {
    preconditionFailure("not built yet")
  }

  /// A whole statement that returns these columns (as `t0."title"`).
  package func select(_ columns: String) -> String { "SELECT \(columns) \(tail)" }

  /// A whole statement that returns one integer.
  package var countStatement: String {
    isLimited ? "SELECT count(*) FROM (SELECT 1 \(tail))" : "SELECT count(*) \(tail)"
  }

  /// A whole statement that returns the keys of the records.
  package var identifierStatement: String { select("t0.\"_tombolo_id\"") }

  /// Binds the arguments to a statement that was made of this plan.
  package func bind(to statement: Statement) {
    for (index, value) in arguments.enumerated() { statement.bind(value, at: Int32(index + 1)) }
  }
}

/// Which text columns are known to hold composed text (NFC) only: there, plain SQL comparison is what Swift answers.
package struct TextForms: Sendable {
  private let isComposed: @Sendable (_ table: String, _ column: String) -> Bool

  package init(isComposed: @escaping @Sendable (_ table: String, _ column: String) -> Bool) {
    self.isComposed = isComposed
  }

  /// Nothing is known: every comparison of text goes through a function.
  package static let unknown = TextForms { _, _ in false }
  /// No column ever held anything else.
  package static let composed = TextForms { _, _ in true }

  package func isComposed(table: String, column: String) -> Bool { isComposed(table, column) }
}
