import Testing
import TomboloProtocol

@testable import TomboloSimulation

/// Whole runs. Few seeds: `tombolo simulate` runs hundreds in a release build.
@Suite("Runs")
struct SimulationTests {
  @Test("Every invariant holds with every kind of fault", arguments: Array(1...4).map(UInt64.init))
  func soundRuns(_ seed: UInt64) throws {
    let report = try Simulation().run(seed: seed)
    #expect(report.statistics.events["saves", default: 0] > 20)
    #expect(report.statistics.events["exchanges", default: 0] > 20)
    #expect(report.records > 0)
  }

  @Test("A single replica has nobody to disagree with", arguments: [UInt64(1), 2])
  func oneReplica(_ seed: UInt64) throws {
    var configuration = SimulationConfiguration()
    configuration.replicas = 1
    configuration.faults.subtract([.backupRestore, .fileCopy])
    let report = try Simulation(configuration: configuration).run(seed: seed)
    #expect(report.conflicts == 0)
  }

  @Test("Five replicas agree too", arguments: [UInt64(21), 22])
  func fiveReplicas(_ seed: UInt64) throws {
    var configuration = SimulationConfiguration()
    configuration.replicas = 5
    configuration.mix = .all
    _ = try Simulation(configuration: configuration).run(seed: seed)
  }

  @Test("A user's own schema runs as well")
  func otherSchema() throws {
    let json = """
      {"name": "Library", "version": "1.0.0", "entities": [
        {"name": "Author", "attributes": [{"name": "name", "type": "string", "default": ""}],
         "relationships": [{"name": "books", "destination": "Book", "toMany": true, "inverse": "author", "deleteRule": "cascade"}]},
        {"name": "Book", "attributes": [
          {"name": "pages", "type": "int32", "default": 0}, {"name": "title", "type": "string", "default": ""}],
         "relationships": [{"name": "author", "destination": "Author", "inverse": "books"}]}]}
      """
    for seed in UInt64(1)...2 { _ = try Simulation(schema: json).run(seed: seed) }
  }

  @Test("A schema that is none is refused before anything runs", arguments: ["", "{}", "[1]"])
  func noSchema(_ json: String) {
    #expect(throws: TomboloError.self) { try Simulation(schema: json) }
  }
}
