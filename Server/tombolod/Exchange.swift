import CTomboloMicroHTTPD
import Foundation
import TomboloServer

/// One request on a connection: its parts as they arrive, then its answer.
final class Exchange: @unchecked Sendable {
  // Guarded by the connection: the library's thread has it until it suspends the connection, the dispatcher until it
  // resumes it.
  let connection: OpaquePointer
  var request: ServiceRequest
  var response: ServiceResponse?
  /// More bytes came than a body may have; what comes after is passed over.
  var isTooLarge = false
  let started: UInt64
  /// Why the request could be understood in more than one way; nil for most.
  let fault: String?

  init(connection: OpaquePointer, method: String, path: String, started: UInt64) {
    self.connection = connection
    self.started = started
    request = ServiceRequest(method: method, path: path)
    let headers = Self.values(of: connection, kind: .HEADER_KIND, lowercased: true)
    let query = Self.values(of: connection, kind: .GET_ARGUMENT_KIND, lowercased: false)
    request.headers = headers.found
    request.query = query.found
    fault =
      RequestDoubt(
        path: path, query: query.found, headers: headers.found, contradicted: headers.contradicted
      ).reason
  }

  private final class Values {
    var found: [String: String] = [:]
    /// Names that came again with another value.
    var contradicted: Set<String> = []
    let lowercased: Bool
    init(lowercased: Bool) { self.lowercased = lowercased }

    func take(_ name: String, _ value: String) {
      let name = lowercased ? name.lowercased() : name
      if let before = found.updateValue(value, forKey: name), before != value { contradicted.insert(name) }
    }
  }

  private static func values(of connection: OpaquePointer, kind: MHD_ValueKind, lowercased: Bool) -> Values {
    let values = Values(lowercased: lowercased)
    MHD_get_connection_values(
      connection, kind,
      { context, _, key, value in
        guard let context, let key else { return .YES }
        let values = Unmanaged<Values>.fromOpaque(context).takeUnretainedValue()
        values.take(String(cString: key), value.map { String(cString: $0) } ?? "")
        return .YES
      }, Unmanaged.passUnretained(values).toOpaque())
    return values
  }

  /// The length that the body says it has.
  var announcedLength: Int? { request.headers["content-length"].flatMap { Int($0) } }

  func append(_ data: UnsafePointer<CChar>, count: Int) {
    request.body.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count))
  }

  /// Queues the response on the connection.
  func respond(_ response: ServiceResponse) -> MHD_Result {
    // The library takes a pointer to mutable bytes and, told to copy, only reads them.
    var body = response.body
    guard let handle = MHD_create_response_from_buffer(body.count, &body, .RESPMEM_MUST_COPY) else { return .NO }
    defer { MHD_destroy_response(handle) }
    for (name, value) in response.headers { MHD_add_response_header(handle, name, value) }
    return MHD_queue_response(connection, UInt32(response.status), handle)
  }
}
