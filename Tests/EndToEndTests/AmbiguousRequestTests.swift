import Foundation
import Testing

@Suite("Requests that can be understood in two ways", .serialized, .timeLimit(.minutes(2)))
struct AmbiguousRequestTests {
  /// A request line and headers, and what must come back. `TOKEN` and `OTHER` stand for two tokens of the store.
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var head: String
    var body = ""
    var status = "400"
    var testDescription: String { name }
  }

  static let auth = "Authorization: Bearer TOKEN\r\n"
  static let host = "Host: localhost\r\n"

  static let cases = [
    Case(name: "an ordinary one", head: "GET /v1/stores/library HTTP/1.1\r\n\(host)\(auth)", status: "200"),
    Case(
      name: "the same header twice with one value", head: "GET /v1/stores/library HTTP/1.1\r\n\(host)\(auth)\(auth)",
      status: "200"),
    Case(
      name: "an escaped zero byte in the path", head: "GET /v1/stores/library%00/changes HTTP/1.1\r\n\(host)\(auth)"),
    Case(name: "an escaped zero byte at the end", head: "GET /v1/stores/library%00 HTTP/1.1\r\n\(host)\(auth)"),
    Case(name: "an escaped line end in the path", head: "GET /v1/stores/library%0a HTTP/1.1\r\n\(host)\(auth)"),
    Case(
      name: "an escaped zero byte in the query",
      head: "GET /v1/stores/library/changes?limit=5%00 HTTP/1.1\r\n\(host)\(auth)"),
    Case(
      name: "two lengths",
      head: "POST /v1/stores/library/changes HTTP/1.1\r\n\(host)\(auth)Content-Length: 2\r\nContent-Length: 5\r\n",
      body: "{}GET "),
    Case(
      name: "two lengths in one header",
      head: "POST /v1/stores/library/changes HTTP/1.1\r\n\(host)\(auth)Content-Length: 2, 5\r\n", body: "{}GET "),
    Case(
      name: "a length with a sign",
      head: "POST /v1/stores/library/changes HTTP/1.1\r\n\(host)\(auth)Content-Length: +2\r\n", body: "{}"),
    Case(
      name: "a length and chunks",
      head:
        "POST /v1/stores/library/changes HTTP/1.1\r\n\(host)\(auth)Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
      body: "2\r\n{}\r\n0\r\n\r\n"),
    Case(
      name: "an unknown transfer coding",
      head: "POST /v1/stores/library/changes HTTP/1.1\r\n\(host)\(auth)Transfer-Encoding: xchunked\r\n", body: "{}"),
    Case(
      name: "two tokens", head: "GET /v1/stores/library HTTP/1.1\r\n\(host)\(auth)Authorization: Bearer OTHER\r\n"),
    Case(name: "two hosts", head: "GET /v1/stores/library HTTP/1.1\r\n\(host)Host: other\r\n\(auth)"),
    Case(name: "no host", head: "GET /v1/stores/library HTTP/1.1\r\n\(auth)"),
  ]

  @Test("Each is refused by one answer, and what follows it is not taken for a request", arguments: cases)
  func refused(_ row: Case) throws {
    let sandbox = try Sandbox()
    let tokens = try ["owner", "reader"].map { role in
      try String(contentsOfFile: Daemon.token(in: sandbox, store: "library", role: role), encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
    let daemon = try Daemon(in: sandbox)
    let made = "PUT /v1/stores/library HTTP/1.1\r\n\(Self.host)\(Self.auth)Content-Length: 0\r\n"
    func statuses(_ head: String, _ body: String) throws -> [String] {
      // The server keeps a connection open for the next request unless it is told not to.
      let text = (head + "Connection: close\r\n\r\n" + body).replacing("TOKEN", with: tokens[0]).replacing(
        "OTHER", with: tokens[1])
      return try RawRequest.statuses(Array(text.utf8), port: daemon.port)
    }
    let created = try statuses(made, "")
    #expect(created.first?.hasPrefix("20") == true, "\(created)")
    let answers = try statuses(row.head, row.body)
    // The library writes the head of its own refusals twice (0.9.75).
    #expect(Set(answers) == [row.status], "\(answers)")
    #expect(daemon.stop() == 0)
  }

  @Test("Listing the tokens of a folder without a server's data is an error")
  func misspeltFolder() throws {
    let sandbox = try Sandbox()
    for words in [["list"], ["revoke", "abc"]] {
      let result = try sandbox.run("tombolod", ["token"] + words + ["--data", sandbox.path("nowhere")])
      #expect(result.status == 1, "\(result.errors)")
      #expect(
        result.errors.contains("data_directory_unusable") && result.errors.contains("nowhere"), "\(result.errors)")
    }
    #expect(!FileManager.default.fileExists(atPath: sandbox.path("nowhere")))
  }

  @Test("A token never takes the place of what a file holds")
  func tokenFile() throws {
    let sandbox = try Sandbox()
    let file = try Daemon.token(in: sandbox, store: "library")
    let token = try String(contentsOfFile: file, encoding: .utf8)
    let result = try sandbox.run(
      "tombolod",
      ["token", "create", "--data", sandbox.path("server"), "--store", "library", "--role", "reader", "--out", file])
    #expect(result.status == 1)
    #expect(result.errors.contains("file_unwritable"), "\(result.errors)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == token)
  }
}
