import TomboloProtocol

/// One request and its answer, outside of a sync, without retries.
package enum SingleExchange {
  /// - Throws: ``TomboloError``: the server's own, or one for the failure.
  package static func body(of request: TransportRequest, on transport: any Transport) throws -> [UInt8] {
    let response: TransportResponse
    do {
      response = try transport.perform(request)
    } catch let failure as TransportFailure {
      throw SyncFailure.transport(failure, at: request.server)
    }
    guard (200...299).contains(response.status) else { throw SyncFailure.error(in: response) }
    guard response.headers["content-type"].flatMap({ WireFormat(mediaType: $0) }) != nil else {
      throw SyncFailure.notTombolo
    }
    return response.body
  }
}
