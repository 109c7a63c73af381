import Testing
import TomboloProtocol
import TomboloServer

@Suite("Routes")
struct RouteTests {
  @Test(
    "What is public needs no token",
    arguments: [
      ("/", "text/html; charset=utf-8", "tombolod"), ("/v1", "application/json", "\"protocol\":1"),
      ("/v1/health", "application/json", "\"status\":\"ok\""),
      ("/metrics", "text/plain; version=0.0.4", "tombolo_change_sets_total"),
    ])
  func publicPaths(path: String, type: String, content: String) throws {
    let server = try ServerFixture()
    let response = server.send("GET", path, token: nil)
    #expect(response.status == 200)
    #expect(response.headers["content-type"] == type)
    #expect(response.text.contains(content))
  }

  @Test(
    "A path that names nothing is not found",
    arguments: ["/x", "/v2", "/v1/x", "/v1/stores", "/v1/stores/library/x", "/v1/stores/library/changes/x/y"])
  func unknownPaths(path: String) throws {
    let server = try ServerFixture()
    let response = server.send("GET", path, token: server.owner)
    #expect(response.status == 404)
    #expect(try response.error().code == .notFound)
  }

  @Test(
    "A method that a path does not take is named with those that it takes",
    arguments: [
      ("POST", "/v1/health"), ("DELETE", "/v1/stores/library"), ("PUT", "/v1/stores/library/changes"),
      ("GET", "/v1/stores/library/changes/known"), ("POST", "/v1/stores/library/schemas/1.0.0"),
      ("PATCH", "/v1/stores/library/tokens"),
    ])
  func methods(method: String, path: String) throws {
    let server = try ServerFixture()
    let response = server.send(method, path, token: server.owner)
    #expect(response.status == 405)
    let error = try response.error()
    #expect(error.code == .methodNotAllowed)
    #expect(!error.remedy.isEmpty)
  }

  @Test("Every response, failures too, has its own request id and the server's time")
  func requestIDs() throws {
    let server = try ServerFixture()
    let responses = [
      server.send("GET", "/v1/health", token: nil), server.send("GET", "/nothing", token: nil),
      server.send("GET", "/v1/stores/library", token: nil),
      server.send("GET", "/v1/stores/library", token: server.reader),
    ]
    let ids = responses.compactMap { $0.headers["tombolo-request-id"] }
    #expect(Set(ids).count == responses.count)
    #expect(responses.allSatisfy { $0.headers["tombolo-time"] == String(server.clock.milliseconds()) })
  }

  @Test("An error is JSON for a person and CBOR for who asks for it")
  func errorFormats() throws {
    let server = try ServerFixture()
    let person = server.send("GET", "/x", token: nil, headers: ["accept": "*/*"])
    #expect(person.headers["content-type"] == "application/json")
    #expect(person.text.contains("\"not_found\""))
    let program = server.send("GET", "/x", token: nil)
    #expect(program.headers["content-type"] == "application/cbor")
  }

  @Test("An owner creates the store once; a second time finds it, and others may not")
  func createStore() throws {
    let server = try ServerFixture(schema: nil)
    #expect(server.send("GET", "/v1/stores/library", token: server.owner).status == 404)
    #expect(server.send("PUT", "/v1/stores/library", token: server.writer).status == 403)
    let first = server.send("PUT", "/v1/stores/library", token: server.owner)
    #expect(first.status == 201)
    let second = server.send("PUT", "/v1/stores/library", token: server.owner)
    #expect(second.status == 200)
    #expect(first.body == second.body)
    #expect(first.text.contains("\"epoch\":\""))
  }

  @Test("A store keeps its epoch over a restart, and two stores have two")
  func epochs() throws {
    let server = try ServerFixture()
    let before = server.send("GET", "/v1/stores/library", token: server.reader).text
    try server.reopen()
    #expect(server.send("GET", "/v1/stores/library", token: server.reader).text == before)
    let other = try server.service.createToken(store: "other", role: .owner)
    #expect(server.send("PUT", "/v1/stores/other", token: other).text.contains("\"epoch\""))
    #expect(server.send("GET", "/v1/stores/other", token: other).text != before)
  }

  @Test("The number of stores is limited, and the error names the limit")
  func storesMax() throws {
    var limits = ServiceLimits()
    limits.storesMax = 1
    let server = try ServerFixture(limits: limits)
    let other = try server.service.createToken(store: "other", role: .owner)
    let response = server.send("PUT", "/v1/stores/other", token: other)
    let error = try response.error()
    #expect(error.code == .limitExceeded)
    #expect(error.message.contains("1"))
  }

  @Test("A large answer is compressed for who takes it, a small one never")
  func compression() throws {
    let server = try ServerFixture()
    let path = "/v1/stores/library/schemas/latest"
    let plain = server.send("GET", path, token: server.reader)
    let small = server.send("GET", path, token: server.reader, headers: ["accept-encoding": "gzip, zstd"])
    #expect(plain.headers["content-encoding"] == nil)
    #expect(small.headers["content-encoding"] == "zstd")
    #expect(small.body.count < plain.body.count)
    let health = server.send("GET", "/v1/health", token: nil, headers: ["accept-encoding": "zstd"])
    #expect(health.headers["content-encoding"] == nil)
  }
}
