import Foundation
import Testing
import TomboloProtocol
import TomboloServer

@Suite("The registry of schemas")
struct SchemaTests {
  private func put(_ server: ServerFixture, _ version: String, _ document: String, token: String? = nil)
    -> ServiceResponse
  {
    server.send(
      "PUT", "/v1/stores/library/schemas/\(version)", token: token ?? server.owner, body: Array(document.utf8),
      json: true)
  }

  @Test("An owner's first registration makes the store")
  func firstRegistration() throws {
    let server = try ServerFixture(schema: nil)
    #expect(put(server, "1.0.0", Library.version1).status == 201)
    #expect(server.send("GET", "/v1/stores/library", token: server.reader).text.contains("\"schema\":\"1.0.0\""))
  }

  @Test("A writer may not register a store's first schema, but the next additive one")
  func writers() throws {
    let server = try ServerFixture(schema: nil)
    let first = put(server, "1.0.0", Library.version1, token: server.writer)
    #expect(first.status == 403)
    #expect(put(server, "1.0.0", Library.version1).status == 201)
    #expect(put(server, "1.1.0", Library.version2, token: server.writer).status == 201)
    #expect(put(server, "1.1.0", Library.version2, token: server.reader).status == 403)
  }

  @Test("The same document again is the same registration, however it is written")
  func sameAgain() throws {
    let server = try ServerFixture()
    #expect(put(server, "1.0.0", Library.version1).status == 200)
    #expect(put(server, "1.0.0", Library.version1.with("\n", " ")).status == 200)
  }

  @Test("Another document under a registered version is refused with the difference")
  func versionTaken() throws {
    let server = try ServerFixture()
    let response = put(server, "1.0.0", Library.version2.with("1.1.0", "1.0.0"))
    #expect(response.status == 409)
    let error = try response.error()
    #expect(error.code == .schemaVersionTaken)
    #expect(error.details.contains { $0.property == "at" })
  }

  @Test("A version that is no additive successor is refused with every violation, and nothing is kept of it")
  func notAdditive() throws {
    let server = try ServerFixture()
    let response = put(server, "1.1.0", Library.renamed)
    #expect(response.status == 409)
    let error = try response.error()
    #expect(error.code == .schemaNotAdditive)
    let properties = error.details.compactMap(\.property)
    #expect(properties.contains("title"))
    #expect(properties.contains("rating"))
    #expect(error.details.allSatisfy { !$0.fix.isEmpty })
    #expect(!server.send("GET", "/v1/stores/library/schemas", token: server.reader).text.contains("1.1.0"))
  }

  @Test("A version between two must fit both ways")
  func between() throws {
    let server = try ServerFixture()
    #expect(put(server, "1.2.0", Library.version2.with("1.1.0", "1.2.0")).status == 201)
    #expect(put(server, "1.1.0", Library.version2).status == 201)
    #expect(put(server, "0.9.0", Library.version2.with("1.1.0", "0.9.0")).status == 409)
  }

  @Test("An unversioned schema never syncs, and the answer says how it becomes versioned")
  func unversioned() throws {
    let server = try ServerFixture()
    let error = try put(server, "1.0.0", Library.unversioned).error()
    #expect(error.code == .storeUnversioned)
    #expect(error.remedy.contains("VersionedSchema"))
  }

  @Test(
    "What is no schema document is refused",
    arguments: [
      "", "{", "[]", "null", #"{"name":"x"}"#,
      #"{"name":"L","version":"1.0.0","entities":[{"name":"A","attributes":[{"name":"b","type":"colour"}]}]}"#,
    ])
  func invalid(document: String) throws {
    let server = try ServerFixture()
    let response = put(server, "2.0.0", document)
    let codes: [ErrorCode] = [.invalidSchema, .malformedMessage, .storeUnversioned]
    #expect(codes.contains(try response.error().code))
  }

  @Test("The path and the document must name the same version", arguments: ["1.0.1", "2", "x", "..", "latest"])
  func mismatch(version: String) throws {
    let server = try ServerFixture()
    let response = put(server, version, Library.version1)
    #expect(response.status == 422)
    #expect(try response.error().code == .invalidSchema)
  }

  @Test("A document of more bytes than a schema may have is refused")
  func tooLarge() throws {
    var limits = ServiceLimits()
    limits.schemaBytesMax = 100
    let server = try ServerFixture(schema: nil, limits: limits)
    let response = put(server, "1.0.0", Library.version1)
    #expect(response.status == 413)
    #expect(try response.error().details.first?.text == "100")
  }

  @Test("Versions are listed in order, each can be read, and the latest is the highest")
  func reading() throws {
    let server = try ServerFixture()
    #expect(put(server, "1.1.0", Library.version2).status == 201)
    try server.reopen()
    let list = server.send("GET", "/v1/stores/library/schemas", token: server.reader).text
    let first = try #require(list.range(of: "1.0.0"))
    let second = try #require(list.range(of: "1.1.0"))
    #expect(first.lowerBound < second.lowerBound)
    let latest = server.send("GET", "/v1/stores/library/schemas/latest", token: server.reader)
    let named = server.send("GET", "/v1/stores/library/schemas/1.1.0", token: server.reader)
    #expect(latest.body == named.body)
    #expect(try SchemaDocument(parsing: latest.body) == SchemaDocument(parsing: Array(Library.version2.utf8)))
    let unknown = server.send("GET", "/v1/stores/library/schemas/9.0.0", token: server.reader)
    #expect(unknown.status == 409)
  }

  @Test("What a version added can be written at once")
  func newAttribute() throws {
    let server = try ServerFixture()
    #expect(put(server, "1.1.0", Library.version2).status == 201)
    var replica = TestReplica(1)
    replica.version = SchemaVersion(1, 1, 0)
    let save = replica.save([.create("Note", record(1), ["text": .text("x"), "at": .real(5)])])
    #expect(try server.push(replica.push([save])).answers.map(\.verdict) == [.accepted(fell: [])])
    #expect(try server.page(replica).record(record(1))?["at"] == .real(5))
  }
}
