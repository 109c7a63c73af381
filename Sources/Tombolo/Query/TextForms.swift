package import TomboloSQLite

/// Which text columns are known to hold composed text (NFC) only: there, plain SQL comparison is what Swift answers,
/// and can use an index.
package struct TextForms {
  private let isComposed: (_ table: String, _ column: String) -> Bool

  package init(isComposed: @escaping (_ table: String, _ column: String) -> Bool) { self.isComposed = isComposed }

  /// Nothing is known: every comparison of text goes through a function.
  package static var unknown: TextForms { TextForms { _, _ in false } }
  /// No column ever held anything else.
  package static var composed: TextForms { TextForms { _, _ in true } }

  /// What the store has noted, read when the first text column is met. The plan has to run in the same transaction.
  package init(of schema: StoreSchema, on connection: Connection) {
    var uncomposed: Set<[String]>?
    var isUnknown = false
    isComposed = { table, column in
      if uncomposed == nil, !isUnknown {
        do { uncomposed = try schema.uncomposedColumns(connection) } catch { isUnknown = true }
      }
      return uncomposed.map { !$0.contains([table, column]) } ?? false
    }
  }

  /// The same, telling `note` of each column that is asked about, and of the answer.
  func noting(_ note: @escaping (FetchPlanCache.TextColumn) -> Void) -> TextForms {
    TextForms { table, column in
      let answer = isComposed(table, column)
      note(FetchPlanCache.TextColumn(table: table, column: column, isComposed: answer))
      return answer
    }
  }

  func isComposed(table: String, column: String) -> Bool { isComposed(table, column) }
}
