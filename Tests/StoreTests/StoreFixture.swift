import Foundation
import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

/// A clock that the test moves.
final class TestClock: WallClock {
  private let now = Guarded<UInt64>(1_700_000_000_000)
  func milliseconds() -> UInt64 { now.withLock { $0 } }
  func advance(by milliseconds: UInt64) { now.withLock { $0 += milliseconds } }
}

/// A seeded generator (SplitMix64), so that a failure repeats.
final class TestRandomness: Randomness {
  private let state: Guarded<UInt64>
  init(seed: UInt64) { state = Guarded(seed) }
  func next() -> UInt64 {
    state.withLock { state in
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}

/// A folder of its own for a test, and the stores opened in it; at the end no statement may be busy, no transaction open.
final class StoreFixture {
  let folder: String
  let clock = TestClock()
  private var stores: [Store] = []

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("tombolo-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// Runs a test with a fixture and checks on leaving that everything is at rest.
  static func run<Result>(_ body: (StoreFixture) throws -> Result) throws -> Result {
    let fixture = try StoreFixture()
    defer {
      for store in fixture.stores { #expect(store.isQuiescent, "a statement is busy or a transaction open") }
      fixture.stores = []
      try? FileManager.default.removeItem(atPath: fixture.folder)
    }
    return try body(fixture)
  }

  func path(_ name: String) -> String { folder + "/" + name }

  func options(seed: UInt64 = 1, _ change: (inout Store.Options) -> Void = { _ in }) -> Store.Options {
    var options = Store.Options(clock: clock, randomness: TestRandomness(seed: seed))
    change(&options)
    return options
  }

  func memory(_ document: SchemaDocument, _ change: (inout Store.Options) -> Void = { _ in }) throws -> Store {
    let store = try Store(.memory(name: "test"), document: document, options: options(change))
    stores.append(store)
    return store
  }

  func file(
    _ document: SchemaDocument, name: String = "test.store", _ change: (inout Store.Options) -> Void = { _ in }
  ) throws -> Store {
    let store = try Store(.file(path: path(name)), document: document, options: options(change))
    stores.append(store)
    return store
  }

  /// The code of the error that `body` throws; nil if it throws none.
  static func code(_ body: () throws -> Void) -> ErrorCode? {
    do {
      try body()
      return nil
    } catch let error as TomboloError {
      return error.code
    } catch {
      Issue.record("not a TomboloError: \(error)")
      return nil
    }
  }
}

extension Store {
  func plan(_ name: String) throws -> EntityPlan { try #require(schema.entity(name)) }

  @discardableResult
  func insert(_ name: String, _ values: [String: Value], id: RecordID? = nil) throws -> RecordID {
    let id = id ?? makeRecordID()
    let entity = try plan(name)
    let row = try ValueRow(entity, values)
    try save { try $0.insert(entity, id, assigned: row.assigned, from: row) }
    return id
  }

  @discardableResult
  func set(_ name: String, _ id: RecordID, _ values: [String: Value]) throws -> SaveOutcome {
    let entity = try plan(name)
    let row = try ValueRow(entity, values)
    return try save { try $0.update(entity, id, changed: row.assigned, from: row) }.outcome
  }

  @discardableResult
  func delete(_ name: String, _ id: RecordID) throws -> SaveOutcome {
    let entity = try plan(name)
    return try save { try $0.delete(entity, id) }.outcome
  }

  func values(_ name: String, _ id: RecordID) throws -> [String: Value]? { try row(plan(name), id) }

  func count(_ name: String) throws -> Int64 {
    let table = try plan(name).table.quotedIdentifier
    return try read { try $0.firstRow("SELECT count(*) FROM \(table)") { $0.int64(0) } } ?? 0
  }

  func integer(_ sql: String) throws -> Int64? { try read { try $0.firstRow(sql) { $0.int64(0) } } }
}
