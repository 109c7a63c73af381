package import TomboloProtocol
package import TomboloSQLite

/// Where the writer takes a record's values from: a model object, or a dictionary of the command line.
package protocol RowSource {
  /// Binds the columns of the set, in ascending position, to consecutive parameters from `first`.
  func bind(_ columns: ColumnSet, to statement: Statement, from first: Int32) throws
  /// One column's value, as storage has it.
  func value(of column: ColumnPlan) throws -> Value
}

/// The one write path: delete rules, uniqueness and recording, driven by the schema document.
/// `ModelContext.save` and the command line use it; it is valid only inside ``Store/save(author:_:)``.
package final class StoreWriter {
  init() {}

  /// Inserts a record. `assigned` has the columns whose value somebody chose (decisions.md, "Unassigned"):
  /// the others carry the zero stamp.
  ///
  /// A unique key that matches a stored record, or one of this save, is settled at the end of the save (upsert): see
  /// ``SaveOutcome/merged``.
  package func insert(_ entity: EntityPlan, _ id: RecordID, assigned: ColumnSet, from source: some RowSource) throws {
    preconditionFailure("not built yet")
  }

  /// Writes the columns of `changed`; a column whose stored value is equal already is no change.
  /// - Returns: false if there is no such record.
  @discardableResult
  package func update(_ entity: EntityPlan, _ id: RecordID, changed: ColumnSet, from source: some RowSource) throws -> Bool {
    preconditionFailure("not built yet")
  }

  /// Deletes a record and applies the delete rules, each consequence recorded.
  /// - Throws: `delete_denied` naming the relationship; `required_reference` where nullify meets a required reference.
  @discardableResult
  package func delete(_ entity: EntityPlan, _ id: RecordID) throws -> Bool {
    preconditionFailure("not built yet")
  }

  package func link(_ plan: LinkPlan, _ own: RecordID, _ other: RecordID) throws { preconditionFailure("not built yet") }
  package func unlink(_ plan: LinkPlan, _ own: RecordID, _ other: RecordID) throws { preconditionFailure("not built yet") }

  /// The writer's connection, for reads that must see this transaction.
  package var connection: Connection { preconditionFailure("not built yet") }
}
