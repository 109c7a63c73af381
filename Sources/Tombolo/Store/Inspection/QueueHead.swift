package import TomboloProtocol
import TomboloSQLite

extension Store {
  /// The first save that no answer has settled, by the number that the server knows it by; nil where none waits.
  package func firstUnsent() throws -> SaveNumber? {
    try read { connection in
      let offset = try RemoteBook(connection).numberOffset
      let first = try connection.firstRow(
        "SELECT min(number) FROM _tombolo_save WHERE state = 1 AND \(Outbox.hasChanges)"
      ) { $0.isNull(0) ? nil : $0.int64(0) }
      return (first ?? nil).map { SaveNumber(UInt64(max(0, $0 - offset))) }
    }
  }
}
