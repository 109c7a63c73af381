import TomboloSQLite

/// Which of the rarer tables may have rows: a merge asks of each record what most stores never had.
///
/// A table that was written to counts as having rows until the file is opened again, also where the transaction was undone:
/// then a question is asked in vain, and its answer is right all the same.
struct StorePresence {
  var references: Bool
  var aliases: Bool
  var refusedRecords: Bool
  var refusedWrites: Bool

  init(_ connection: Connection) throws {
    func hasRow(_ source: String) throws -> Bool {
      let query = try connection.cached("SELECT 1 FROM \(source) LIMIT 1")
      defer { query.reset() }
      return try query.step()
    }
    references = try hasRow("reference")
    aliases = try hasRow("record WHERE survivor IS NOT NULL")
    refusedRecords = try hasRow("refused_record")
    refusedWrites = try hasRow("refused_write")
  }
}
