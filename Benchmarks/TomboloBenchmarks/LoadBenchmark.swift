import Foundation
import Synchronization
import Tombolo
import TomboloClient
import TomboloCompression
import TomboloProtocol

/// What one exchange costs: bytes on the wire for a changed attribute, a poll with nothing new, and pushes of many replicas
/// that share commits.
struct LoadBenchmark {
  let programs: URL
  private static let replicas = 64
  private static let pushesEach = 20

  func run() throws -> [BenchmarkResult] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tombolo-load-\(PeakMemory.own)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let server = try BenchmarkServer(in: folder, programs: programs)
    defer { server.stop() }
    let sync = SyncBenchmark(count: 1_000, programs: programs)
    let store = try sync.replica("load", in: folder, server)
    let ids = try sync.insert(into: store)
    try sync.sync(store, server)
    return try changedAttribute(of: store, ids) + idlePoll(store, server) + groupCommit(server)
  }

  // MARK: Bytes

  /// A batch of 1 000 records of which a save changed one date each, to values that do not compress.
  private func changedAttribute(of store: Store, _ ids: [RecordID]) throws -> [BenchmarkResult] {
    guard let book = store.schema.entity("Book"), let date = book.column("createdAt") else {
      throw BenchmarkFailure("no date")
    }
    var changed = ColumnSet()
    changed.insert(date.position)
    var generator = SplitMix64(state: 11)
    try store.save { writer in
      for id in ids {
        let value = Double(generator.next() >> 11) / Double(1 << 53) * 1e9
        try writer.update(book, id, changed: changed, from: ValueRow(book, ["createdAt": .real(value)]))
      }
    }
    let sets = try store.outbox(recordsMax: 5_000, bytesMax: 4 << 20)
    let introduction = Introduction(
      replica: ReplicaID(1), schemaVersion: SchemaVersion(1, 0, 0), highestSave: SaveNumber(1), holds: nil, epoch: nil)
    let body = try Zstd.compress(PushRequest(introduction: introduction, changeSets: sets).encoded(as: .cbor))
    let bytes = Double(body.count) / Double(ids.count)
    return [
      BenchmarkResult(
        name: "wire", what: "a changed date of 8 bytes", value: bytes, limit: 8 + 12, unit: "bytes")
    ]
  }

  // MARK: Idle polls

  private func idlePoll(_ store: Store, _ server: BenchmarkServer) throws -> [BenchmarkResult] {
    guard let state = try store.replicaState() else { throw BenchmarkFailure("no remote") }
    let requests = RequestMaker(address: try RemoteAddress(server.url), token: server.token)
    let introduction = Introduction(
      replica: state.replica, schemaVersion: SchemaVersion(1, 0, 0), highestSave: state.highestSave, holds: nil,
      epoch: state.epoch)
    let request = requests.pull(PullRequest(introduction: introduction, cursor: state.cursor, limit: 5_000))
    let transport = CurlTransport()
    let polls = 1_000
    var response = try transport.perform(request)
    let duration = try milliseconds { for _ in 0..<polls { response = try transport.perform(request) } }
    guard response.status == 200, try Page(decoding: response.body, as: .cbor).items.isEmpty else {
      throw BenchmarkFailure("the poll is not idle")
    }
    return [
      BenchmarkResult(name: "poll", what: "nothing new", value: duration / Double(polls), limit: nil),
      BenchmarkResult(
        name: "", what: "its answer", value: Double(response.body.count), limit: 200, unit: "bytes"),
    ]
  }

  // MARK: Group commit

  /// Pushes of one record each, durable: 64 replicas at once beside one that waits for each commit.
  private func groupCommit(_ server: BenchmarkServer) throws -> [BenchmarkResult] {
    let alone = try pushes(by: 1, each: Self.pushesEach * 16, server)
    let shared = try pushes(by: Self.replicas, each: Self.pushesEach, server)
    return [BenchmarkResult(name: "group", what: "a push, 64 replicas beside one", value: shared, limit: alone)]
  }

  /// - Returns: milliseconds a push.
  private func pushes(by replicas: Int, each count: Int, _ server: BenchmarkServer) throws -> Double {
    let requests = RequestMaker(address: try RemoteAddress(server.url), token: server.token)
    let queues = (0..<replicas).map { _ in pushRequests(count, requests) }
    let group = DispatchGroup()
    let failures = Atomic<Int>(0)
    let duration = milliseconds {
      for queue in queues {
        let thread = Thread {
          let transport = CurlTransport()
          for request in queue where (try? transport.perform(request).status) != 200 {
            failures.add(1, ordering: .relaxed)
          }
          group.leave()
        }
        group.enter()
        thread.start()
      }
      group.wait()
    }
    guard failures.load(ordering: .relaxed) == 0 else { throw BenchmarkFailure("pushes failed") }
    return duration / Double(replicas * count)
  }

  private func pushRequests(_ count: Int, _ requests: RequestMaker) -> [TransportRequest] {
    let randomness = SystemRandomness()
    let clock = SystemClock()
    let replica = ReplicaID(randomness.next())
    return (1...count).map { number in
      let number = UInt64(number)
      let stamp = Stamp(
        clock: ClockReading(milliseconds: clock.milliseconds(), counter: UInt16(number)), replica: replica)
      let create = Change.Create(
        entity: "Book", id: randomness.recordID(milliseconds: clock.milliseconds()),
        fields: [Change.InitialField(name: "title", value: .text("The Long Road"), isAssigned: true)])
      let introduction = Introduction(
        replica: replica, schemaVersion: SchemaVersion(1, 0, 0), highestSave: SaveNumber(UInt64(count)), holds: nil,
        epoch: nil)
      let set = ChangeSet(
        id: randomness.saveID(), number: SaveNumber(number), stamp: stamp, schemaVersion: SchemaVersion(1, 0, 0),
        base: .start, changes: [.create(create)])
      return requests.request(
        "POST", "/changes", headers: introduction.headers,
        body: PushRequest(introduction: introduction, changeSets: [set]).encoded(as: .cbor))
    }
  }
}
