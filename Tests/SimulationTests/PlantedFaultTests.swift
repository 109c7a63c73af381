import Testing

@testable import TomboloSimulation

/// A checker that never fires proves nothing: each planted defect must be noticed, on seeds that sound code passes.
///
/// `tombolo simulate --planted`, a part of `make test`, looks for every one from the first seed on; here are those that a
/// few seeds of a debug build find.
@Suite("Planted faults")
struct PlantedFaultTests {
  /// Where the survey found each: what comes after is tried too, so that a change of the workload seldom moves this table.
  private static let starts: [(fault: PlantedFault, seed: UInt64)] = [
    (.mergeWithoutIntegrity, 6), (.mergeDeletesBlindly, 6), (.tieBreakDropped, 16), (.revivedInPart, 7),
    (.tombstonesDropWrites, 80), (.savesWithoutIdentity, 47), (.aliasForgotten, 21), (.linkSetReplaced, 20),
    (.collectedEarly, 7), (.serverAnswersBeforeCommit, 1), (.cursorBeforeData, 1), (.pagesShownOneByOne, 2),
    (.sendsBeforeMark, 2), (.newIdentityEachTime, 1), (.sendsHalfASave, 1), (.baseAdvancedOnSend, 7),
    (.cascadeUnrecorded, 1), (.clockNotPersisted, 1), (.unknownFieldNulled, 1), (.unassignedCounts, 15),
  ]
  private static let seedsMax: UInt64 = 40

  @Test(
    "A defect is caught within forty seeds, and the sound code passes the seed that caught it", arguments: starts)
  func isCaught(_ fault: PlantedFault, _ start: UInt64) throws {
    let finding = PlantedFaultSurvey().find(fault, seeds: start..<start + Self.seedsMax)
    let caught = try #require(finding.caught, "\(finding.sentence)")
    _ = try Simulation().run(seed: caught.seed)
  }

  @Test("A defect that is in no run is not found: the survey says so")
  func isNotFound() {
    var configuration = SimulationConfiguration()
    configuration.saves = 2
    let finding = PlantedFaultSurvey(configuration).find(.tombstonesDropWrites, seeds: 1..<3)
    #expect(finding.caught == nil)
    #expect(finding.sentence == "tombstones-drop-writes: not noticed")
  }
}
