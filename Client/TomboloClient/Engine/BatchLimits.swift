/// How much one request may hold: lowered when the server says that it was too much, or the line does not carry it; never
/// raised within a sync.
package struct BatchLimits: Hashable, Sendable {
  package var recordsMax = 5_000
  package var bytesMax = 4 << 20
  /// The encoded body of a push.
  package var bodyBytesMax = 8 << 20
  /// The slice of a change set in one fragment.
  package var pieceBytesMax = 2 << 20
  package var pageItemsMax = 5_000

  /// A fragment smaller than this that is still too large means that nothing will ever pass.
  package static let pieceBytesMin = 1 << 10
  /// More fragments than this are not sent for one change set.
  package static let piecesMax = 1 << 16

  package init() {}

  /// After a push of several change sets was too large.
  mutating func halveBatch(sent bytes: Int) {
    recordsMax = max(1, recordsMax / 2)
    bytesMax = max(1, min(bytesMax, bytes) / 2)
    bodyBytesMax = max(Self.pieceBytesMin, min(bodyBytesMax, bytes) / 2)
    pieceBytesMax = max(Self.pieceBytesMin, min(pieceBytesMax, bodyBytesMax / 2))
  }

  /// After a page did not come through: the next is smaller, down to one save.
  mutating func halvePage() { pageItemsMax = max(1, pageItemsMax / 2) }

  /// After a fragment was too large; false when there is no smaller one.
  mutating func halvePiece() -> Bool {
    guard pieceBytesMax > Self.pieceBytesMin else { return false }
    pieceBytesMax = max(Self.pieceBytesMin, pieceBytesMax / 2)
    return true
  }
}
