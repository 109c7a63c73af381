import TomboloProtocol
import TomboloSQLite

/// Text that another program wrote in bytes that are not UTF-8: the shell takes what its input has, often ISO 8859-1.
///
/// Read as UTF-8 such bytes become question marks, and texts that differ become equal. As ISO 8859-1 each byte is a
/// character, so that nothing is lost and different texts stay different; the log of incidents names the record.
struct ShellText {
  let connection: Connection

  /// Writes a record's texts anew where they are not UTF-8.
  ///
  /// - Returns: whether there was one.
  func mend(_ id: RecordID, of entity: EntityPlan) throws -> Bool {
    let columns = entity.columns.filter { $0.storageType == "TEXT" }
    if columns.isEmpty { return false }
    let names = columns.map { $0.column.quotedIdentifier }.joined(separator: ", ")
    let table = entity.table.quotedIdentifier
    var texts: [(column: ColumnPlan, text: String)] = []
    try connection.eachRow("SELECT \(names) FROM \(table) WHERE _tombolo_id = ?1", { $0.bind(id, at: 1) }) { row in
      for (index, column) in columns.enumerated() where row.storageClass(Int32(index)) == .text {
        row.withBytes(Int32(index)) { bytes in
          guard String(validating: bytes, as: UTF8.self) == nil else { return }
          texts.append((column, String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))))
        }
      }
    }
    for (column, text) in texts {
      try connection.run("UPDATE \(table) SET \(column.column.quotedIdentifier) = ?2 WHERE _tombolo_id = ?1") {
        $0.bind(id, at: 1)
        $0.bind(text, at: 2)
      }
    }
    return !texts.isEmpty
  }
}
