import Testing
import TomboloProtocol
import TomboloServer
import TomboloSQLite

@Suite("Group commit and durability")
struct GroupCommitTests {
  private func pushes(_ server: ServerFixture, replicas: Int) -> [ServiceRequest] {
    (1...replicas).map { index in
      var replica = TestReplica(UInt64(index))
      let save = replica.save([.create("Tag", record(UInt64(index)), ["label": .text("\(index)")])])
      return server.request(
        "POST", "/v1/stores/library/changes", token: server.writer, body: replica.push([save]).encoded(as: .cbor))
    }
  }

  private func statuses(_ replies: [ServiceReply]) -> [Int] {
    replies.map { if case .response(let response) = $0 { response.status } else { 0 } }
  }

  @Test("Pushes that wait together are answered together, in order, after one commit")
  func oneCommit() throws {
    let server = try ServerFixture()
    _ = server.service.handle(batch: pushes(server, replicas: 1))
    let before = server.disk.operationCount
    let alone = server.service.handle(batch: Array(pushes(server, replicas: 2).suffix(1)))
    let perCommit = server.disk.operationCount - before
    #expect(statuses(alone) == [200])

    let start = server.disk.operationCount
    let replies = server.service.handle(batch: Array(pushes(server, replicas: 22).suffix(20)))
    #expect(statuses(replies) == Array(repeating: 200, count: 20))
    // Twenty commits would be twenty times as many; the pages that change are shared.
    #expect(server.disk.operationCount - start < 20 * perCommit / 2)
    #expect(try server.page(TestReplica(99)).items.count == 22)
    #expect(server.send("GET", "/metrics", token: nil).text.contains("tombolo_group_commits_total 1"))
  }

  @Test("One faulty push in a group spoils no other")
  func faultyMember() throws {
    let server = try ServerFixture()
    var batch = pushes(server, replicas: 3)
    batch[1].body = Array(batch[1].body.dropLast())
    batch.append(server.request("GET", "/v1/health", token: nil))
    batch.append(server.request("POST", "/v1/stores/nothing/changes", token: server.writer))
    #expect(statuses(server.service.handle(batch: batch)) == [200, 400, 200, 200, 403])
    #expect(try server.page(TestReplica(99)).items.count == 2)
  }

  @Test("If the commit fails, none of the group is acknowledged, and nothing of it is there afterwards")
  func failedCommit() throws {
    let server = try ServerFixture()
    let before = try server.page(TestReplica(99)).cursor
    server.disk.failAfter(operations: 1)
    let replies = server.service.handle(batch: pushes(server, replicas: 4))
    #expect(statuses(replies) == [500, 500, 500, 500])
    try server.powerCut(.synced)
    #expect(try server.page(TestReplica(99)).cursor == before)
    #expect(statuses(server.service.handle(batch: pushes(server, replicas: 4))) == [200, 200, 200, 200])
  }

  @Test("A full disk refuses the push as retryable and keeps what was there")
  func fullDisk() throws {
    let server = try ServerFixture()
    _ = server.service.handle(batch: pushes(server, replicas: 1))
    server.disk.limit(toBytes: server.disk.paths.reduce(0) { $0 + (server.disk.contents(of: $1)?.count ?? 0) })
    var ada = TestReplica(50)
    let large = ada.save([.create("Tag", record(50), ["label": .text(String(repeating: "x", count: 200_000))])])
    let push = ada.push([large]).encoded(as: .cbor)
    let response = server.send("POST", "/v1/stores/library/changes", token: server.writer, body: push)
    #expect(response.status == 507)
    #expect(try response.error().isRetryable)
    server.disk.limit(toBytes: nil)
    #expect(try server.page(TestReplica(99)).items.count == 1)
    #expect(try server.push(ada.push([large])).answers.map(\.verdict) == [.accepted(fell: [])])
  }

  @Test(
    "The power goes at any write of a push: what was acknowledged is there, a save is there whole or not at all",
    arguments: [MemoryFileSystem.Survival.synced, .chosen, .everything])
  func powerCuts(survival: MemoryFileSystem.Survival) throws {
    let server = try ServerFixture()
    var ada = TestReplica(1)
    var isDone = false
    for attempt in 1...200 where !isDone {
      let number = UInt64(attempt) * 2
      let save = ada.save([.create("Tag", record(number), [:]), .create("Tag", record(number + 1), [:])])
      server.disk.failAfter(operations: UInt64(attempt))
      let response = server.send(
        "POST", "/v1/stores/library/changes", token: server.writer, body: ada.push([save]).encoded(as: .cbor))
      isDone = !server.disk.hasFailed
      server.disk.cancelFailure()
      try server.powerCut(survival)
      let page = try server.page(TestReplica(99))
      let found = Set(page.recordIDs)
      #expect(found.contains(record(number)) == found.contains(record(number + 1)), "half a save at write \(attempt)")
      if response.status == 200 { #expect(found.contains(record(number)), "an answered save was lost at \(attempt)") }
      // The client sends it again: it is taken now, or it was taken.
      #expect(try server.push(ada.push([save])).answers.map(\.verdict) == [.accepted(fell: [])])
      #expect(try server.page(TestReplica(99)).recordIDs.count == attempt * 2)
    }
    #expect(isDone, "the loop never came to the end of a push")
  }
}
