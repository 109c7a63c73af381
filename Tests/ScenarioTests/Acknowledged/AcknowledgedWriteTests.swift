import Testing
import Tombolo
import TomboloProtocol

/// I2, row by row: of every two things that two people do without knowing of each other, in both orders of arrival, each is
/// seen by all in the end, or whoever did it is told, with what he lost.
@Suite("Every acknowledged write stands or is told")
struct AcknowledgedWriteTests {
  @Test("of every pair of acts each stands, or its author is told", arguments: StageTable.all, [false, true])
  func standsOrIsTold(_ stage: Stage, isLaterFirst: Bool) throws {
    let world = try World(document: try Estate.document())
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let pairs = stage.acts.flatMap { first in stage.acts.map { (first, $0) } }
    let copies = try pairs.indices.map { try a.sets(up: stage, copy: $0) }
    try world.settles()
    var first: [Actor] = []
    var second: [Actor] = []
    for (copy, (act, _)) in pairs.enumerated() { first.append(try Self.play(act, a, "a", copy, copies[copy])) }
    for (copy, (_, act)) in pairs.enumerated() { second.append(try Self.play(act, b, "b", copy, copies[copy])) }
    for replica in isLaterFirst ? [b, a] : [a, b] { try replica.pushes() }
    try world.expectAllEqual()
    let sight = try Sight(a, merged: a.merged.merging(b.merged) { known, _ in known })
    var untold: [String] = []
    for (people, replica) in [(first, a), (second, b)] {
      let told = Dictionary(grouping: try replica.conflicts) { sight.resolve($0.record) }
      let parked = try replica.parkedRecords()
      for actor in people {
        let other = (people[actor.copy] === first[actor.copy] ? second : first)[actor.copy]
        for claim in actor.claims where !claim.isSeen(in: sight) {
          if claim.kind == .deletion, other.remade.contains(claim.record) || actor.remade.contains(claim.record) {
            continue
          }
          if parked.contains(claim.record) { continue }
          let entries = claim.records.flatMap { told[sight.resolve($0)] ?? [] }
          let pair = "\(pairs[actor.copy].0.name); \(pairs[actor.copy].1.name)"
          if entries.contains(where: { claim.isTold(by: $0, in: sight) }) { continue }
          untold.append(
            "\(pair): \(actor.mark) has lost \(claim), told \(entries.map { "\($0.rule.rawValue) \($0.field ?? "-")" })"
          )
        }
      }
    }
    #expect(untold.isEmpty, "\(untold.joined(separator: "\n"))")
  }

  /// An act that is refused on the spot was never acknowledged.
  private static func play(
    _ act: Stage.Act, _ replica: Replica, _ mark: String, _ copy: Int, _ ids: [String: RecordID]
  ) throws -> Actor {
    let actor = Actor(replica, mark: mark, copy: copy, ids: ids)
    do { try act.run(actor) } catch let error as TomboloError where error.code != .internalFault {}
    return actor
  }
}
