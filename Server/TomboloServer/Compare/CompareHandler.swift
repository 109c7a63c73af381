import TomboloProtocol

extension Service {
  /// `POST …/checksum`: the sums of all buckets, or of the records in some.
  func compare(_ request: ServiceRequest, token: TokenRecord) throws -> ResponseBody {
    let (file, comparison) = try comparison(request, token: token)
    guard !comparison.buckets.isEmpty else {
      return .message(ComparisonResponse(position: file.position, sums: try file.buckets.sums()), for: request)
    }
    return .message(try file.compare(comparison.buckets, at: comparison.cursor), for: request)
  }

  /// `POST …/checksum/records`: the whole state of records with their pairs, as they were at the cursor.
  ///
  /// A record that has changed since, or that the server does not know, is not in the answer.
  func compareRecords(_ request: ServiceRequest, token: TokenRecord) throws -> ResponseBody {
    let (file, comparison) = try comparison(request, token: token)
    let items = try file.states(of: comparison.records, at: comparison.cursor)
    return .message(
      Page(
        cursor: comparison.cursor, items: items, hasMore: false, processed: .none, answers: [], vector: [:],
        checksum: nil, serverTime: max(file.state.now, options.clock.milliseconds())), for: request)
  }

  private func comparison(_ request: ServiceRequest, token: TokenRecord) throws -> (StoreFile, ComparisonRequest) {
    let comparison = try ComparisonRequest(decoding: request.body, as: try WireFormat(ofBodyIn: request))
    guard comparison.buckets.count <= ComparisonRequest.bucketsMax else {
      throw TomboloError.limitExceeded("buckets a comparison", limit: ComparisonRequest.bucketsMax)
    }
    guard comparison.records.count <= ComparisonRequest.recordsMax else {
      throw TomboloError.limitExceeded("records a comparison", limit: ComparisonRequest.recordsMax)
    }
    let file = try store(of: token)
    try file.check(comparison.cursor)
    return (file, comparison)
  }
}
