import TomboloSQLite
import Foundation
import Testing
import TomboloProtocol
import TomboloServer

@Suite("Tokens and roles")
struct TokenTests {
  @Test(
    "Without a valid token nothing of a store is told",
    arguments: [nil, "", "Bearer", "Bearer x", "Basic dXNlcjpwYXNz", "Bearer tombolo_0000000000000000"])
  func noToken(header: String?) throws {
    let server = try ServerFixture()
    let headers = header.map { ["authorization": $0] } ?? [:]
    for store in ["library", "nothing"] {
      let response = server.send("GET", "/v1/stores/\(store)", token: nil, headers: headers)
      #expect(response.status == 401)
      #expect(response.headers["www-authenticate"] == "Bearer")
      #expect(try response.error().code == .unauthorized)
    }
  }

  @Test("A token is good for one store")
  func otherStore() throws {
    let server = try ServerFixture()
    let other = try server.service.createToken(store: "other", role: .owner)
    let response = server.send("GET", "/v1/stores/library", token: other)
    #expect(response.status == 403)
    #expect(try response.error().code == .forbidden)
  }

  @Test(
    "A store's name cannot lead out of the directory",
    arguments: ["..", "a.b", "-x", "é", "a b", String(repeating: "a", count: 65), "", "a/b", "a\u{0}"])
  func storeNames(name: String) throws {
    let server = try ServerFixture()
    #expect { try server.service.createToken(store: name, role: .owner) } throws: { error in
      (error as? TomboloError)?.code == .invalidStoreName
    }
  }

  @Test("Who may do what", arguments: Role.allCases)
  func roles(role: Role) throws {
    let server = try ServerFixture()
    let token = try server.service.createToken(store: "library", role: role)
    let replica = TestReplica(1)
    let push = PushRequest(introduction: replica.introduction, changeSets: []).encoded(as: .cbor)
    let known = KnownRequest(introduction: replica.introduction, saves: []).encoded(as: .cbor)
    func status(_ method: String, _ path: String, _ body: [UInt8] = [], json: Bool = false) -> Int {
      server.send(
        method, "/v1/stores/library" + path, token: token, headers: replica.introduction.headers, body: body, json: json
      ).status
    }
    #expect(status("GET", "") == 200)
    #expect(status("GET", "/changes") == 200)
    #expect(status("GET", "/schemas") == 200)
    #expect(status("GET", "/checksum") == 200)
    #expect(status("GET", "/replicas") == 200)
    #expect(status("POST", "/changes", push) == (role == .reader ? 403 : 200))
    #expect(status("POST", "/changes/known", known) == (role == .reader ? 403 : 200))
    let version2 = Array(Library.version2.utf8)
    #expect(status("PUT", "/schemas/1.1.0", version2, json: true) == (role == .reader ? 403 : 201))
    #expect(status("PUT", "") == (role == .owner ? 200 : 403))
    #expect(status("GET", "/tokens") == (role == .owner ? 200 : 403))
    #expect(status("POST", "/tokens", Array(#"{"role":"reader"}"#.utf8), json: true) == (role == .owner ? 201 : 403))
  }

  @Test("An owner makes a token, lists it without its secret, and revokes it")
  func lifeOfAToken() throws {
    struct Made: Decodable {
      var token: String
      var id: String
    }
    let server = try ServerFixture()
    let response = server.send(
      "POST", "/v1/stores/library/tokens", token: server.owner, body: Array(#"{"role":"writer","name":"Dan"}"#.utf8),
      json: true)
    #expect(response.status == 201)
    let made = try JSONDecoder().decode(Made.self, from: Data(response.body))
    #expect(server.send("GET", "/v1/stores/library", token: made.token).status == 200)

    let list = server.send("GET", "/v1/stores/library/tokens", token: server.owner).text
    #expect(list.contains(made.id))
    #expect(list.contains("Dan"))
    #expect(!list.contains(made.token))

    let path = "/v1/stores/library/tokens/\(made.id)"
    #expect(server.send("DELETE", path, token: made.token).status == 403)
    #expect(server.send("DELETE", path, token: server.owner).status == 204)
    #expect(server.send("GET", "/v1/stores/library", token: made.token).status == 401)
    #expect(server.send("DELETE", path, token: server.owner).status == 404)
  }

  @Test("No file holds a token's secret")
  func secretsAreNotKept() throws {
    let server = try ServerFixture()
    for path in server.disk.paths {
      let content = Data(server.disk.contents(of: path) ?? [])
      for token in [server.owner, server.writer, server.reader] {
        #expect(content.range(of: Data(token.utf8)) == nil, "\(path) holds a token")
      }
    }
  }

  @Test(
    "A wish for a token that makes no sense is refused",
    arguments: [
      "", "{}", #"{"role":"king"}"#, #"{"role":1}"#, "[]",
      #"{"role":"reader","name":"\#(String(repeating: "x", count: 201))"}"#,
    ])
  func badWishes(body: String) throws {
    let server = try ServerFixture()
    let response = server.send(
      "POST", "/v1/stores/library/tokens", token: server.owner, body: Array(body.utf8), json: true)
    #expect(response.status == 400)
    #expect(try response.error().code == .malformedMessage)
  }
}
