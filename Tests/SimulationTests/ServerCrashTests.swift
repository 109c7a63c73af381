import Synchronization
import Testing
import TomboloClient
import TomboloProtocol
import TomboloSQLite

@testable import TomboloSimulation

/// The server alone on a disk that loses power at every write of a push.
@Suite("The server and power cuts")
struct ServerCrashTests {
  private static let version = SchemaVersion(1, 0, 0)
  private static let replica = ReplicaID(77)

  private func server(seed: UInt64) throws -> SimulatedServer {
    let time = VirtualTime(milliseconds: 1_700_000_000_000)
    var generator = SeededGenerator(seed: seed)
    let bits = SeededRandomness(generator.fork())
    let disk = try MemoryFileSystem(
      name: "server-crash-\(Self.count.add(1, ordering: .relaxed).newValue)",
      environment: .init(
        milliseconds: { time.milliseconds }, random: { bits.next() }, sleep: { time.advance(byMicroseconds: $0) }))
    let server = try SimulatedServer(
      disk: disk, clock: SkewedClock(time, skewMilliseconds: 0), randomness: SeededRandomness(generator.fork()),
      fault: nil)
    #expect(send("PUT", "", to: server)?.status ?? 0 < 300)
    let document = SchemaDocument.simulationSample.canonicalJSON
    let answer = send("PUT", "/schemas/1.0.0", body: document, media: "application/json", to: server)
    #expect(answer?.status ?? 0 < 300, "\(String(decoding: answer?.body ?? [], as: UTF8.self))")
    return server
  }

  private static let count = Atomic<Int>(0)

  private func send(
    _ method: String, _ path: String, body: [UInt8] = [], media: String = "application/cbor", to server: SimulatedServer
  ) -> TransportResponse? {
    server.handle(
      TransportRequest(
        method: method, url: SimulatedServer.url + path,
        headers: [
          "authorization": "Bearer \(server.token)", "content-type": media, "accept": "application/cbor",
          "tombolo-replica": Self.replica.description, "tombolo-schema": Self.version.description,
          "tombolo-highest-save": "2",
        ], body: body))
  }

  private func save(_ number: UInt64) -> ChangeSet {
    let changes = (1...3).map { index in
      Change.create(
        .init(
          entity: "Tag", id: RecordID(high: number, low: UInt64(index)),
          fields: [
            .init(name: "hue", value: .real(1), isAssigned: true),
            .init(name: "name", value: .text("\(number)-\(index)"), isAssigned: true),
          ]))
    }
    return ChangeSet(
      id: SaveID(RecordID(high: 5, low: number)), number: SaveNumber(number),
      stamp: Stamp(
        clock: ClockReading(milliseconds: 1_700_000_000_000, counter: UInt16(number)), replica: Self.replica),
      schemaVersion: Self.version, base: .start, changes: changes)
  }

  private func push(_ sets: [ChangeSet], to server: SimulatedServer) throws -> PushResponse? {
    let request = PushRequest(
      introduction: Introduction(
        replica: Self.replica, schemaVersion: Self.version, highestSave: SaveNumber(2), holds: nil, epoch: nil),
      changeSets: sets)
    guard let response = send("POST", "/changes", body: request.encoded(as: .cbor), to: server) else { return nil }
    try #require(response.status == 200)
    return try PushResponse(decoding: response.body, as: .cbor)
  }

  private func records(of server: SimulatedServer) throws -> Set<RecordID> {
    let response = try #require(send("GET", "/changes?limit=1000", to: server))
    try #require(response.status == 200)
    let page = try Page(decoding: response.body, as: .cbor)
    return Set(page.items.compactMap { if case .record(let record) = $0 { record.id } else { nil } })
  }

  @Test(
    "A power cut at any write of a push leaves each save whole or unknown, an answered one whole, and a second push mends it",
    arguments: [MemoryFileSystem.Survival.synced, .chosen, .everything])
  func everyWrite(_ survival: MemoryFileSystem.Survival) throws {
    var sizes: Set<Int> = []
    let server = try server(seed: 1)
    let image = server.disk.image()
    for cut in UInt64(1)...400 {
      server.disk.restore(image)
      try server.boot()
      server.disk.failAfter(operations: cut)
      let answer = try push([save(1), save(2)], to: server)
      let hasFailed = server.disk.hasFailed
      server.powerCut(survival)
      try server.boot()
      let found = try records(of: server)
      sizes.insert(found.count)
      if answer != nil { #expect(found.count == 6, "cut \(cut): answered, and gone after the cut") }
      let again = try #require(try push([save(1), save(2)], to: server))
      #expect(again.answers.count == 2)
      for answer in again.answers {
        switch answer.verdict {
        case .accepted(let fell): #expect(fell.isEmpty)
        case .known: #expect(found.count == 6)
        default: Issue.record("cut \(cut): \(answer.told)")
        }
      }
      #expect(try records(of: server).count == 6)
      if !hasFailed { break }
      try #require(cut < 400)
    }
    #expect(sizes.isSubset(of: [0, 6]))
    #expect(sizes.contains(6))
  }
}
