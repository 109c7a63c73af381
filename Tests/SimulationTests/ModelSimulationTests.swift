import Foundation
import SwiftData
import Synchronization
import Testing
import Tombolo
import TomboloProtocol

@testable import TomboloSimulation

@Model final class LeakyShelf {
  var bought = 0
  var inStock = 0
  var lent = 0
  init() {}
}

@Model final class LabelledThing {
  var tag = UUID()
  var name: String
  var at: Date?
  init(name: String) { self.name = name }
}

enum ShelfV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Shelf.self] }
  @Model final class Shelf {
    var label = ""
    init() {}
  }
}

enum ShelfV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Shelf.self] }
  @Model final class Shelf {
    var label = ""
    var width = 80
    init() {}
  }
}

/// What a user's own test suite does with the library.
@Suite("Simulations of models")
struct ModelSimulationTests {
  private func leaky() throws -> Simulation {
    var configuration = SimulationConfiguration()
    configuration.faults = [.drop, .delay]
    return try Simulation(models: LeakyShelf.self, configuration: configuration)
      .operation("set up", share: 0.3) { save in
        guard try save.pick(LeakyShelf.self) == nil else { return }
        let shelf = LeakyShelf()
        (shelf.bought, shelf.inStock) = (9, 9)
        save.context.insert(shelf)
      }
      .operation("lend", share: 0.7) { save in
        guard let shelf = try save.pick(LeakyShelf.self) else { return }
        shelf.inStock -= save.number(in: 1...2)
        shelf.lent = shelf.bought - shelf.inStock
        if save.chance(0.5) { shelf.bought += 1 }
        if shelf.bought > shelf.inStock + shelf.lent { shelf.lent += 1 }
      }
      .invariant("every copy is in stock or lent") { view in
        try view.all(LeakyShelf.self).allSatisfy { $0.inStock + $0.lent == $0.bought }
      }
  }

  @Test("An invariant that does not hold fails with the user's own words, a story and a command")
  func ownInvariant() throws {
    let failure = try #require(throws: SimulationFailure.self) { try leaky().converges(seeds: 60) }
    #expect(failure.invariant == .custom)
    #expect(failure.reason.contains("every copy is in stock or lent"))
    #expect(failure.story.contains { $0.contains("runs “lend”") })
    #expect(failure.description.contains("try simulation.run(seed: \(failure.seed))"))
    let again = try #require(throws: SimulationFailure.self) { try leaky().run(seed: failure.seed) }
    #expect(again.reason == failure.reason || again.invariant == failure.invariant)
  }

  @Test("What an operation throws is a failure that names it")
  func throwingOperation() throws {
    struct Mistake: Error {}
    let simulation = try Simulation(models: LeakyShelf.self).operation("err", share: 1) { _ in throw Mistake() }
    let failure = try #require(throws: SimulationFailure.self) { try simulation.run(seed: 1) }
    #expect(failure.invariant == .custom)
    #expect(failure.reason.contains("“err” throws"))
  }

  @Test("Time, identifiers and chance follow from the seed, default values of properties included")
  func replays() throws {
    let seen = Guarded<[[String]]>([])
    func run() throws -> String {
      let lines = Guarded<[String]>([])
      let simulation = try Simulation(models: LabelledThing.self)
        .operation("label", share: 1) { save in
          let thing = LabelledThing(name: save.pick(["a", "b", "c"]) ?? "")
          thing.at = save.now
          save.context.insert(thing)
          lines.withLock { $0.append("\(thing.tag) \(thing.name) \(save.now.timeIntervalSince1970) \(save.uuid())") }
        }
      let digest = try simulation.run(seed: 5).trace.digest
      seen.withLock { $0.append(lines.withLock { $0 }) }
      return digest
    }
    #expect(try run() == run())
    let courses = seen.withLock { $0 }
    #expect(courses[0] == courses[1])
    #expect(courses[0].count > 20)
    #expect(Set(courses[0]).count == courses[0].count)
  }

  @Test("Two releases of one schema run together, and the older replicas are upgraded in the middle")
  func upgrade() throws {
    let simulation = try Simulation(upgrading: ShelfV1.self, to: ShelfV2.self)
    var upgrades = 0
    for seed in UInt64(1)...12 {
      upgrades += try simulation.run(seed: seed).statistics.faults[.schemaUpgrade, default: 0]
    }
    #expect(upgrades > 0)
    #expect(throws: TomboloError.self) { try Simulation(upgrading: ShelfV2.self, to: ShelfV1.self) }
  }
}
