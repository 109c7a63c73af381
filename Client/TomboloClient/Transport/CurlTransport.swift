import TomboloProtocol
import CTomboloCurl
import Synchronization
import TomboloCompression

/// HTTP over libcurl: one connection, kept open between exchanges.
///
/// The easy handle runs inside a multi handle, because only that can be woken from another thread
/// (https://curl.se/libcurl/c/curl_multi_wakeup.html): a long poll is ended at once when there is something to push.
package final class CurlTransport: Transport, @unchecked Sendable {
  // `exchange` is held throughout an exchange and guards both handles; only the wake-up, which libcurl allows from
  // any thread, is called without it.

  package struct Options: Sendable {
    package var connectMilliseconds = 10_000
    /// From the start to the end of an exchange, the wait of a long poll not counted.
    package var totalMilliseconds = 120_000
    /// Bytes of an answer, decompressed.
    package var answerBytesMax = 64 << 20
    /// Bodies below this are sent as they are.
    package var compressionBytesMin = 1_024
    package var userAgent = "tombolo"
    package init() {}
  }

  private let options: Options
  private let easy: UnsafeMutableRawPointer?
  private let multi: UnsafeMutableRawPointer?
  private let exchange = Guarded(())
  private let isInterrupted = Atomic(false)

  private static let isPrepared: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  package init(options: Options = Options()) {
    self.options = options
    guard Self.isPrepared else {
      easy = nil
      multi = nil
      return
    }
    easy = curl_easy_init()
    multi = curl_multi_init()
  }

  deinit {
    if let easy { curl_easy_cleanup(easy) }
    if let multi { curl_multi_cleanup(multi) }
  }

  package func interrupt() {
    isInterrupted.store(true, ordering: .releasing)
    if let multi { curl_multi_wakeup(multi) }
  }

  package func clearInterruption() { isInterrupted.store(false, ordering: .releasing) }

  package func perform(_ request: TransportRequest) throws -> TransportResponse {
    try exchange.withLock { _ in
      guard let easy, let multi else { throw TransportFailure(.impossible, reason: "libcurl could not be started") }
      return try perform(request, easy: easy, multi: multi)
    }
  }

  private func perform(
    _ request: TransportRequest, easy: UnsafeMutableRawPointer, multi: UnsafeMutableRawPointer
  ) throws -> TransportResponse {
    var request = request
    compress(&request)
    let answer = Answer(bytesMax: options.answerBytesMax)
    let headers = headerList(request)
    defer { curl_slist_free_all(headers) }
    // Keeps the connection and the session, drops every option of the exchange before.
    curl_easy_reset(easy)
    configure(easy, for: request, headers: headers)
    return try withExtendedLifetime(answer) {
      let context = Unmanaged.passUnretained(answer).toOpaque()
      tombolo_curl_set_receiver(easy, CURLOPT_WRITEFUNCTION, receiveBody)
      tombolo_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
      tombolo_curl_set_receiver(easy, CURLOPT_HEADERFUNCTION, receiveHeader)
      tombolo_curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
      // libcurl reads the body where it lies, so it must lie still until the exchange is over.
      return try request.body.withUnsafeBytes { body in
        if request.method == "POST" || request.method == "PUT" {
          tombolo_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
          var empty: UInt8 = 0
          withUnsafeMutablePointer(to: &empty) { nothing in
            let start = body.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
            // An empty body has no address, and none would make libcurl ask a callback for one.
            if start == nil { tombolo_curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, nothing) }
            if let start { tombolo_curl_set_pointer(easy, CURLOPT_POSTFIELDS, start) }
          }
        }
        let code = try run(easy, in: multi)
        return try result(code, answer: answer, easy: easy)
      }
    }
  }

  // MARK: Setting up

  private func configure(
    _ easy: UnsafeMutableRawPointer, for request: TransportRequest, headers: UnsafeMutablePointer<curl_slist>?
  ) {
    tombolo_curl_set_text(easy, CURLOPT_URL, request.url)
    tombolo_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    tombolo_curl_set_text(easy, CURLOPT_USERAGENT, options.userAgent)
    // Every encoding that libcurl was built with; it decodes them itself.
    tombolo_curl_set_text(easy, CURLOPT_ACCEPT_ENCODING, "")
    // A redirection would carry the token to another host.
    tombolo_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
    tombolo_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    tombolo_curl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
    tombolo_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, options.connectMilliseconds)
    tombolo_curl_set_long(easy, CURLOPT_TIMEOUT_MS, options.totalMilliseconds + request.waitSeconds * 1_000)
    switch request.method {
    case "GET": tombolo_curl_set_long(easy, CURLOPT_HTTPGET, 1)
    case "HEAD": tombolo_curl_set_long(easy, CURLOPT_NOBODY, 1)
    case "POST": tombolo_curl_set_long(easy, CURLOPT_POST, 1)
    case "PUT":
      tombolo_curl_set_long(easy, CURLOPT_POST, 1)
      tombolo_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, "PUT")
    default: tombolo_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method)
    }
    tombolo_curl_set_list(easy, headers)
  }

  private func headerList(_ request: TransportRequest) -> UnsafeMutablePointer<curl_slist>? {
    // libcurl would wait a second for "100 Continue" before it sends a large body.
    var list = curl_slist_append(nil, "Expect:")
    if request.headers["content-type"] == nil { list = curl_slist_append(list, "Content-Type:") }
    for (name, value) in request.headers.sorted(by: { $0.key < $1.key }) {
      list = curl_slist_append(list, "\(name): \(value)")
    }
    return list
  }

  private func compress(_ request: inout TransportRequest) {
    guard request.body.count >= options.compressionBytesMin, request.headers["content-encoding"] == nil else { return }
    guard let smaller = try? Zstd.compress(request.body), smaller.count < request.body.count * 9 / 10 else { return }
    request.body = smaller
    request.headers["content-encoding"] = "zstd"
  }

  // MARK: Running

  private func run(_ easy: UnsafeMutableRawPointer, in multi: UnsafeMutableRawPointer) throws -> CURLcode {
    guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
      throw TransportFailure(.impossible, reason: "libcurl did not take the request")
    }
    defer { curl_multi_remove_handle(multi, easy) }
    var running: Int32 = 1
    while true {
      // An interruption counts once, for this exchange or for the next one.
      if isInterrupted.exchange(false, ordering: .acquiringAndReleasing) {
        throw TransportFailure(.interrupted, reason: "the exchange was stopped")
      }
      guard curl_multi_perform(multi, &running) == CURLM_OK else {
        throw TransportFailure(.lost, reason: "libcurl failed")
      }
      if running == 0 { break }
      curl_multi_poll(multi, nil, 0, 1_000, nil)
    }
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      if message.pointee.msg == CURLMSG_DONE { return message.pointee.data.result }
    }
    throw TransportFailure(.lost, reason: "libcurl lost the request")
  }

  private func result(_ code: CURLcode, answer: Answer, easy: UnsafeMutableRawPointer) throws -> TransportResponse {
    if answer.isTooLarge { throw TransportFailure(.answerTooLarge, reason: "the answer is too large") }
    guard code == CURLE_OK else {
      throw TransportFailure(Self.kind(of: code), reason: String(cString: curl_easy_strerror(code)).lowercased())
    }
    var status = 0
    tombolo_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
    return TransportResponse(status: status, headers: answer.headers, body: answer.body)
  }

  private static func kind(of code: CURLcode) -> TransportFailure.Kind {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT: .unreachable
    case CURLE_OPERATION_TIMEDOUT: .timedOut
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      .insecure
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: .impossible
    default: .lost
    }
  }
}

