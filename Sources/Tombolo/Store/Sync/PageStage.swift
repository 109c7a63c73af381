import TomboloProtocol
import TomboloSQLite

/// The pages of a pull under way, kept in the store until the last one is there.
struct PageStage {
  let connection: Connection
  private let book: RemoteBook

  init(_ connection: Connection) {
    self.connection = connection
    book = RemoteBook(connection)
  }

  /// Keeps a page and moves the walk behind it.
  /// - Parameter body: the page as it came, in CBOR, where it is at hand.
  /// - Returns: false if the page is of another epoch than the one that the replica knows.
  func take(_ page: Page, body: [UInt8]?) throws -> Bool {
    if let epoch = try book.epoch, epoch != page.cursor.epoch { return false }
    if try book.epoch == nil { try book.set(.epoch, to: page.cursor.epoch.rawValue) }
    let bytes = body ?? page.encoded(as: .cbor)
    try connection.run(
      "INSERT INTO _tombolo_stage(page, body) SELECT coalesce(max(page), 0) + 1, ?1 FROM _tombolo_stage"
    ) { $0.bind(bytes, at: 1) }
    try book.set(.walk, to: .text(page.cursor.text))
    return true
  }

  var count: Int64 {
    get throws { try connection.firstRow("SELECT coalesce(max(page), 0) FROM _tombolo_stage") { $0.int64(0) } ?? 0 }
  }

  /// The pages in order, one at a time.
  func forEach(_ body: (Page) throws -> Void) throws {
    let last = try count
    guard last > 0 else { return }
    for number in 1...last {
      let bytes = try connection.firstRow(
        "SELECT body FROM _tombolo_stage WHERE page = ?1", { $0.bind(number, at: 1) }, { $0.bytes(0) })
      if let bytes { try body(try Page(decoding: bytes, as: .cbor)) }
    }
  }

  func clear() throws {
    try connection.run("DELETE FROM _tombolo_stage")
    try book.set(.walk, to: .null)
  }
}
