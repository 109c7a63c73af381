import TomboloProtocol

extension Service {
  private static let recordsMax = 1_000

  /// `POST …/records` with `{"records":["0197…"]}`: the whole state of single records, as a page.
  ///
  /// A record that the server does not know is not in the answer.
  func recordStates(_ request: ServiceRequest, token: TokenRecord) throws -> ResponseBody {
    struct Wish: Decodable {
      var records: [String]
    }
    let wish = try JSONBody.decode(Wish.self, from: request.body)
    guard wish.records.count <= Self.recordsMax else {
      throw TomboloError.limitExceeded("records a request", limit: Self.recordsMax)
    }
    let ids = try wish.records.map { text in
      guard let id = RecordID(text) else { throw TomboloError.malformed("a record's id is no UUID") }
      return id
    }
    let file = try store(of: token)
    var items: [FeedItem] = []
    if let schema = file.registry.merged {
      for id in ids {
        guard let record = try file.record(id) else { continue }
        items.append(try MergeEngine.item(for: record, since: .start, reader: file, schema: schema))
      }
    }
    let state = file.state
    let cursor = Cursor(
      epoch: state.epoch, base: .start, position: state.position, start: state.position, commit: state.commit)
    return .message(
      Page(
        cursor: cursor, items: items, hasMore: false, processed: .none, answers: [], vector: [:],
        checksum: state.checksum, serverTime: max(state.now, options.clock.milliseconds())), for: request)
  }
}