/// What has arrived of an answer; filled by libcurl's callbacks on the thread that performs.
private final class Answer {
  private let bytesMax: Int
  private(set) var headers: [String: String] = [:]
  private(set) var body: [UInt8] = []
  private(set) var isTooLarge = false
  private var headerBytes = 0
  private static let headerBytesMax = 64 << 10

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// False ends the exchange.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard body.count + bytes.count <= bytesMax else {
      isTooLarge = true
      return false
    }
    body.append(contentsOf: bytes)
    return true
  }

  func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
    headerBytes += bytes.count
    guard headerBytes <= Self.headerBytesMax else {
      isTooLarge = true
      return false
    }
    let line = String(decoding: bytes, as: UTF8.self)
    // A status line begins a new block: the one before was a "100 Continue".
    if line.hasPrefix("HTTP/") {
      headers = [:]
      return true
    }
    guard let colon = line.utf8.firstIndex(of: 0x3A) else { return true }
    let name = line[..<colon].lowercased()
    let value = line[line.utf8.index(after: colon)...].filter { $0 != "\r\n" && $0 != "\n" && $0 != "\r" }
    headers[name] = String(value.drop { $0 == " " || $0 == "\t" })
    return true
  }
}

private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context else { return 0 }
  let answer = Unmanaged<Answer>.fromOpaque(context).takeUnretainedValue()
  return answer.append(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

private func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context else { return 0 }
  let answer = Unmanaged<Answer>.fromOpaque(context).takeUnretainedValue()
  return answer.takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}
