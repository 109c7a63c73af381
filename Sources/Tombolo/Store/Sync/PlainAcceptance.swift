import TomboloProtocol
import TomboloSQLite

/// The usual answer: every save was taken whole. Then no row changes, and no save's changes have to be read.
struct PlainAcceptance {
  private let connection: Connection
  private let book: RemoteBook
  private let wall: UInt64

  init(_ connection: Connection, wall: UInt64) {
    self.connection = connection
    book = RemoteBook(connection)
    self.wall = wall
  }

  /// - Returns: how many saves it settled; nil, with nothing written, for any other answer.
  func take(_ response: PushResponse) throws -> Int? {
    guard try book.epoch == response.epoch, !response.answers.isEmpty,
      response.answers.allSatisfy({ $0.verdict == .accepted(fell: []) })
    else { return nil }
    let offset = try book.numberOffset
    var clocks: [(number: Int64, clock: UInt64)] = []
    for answer in response.answers {
      let number = Int64(clamping: answer.number.rawValue) + offset
      // A save that is hidden, answered before or another one is the long way's business.
      let clock = try connection.firstRow(
        "SELECT clock FROM _tombolo_save WHERE number = ?1 AND id = ?2 AND state = 1 AND verdict IS NULL",
        {
          $0.bind(number, at: 1)
          $0.bind(answer.save.bytes, at: 2)
        }, { UInt64(bitPattern: $0.int64(0)) })
      guard let clock else { return nil }
      clocks.append((number, clock))
    }
    for (number, clock) in clocks {
      try connection.run("UPDATE _tombolo_save SET state = 2 WHERE number = ?1") { $0.bind(number, at: 1) }
      try book.note(ClockReading(rawValue: clock))
    }
    if response.serverTime > 0 {
      let offset = Int64(clamping: response.serverTime) - Int64(clamping: wall)
      try StoreMeta(connection).set(.clockOffset, to: .integer(offset))
    }
    try book.set(.lastPush, to: wall)
    return clocks.count
  }
}
