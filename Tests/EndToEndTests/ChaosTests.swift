import Tombolo
import TomboloProtocol
import TomboloSQLite
import Foundation
import Testing

@testable import TomboloSimulation

@Suite("Chaos: real processes, killed at random behind a bad network", .serialized, .timeLimit(.minutes(10)))
struct ChaosTests {
  @Test("A minute of it leaves every promise kept")
  func minute() throws {
    let sandbox = try Sandbox()
    let result = try sandbox.run("tombolo", ["chaos", "--seconds", "60", "--seed", "1"])
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    for figure in [
      "clients killed", "daemon killed", "answers dropped", "requests doubled", "requests delayed",
      "requests cut short",
      "syncs completed", "saves acknowledged",
    ] {
      let line = result.output.split(separator: "\n").first { $0.hasSuffix(" \(figure)") }
      #expect(line != nil, "no \(figure) in a minute: \(result.output)")
    }
  }

  /// What happens to a store behind everybody's back, and the promise that is broken by it.
  enum Damage: String, CaseIterable, CustomTestStringConvertible {
    case valuePutBack = "a value is put back to an earlier one"
    case recordRemoved = "a record is removed"
    case counterTwice = "an addition to a counter is applied twice"
    case ledgerTwice = "one half of a transfer is applied twice"
    case linkRemoved = "a pair is removed"

    var testDescription: String { rawValue }

    /// What says so when it is so everywhere, as if the server had done it.
    var invariants: Set<SimulationFailure.Invariant> {
      switch self {
      case .valuePutBack: [.determinism, .noLostWrite]
      case .recordRemoved: [.noLostWrite, .integrity]
      case .linkRemoved: [.noLostWrite]
      case .counterTwice: [.exactlyOnce]
      case .ledgerTwice: [.atomicity]
      }
    }
  }

  /// One run without faults, judged as sound, whose stores are then damaged in copies. What it made is drawn; so there are
  /// more runs where one lacks something that can be damaged.
  private func evidence(in sandbox: Sandbox) throws -> (ChaosEvidence, statements: [(Damage, sql: String)]) {
    var missing: any Error = POSIXError(.ENOENT)
    for seed in UInt64(3)..<8 {
      let folder = sandbox.path("run-\(seed)")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      var options = ChaosRun.Options(
        seconds: 10, seed: seed, tombolo: try Sandbox.program("tombolo").path,
        tombolod: try Sandbox.program("tombolod").path)
      options.hasFaults = false
      options.recordsMax = 50
      let evidence = try ChaosRun(options, in: folder).run()
      do {
        return (evidence, try Damage.allCases.map { ($0, try statement($0, evidence)) })
      } catch let error as Missing {
        missing = error
      }
    }
    throw missing
  }

  struct Missing: Error { var what: String }

  /// A statement that does the damage to this content.
  private func statement(_ damage: Damage, _ evidence: ChaosEvidence) throws -> String {
    let audit = StoredReplica(name: "audit", path: evidence.auditor)
    let (content, schema) = try audit.look { (try StoreContent(of: $0), $0.schema) }
    func first(_ entity: String, _ isFit: (StoreContent.Record) -> Bool = { _ in true }) throws -> String {
      guard let record = content.records.first(where: { $0.entity == entity && isFit($0) }) else {
        throw Missing(what: entity)
      }
      return "_tombolo_id = \(record.id.literal)"
    }
    switch damage {
    case .recordRemoved:
      let named = Set(content.records.flatMap { $0.values.compactMap(\.reference) })
      for entity in ["Item", "Badge", "Visit", "Seat", "Task", "Note"] {
        guard let condition = try? first(entity, { !named.contains($0.id) }) else { continue }
        return "DELETE FROM \(entity) WHERE \(condition)"
      }
      throw Missing(what: "a record that nothing refers to")
    case .counterTwice: return "UPDATE Note SET views = views + 3 WHERE \(try first("Note"))"
    case .ledgerTwice: return "UPDATE Account SET balance = balance + 2 WHERE \(try first("Account"))"
    case .linkRemoved:
      guard let (key, pairs) = content.links.first(where: { !$0.pairs.isEmpty }), let pair = pairs.first,
        let plan = schema.entities.flatMap(\.links).first(where: { $0.link.key == key })
      else { throw Missing(what: "a pair") }
      return "DELETE FROM \(plan.table) WHERE source = \(pair.source.literal) AND target = \(pair.target.literal)"
    case .valuePutBack:
      for accepted in evidence.notes.ledger.accepted.values {
        for case .update(let update) in accepted.changeSet.changes {
          guard let record = content.record(update.id), let plan = schema.entity(record.entity) else { continue }
          for write in update.writes where !write.base.isZero {
            guard let column = plan.column(write.name), case .attribute(let attribute) = column.kind,
              attribute.merge == .lastWriter, attribute.type == .string,
              case .text(let earlier) = write.value, record.values[column.position] != write.value
            else { continue }
            return "UPDATE \(plan.table) SET \(column.column) = '\(earlier.replacing("'", with: "''"))' "
              + "WHERE _tombolo_id = \(update.id.literal)"
          }
        }
      }
      throw Missing(what: "a value that was written over")
    }
  }

  private func judged(_ evidence: ChaosEvidence) -> SimulationFailure? {
    do {
      try evidence.judge()
      return nil
    } catch {
      return error as? SimulationFailure ?? SimulationFailure(.progress, "\(error)")
    }
  }

  @Test("The same checkers notice what is done to the stores of such a run behind its back")
  func damages() throws {
    let sandbox = try Sandbox()
    let (evidence, statements) = try evidence(in: sandbox)
    let files = evidence.stores + [evidence.auditor]
    #expect(judged(evidence) == nil)
    for (damage, sql) in statements {
      for (places, invariants) in [([files[0]], [.convergence]), (files, damage.invariants)] {
        let originals = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        for file in places {
          let connection = try Connection(path: file)
          try connection.execute(sql)
          try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let failure = judged(evidence)
        #expect(
          failure.map { invariants.contains($0.invariant) } == true,
          "\(damage.rawValue), in \(places.count) stores: \(failure?.reason ?? "nobody noticed")")
        for (file, original) in zip(files, originals) { try original.write(to: URL(fileURLWithPath: file)) }
      }
    }
    #expect(judged(evidence) == nil, "the damage was not mended")
  }

  @Test("A program that crashes is told with the seed, and everything is kept")
  func crash() throws {
    let sandbox = try Sandbox()
    var options = ChaosRun.Options(
      seconds: 1, seed: 7, tombolo: "/bin/false", tombolod: try Sandbox.program("tombolod").path)
    options.hasFaults = false
    let failure = #expect(throws: SimulationFailure.self) {
      _ = try ChaosRun(options, in: sandbox.folder.path).run()
    }
    #expect(failure?.seed == 7 && failure?.command.contains(sandbox.folder.path) == true)
  }
}

extension RecordID {
  fileprivate var literal: String { "x'" + description.filter { $0 != "-" } + "'" }
}
