import Dispatch
import Synchronization
import Testing
import TomboloProtocol
import TomboloServer

@Suite("Concurrency of the service")
struct ConcurrencyTests {
  @Test("Many threads push, pull and poll at once; every save is there once, and all see one checksum")
  func manyThreads() throws {
    let server = try ServerFixture()
    let (service, pushesEach, threads) = (server.service, 10, 8)
    let pushes = (0..<threads).map { thread -> [ServiceRequest] in
      var replica = TestReplica(UInt64(thread + 1))
      return (0..<pushesEach).map { index in
        let save = replica.save([.create("Tag", record(UInt64(thread * pushesEach + index)), ["label": .text("x")])])
        return server.request(
          "POST", "/v1/stores/library/changes", token: server.writer, body: replica.push([save]).encoded(as: .cbor))
      }
    }
    let pull = server.request(
      "GET", "/v1/stores/library/changes", token: server.reader, headers: TestReplica(99).introduction.headers)
    let failures = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
      for push in pushes[thread] {
        let replies = thread.isMultiple(of: 2) ? [service.handle(push)] : service.handle(batch: [push, pull])
        for case .response(let response) in replies where response.status != 200 {
          failures.add(1, ordering: .relaxed)
        }
      }
    }
    #expect(failures.load(ordering: .relaxed) == 0)
    let page = try server.page(TestReplica(100))
    #expect(page.recordIDs.count == threads * pushesEach)
    #expect(page.cursor.position == FeedPosition(UInt64(threads * pushesEach)))
    var sum = Checksum()
    for case .record(let state) in page.items {
      sum.insert(state)
    }
    #expect(page.checksum == sum)
  }
}
