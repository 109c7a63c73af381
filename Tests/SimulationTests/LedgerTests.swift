import Testing
import TomboloProtocol

@testable import TomboloSimulation

@Suite("What the witness at the server's door notices")
struct LedgerTests {
  private let replica = ReplicaID(1)

  private func set(_ number: UInt64, id: UInt64? = nil) -> ChangeSet {
    ChangeSet(
      id: SaveID(RecordID(high: 9, low: id ?? number)), number: SaveNumber(number),
      stamp: Stamp(clock: ClockReading(rawValue: number), replica: replica), schemaVersion: SchemaVersion(1, 0, 0),
      base: .start, changes: [])
  }

  private func request(_ sets: [ChangeSet]) -> PushRequest {
    PushRequest(
      introduction: Introduction(
        replica: replica, schemaVersion: SchemaVersion(1, 0, 0), highestSave: SaveNumber(9), holds: nil, epoch: nil),
      changeSets: sets)
  }

  private func response(_ answers: [(ChangeSet, PushAnswer.Verdict)]) -> PushResponse {
    PushResponse(
      epoch: Epoch(1), serverTime: 0,
      answers: answers.map { PushAnswer(save: $0.id, number: $0.number, verdict: $1) })
  }

  @Test("A save that is taken, and known when it comes again, is in order")
  func takenOnce() throws {
    var ledger = WireLedger()
    try ledger.take(
      request([set(1), set(2)]), response([(set(1), .accepted(fell: [])), (set(2), .accepted(fell: []))]))
    try ledger.take(request([set(1)]), response([(set(1), .known(stamp: set(1).stamp))]))
    #expect(ledger.order == [set(1).id, set(2).id])
    #expect(ledger.heardOf.isEmpty)
  }

  @Test("A save whose first answer never left the server counts once it is known")
  func heardOf() throws {
    var ledger = WireLedger()
    try ledger.take(request([set(1)]), response([(set(1), .known(stamp: set(5).stamp))]))
    #expect(ledger.accepted[set(1).id]?.changeSet.stamp == set(5).stamp)
    #expect(ledger.heardOf == [set(1).id])
  }

  @Test(
    "Contradictory answers break an invariant",
    arguments: [
      (
        PushAnswer.Verdict.accepted(fell: []), PushAnswer.Verdict.accepted(fell: [FallenPart(change: 0)]),
        SimulationFailure.Invariant.determinism
      ),
      (.accepted(fell: []), .refused(code: .uniqueViolation, message: ""), .noLostWrite),
      (.refused(code: .uniqueViolation, message: ""), .accepted(fell: []), .determinism),
    ])
  func contradictions(
    _ first: PushAnswer.Verdict, _ second: PushAnswer.Verdict, _ invariant: SimulationFailure.Invariant
  ) throws {
    var ledger = WireLedger()
    try ledger.take(request([set(1)]), response([(set(1), first)]))
    let failure = #expect(throws: SimulationFailure.self) {
      try ledger.take(request([set(1)]), response([(set(1), second)]))
    }
    #expect(failure?.invariant == invariant)
  }

  @Test("A refused save that no replica has any more breaks an invariant, unless its machine was put back")
  func refusedAndForgotten() throws {
    var ledger = WireLedger()
    try ledger.take(request([set(1)]), response([(set(1), .refused(code: .uniqueViolation, message: ""))]))
    let failure = #expect(throws: SimulationFailure.self) { try RefusalChecker(ledger: ledger).check([]) }
    #expect(failure?.invariant == .noLostWrite)
    ledger.forgetDeliveries { _ in true }
    try RefusalChecker(ledger: ledger).check([])
  }

  @Test("An answer to a save that was not sent breaks an invariant")
  func unasked() {
    var ledger = WireLedger()
    #expect(throws: SimulationFailure.self) {
      try ledger.take(request([set(1)]), response([(set(2), .accepted(fell: []))]))
    }
  }

  @Test("An id leads to the last survivor of a chain of unites")
  func survivors() {
    var ledger = WireLedger()
    func tombstone(_ id: UInt64, into survivor: UInt64) -> FeedItem {
      .tombstone(
        Tombstone(
          entity: "Tag", id: RecordID(high: 0, low: id), incarnation: .zero,
          survivor: .init(id: RecordID(high: 0, low: survivor), incarnation: .zero), causes: [], stamp: .zero))
    }
    ledger.take(
      Page(
        cursor: Cursor(epoch: Epoch(1), base: .start, position: .start, start: .start, commit: 0),
        items: [tombstone(1, into: 2), tombstone(2, into: 3)], hasMore: false, processed: .none, answers: [],
        vector: [:], checksum: nil, serverTime: 0))
    #expect(ledger.resolve(RecordID(high: 0, low: 1)) == RecordID(high: 0, low: 3))
    #expect(ledger.resolve(RecordID(high: 0, low: 4)) == RecordID(high: 0, low: 4))
  }
}
