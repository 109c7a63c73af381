import Testing

@testable import TomboloSimulation

/// A checker that never fires proves nothing: each planted defect must be noticed, on seeds that sound code passes.
///
/// `tombolo simulate --planted`, a part of `make test`, looks for every one; here are those that a few seeds of a
/// debug build find.
@Suite("Planted faults")
struct PlantedFaultTests {
  /// Those that the first seeds catch: a debug build takes seconds for each seed.
  private static let quick: [PlantedFault] = [
    .serverAnswersBeforeCommit, .cursorBeforeData, .pagesShownOneByOne, .sendsBeforeMark,
    .clockNotPersisted, .unknownFieldNulled,
  ]
  private static let seedsMax: UInt64 = 12

  @Test("A defect is caught within twelve seeds, and the sound code passes the seed that caught it", arguments: quick)
  func isCaught(_ fault: PlantedFault) throws {
    let finding = PlantedFaultSurvey().find(fault, seeds: 1..<1 + Self.seedsMax)
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
