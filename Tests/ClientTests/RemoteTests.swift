import Foundation
import Testing
import TomboloClient
import TomboloProtocol

@Suite("Remotes")
struct RemoteTests {
  @Test(
    "A URL of a server's store is taken",
    arguments: [
      ("http://127.0.0.1:8080/v1/stores/a", "http://127.0.0.1:8080/v1/stores/a"),
      ("https://example.org/v1/stores/My_store-2", "https://example.org/v1/stores/My_store-2"),
      ("HTTP://Example.ORG:80/v1/stores/a/", "http://example.org:80/v1/stores/a"),
      ("http://[::1]:8080/v1/stores/a", "http://[::1]:8080/v1/stores/a"),
    ])
  func valid(_ text: String, _ canonical: String) throws {
    #expect(try Remote(url: text, token: "t").url == canonical)
  }

  @Test(
    "Anything else is refused",
    arguments: [
      "", "example.org/v1/stores/a", "ftp://h/v1/stores/a", "http:///v1/stores/a", "http://h/v2/stores/a",
      "http://h/v1/stores/", "http://h/v1/stores", "http://h/v1/stores/a/b", "http://h/v1/stores/a?x=1",
      "http://h/v1/stores/a#b", "http://user:pass@h/v1/stores/a", "http://h:0/v1/stores/a",
      "http://h:65536/v1/stores/a",
      "http://h:8o/v1/stores/a", "http://h /v1/stores/a", "http://h/v1/stores/-a", "http://h/v1/stores/a%2F",
      "http://h/v1/stores/ä",
      "http://[::1/v1/stores/a", "http://[]/v1/stores/a", "http://h:/v1/stores/a", "file:///etc/v1/stores/a",
      "http:/h/v1/stores/a",
    ])
  func invalid(_ text: String) {
    let error = #expect(throws: TomboloError.self) { try Remote(url: text, token: "t") }
    #expect(error?.code == .remoteInvalid)
  }

  @Test("White space around a token is none of it", arguments: ["abc", " abc\n", "\r\nabc\r\n"])
  func token(_ text: String) throws {
    #expect(try Remote(url: "http://h/v1/stores/a", token: text).token == "abc")
  }

  @Test(
    "A token that could not stand in a header is refused",
    arguments: ["", " \n", "a b", "a\r\nHost: evil", "tökén", "a\u{0}b"])
  func badToken(_ text: String) {
    let error = #expect(throws: TomboloError.self) { try Remote(url: "http://h/v1/stores/a", token: text) }
    #expect(error?.code == .tokenInvalid)
    #expect(text.count < 3 || error?.description.contains(text) == false)
  }

  @Test("A token is read from its file, and a file that is not there is named")
  func tokenFile() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "token-\(UInt64.random(in: .min ... .max))")
    let missing = #expect(throws: TomboloError.self) { try Remote(url: "http://h/v1/stores/a", tokenFile: file) }
    #expect(missing?.code == .fileUnreadable && missing?.message.contains(file.path) == true)
    try Data("abc\n".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let remote = try Remote(url: "http://h/v1/stores/a", tokenFile: file)
    #expect(remote.token == "abc" && remote.tokenFile == file)
  }
}
