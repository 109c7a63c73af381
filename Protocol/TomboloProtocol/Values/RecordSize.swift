/// How many bytes the values of one record may have, as one save writes them.
package enum RecordSize {
  /// What a server takes that says nothing else.
  package static let usualBytesMax = 1 << 20
  /// No server is configured to take less.
  package static let leastBytesMax = 1 << 10
}

extension Value {
  /// What the value counts against the limit of its record.
  package var byteCount: Int {
    switch self {
    case .null: 1
    case .integer, .real: 8
    case .text(let text): text.utf8.count
    case .blob(let bytes): bytes.count
    }
  }
}
