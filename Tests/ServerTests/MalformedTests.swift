import Synchronization
import TomboloSQLite
import Testing
import TomboloCompression
import TomboloProtocol
import TomboloServer

@Suite("Malformed input")
struct MalformedTests {
  private func push(_ server: ServerFixture, _ body: [UInt8], headers: [String: String] = [:]) -> ServiceResponse {
    server.send("POST", "/v1/stores/library/changes", token: server.writer, headers: headers, body: body)
  }

  private func sample() -> [UInt8] {
    var ada = TestReplica(1)
    let first = ada.save([.create("Book", record(1), ["title": .text("Emma"), "isbn": .text("1")])])
    return ada.push([first]).encoded(as: .cbor)
  }

  @Test("A push cut off at any byte is refused as malformed, and leaves nothing")
  func truncated() throws {
    let server = try ServerFixture()
    let whole = sample()
    for length in whole.indices {
      let response = push(server, Array(whole[..<length]))
      #expect(response.status == 400, "\(length) of \(whole.count) bytes were taken")
    }
    #expect(try server.page(TestReplica(2)).items.isEmpty)
    #expect(push(server, whole).status == 200)
  }

  @Test("A push with any one byte changed never makes the server fail")
  func flipped() throws {
    let server = try ServerFixture()
    let whole = sample()
    for index in whole.indices {
      for flip in [UInt8(1), 0x80, 0xFF] {
        var body = whole
        body[index] ^= flip
        let response = push(server, body)
        #expect(response.status < 500, "byte \(index) xor \(flip) made it fail")
      }
    }
    #expect(server.log.lines.withLock { $0 } == [])
  }

  @Test(
    "A length beyond the input is refused before anything is allocated",
    arguments: [
      [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xBB, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x5B, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x9F], [0xC0], [0xFF],
      Array(repeating: 0x81, count: 5_000),
    ] as [[UInt8]])
  func hugeLengths(body: [UInt8]) throws {
    let server = try ServerFixture()
    let response = push(server, body)
    #expect(response.status == 400)
    #expect(try response.error().code == .malformedMessage)
  }

  @Test("Bytes that are no whole Zstandard frame are malformed")
  func badCompression() throws {
    let server = try ServerFixture()
    let compressed = try Zstd.compress(sample())
    for body in [Array("no frame".utf8), Array(compressed.dropLast()), compressed + [0], []] {
      let response = push(server, body, headers: ["content-encoding": "zstd"])
      #expect(response.status == 400)
      #expect(try response.error().code == .malformedMessage)
    }
    #expect(push(server, compressed, headers: ["content-encoding": "zstd"]).status == 200)
  }

  @Test("A body that grows beyond the limit when it is decompressed is refused, as a plain one is")
  func bomb() throws {
    var limits = ServiceLimits()
    limits.requestBytesMax = 10_000
    let server = try ServerFixture(limits: limits)
    let large = [UInt8](repeating: 0, count: 10_001)
    for (body, headers) in [(try Zstd.compress(large), ["content-encoding": "zstd"]), (large, [:])] {
      let response = push(server, body, headers: headers)
      #expect(response.status == 413)
      let error = try response.error()
      #expect(error.code == .requestTooLarge)
      #expect(error.details.first?.text == "10000")
    }
  }

  @Test(
    "A type or a compression that the server does not read is named",
    arguments: [
      ["content-type": "text/plain"], ["content-type": "application/xml"], ["content-encoding": "gzip"],
      ["content-encoding": "zstd, gzip"],
    ])
  func mediaTypes(headers: [String: String]) throws {
    let server = try ServerFixture()
    let response = push(server, sample(), headers: headers)
    #expect(response.status == 415)
    #expect(try response.error().code == .unsupportedMediaType)
  }

  @Test(
    "JSON that is none, or of another kind, is malformed",
    arguments: ["", "{", "[1,2]", "{}", "null", "\"x\"", #"{"kind":"page"}"#])
  func badJSON(text: String) throws {
    let server = try ServerFixture()
    let response = push(server, Array(text.utf8), headers: ["content-type": "application/json"])
    #expect(response.status == 400)
    let codes: [ErrorCode] = [.malformedMessage, .unknownMessageKind]
    #expect(codes.contains(try response.error().code))
  }

  @Test("A pull without an introduction names the header that is missing")
  func noIntroduction() throws {
    let server = try ServerFixture()
    for name in TestReplica(1).introduction.headers.keys {
      var headers = TestReplica(1).introduction.headers
      headers[name] = nil
      let response = server.send("GET", "/v1/stores/library/changes", token: server.reader, headers: headers)
      #expect(response.status == 400)
      #expect(try response.error().message.contains(name))
    }
  }

  @Test(
    "A query that makes no sense is malformed",
    arguments: [["since": "%%%"], ["since": "AAAA"], ["limit": "many"], ["limit": "-1"], ["wait": "x"]])
  func badQueries(query: [String: String]) throws {
    let server = try ServerFixture()
    let response = server.send(
      "GET", "/v1/stores/library/changes", token: server.reader, query: query,
      headers: TestReplica(1).introduction.headers)
    #expect(response.status == 400)
    #expect(try response.error().code == .malformedMessage)
  }

  @Test("A fault of the storage is told as internal, with a request id and nothing else")
  func internalFault() throws {
    let server = try ServerFixture()
    server.disk.failAfter(operations: 1)
    let response = push(server, sample())
    #expect(response.status == 500)
    let error = try response.error()
    #expect(error.code == .internalFault)
    #expect(error.isRetryable)
    #expect(!error.description.lowercased().contains("sql"))
    let id = try #require(response.headers["tombolo-request-id"])
    #expect(error.message.contains(id))
    #expect(server.log.lines.withLock { $0.contains { $0.contains(id) } })
    try server.powerCut(.synced)
  }
}
