import Synchronization
import TomboloSQLite

/// A disk in memory with a seeded source and a virtual clock, unregistered when the test lets go of it.
final class TestDisk: Sendable {
  let system: MemoryFileSystem
  private let state: State

  private final class State: Sendable {
    let generator: Mutex<UInt64>
    let microseconds = Atomic<UInt64>(0)
    let whileSleeping = Mutex<(@Sendable () -> Void)?>(nil)
    init(seed: UInt64) { generator = Mutex(seed) }

    /// SplitMix64.
    func next() -> UInt64 {
      generator.withLock { state in
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
      }
    }
  }

  private static let count = Atomic<Int>(0)

  init(seed: UInt64 = 1) throws {
    let state = State(seed: seed)
    self.state = state
    let number = TestDisk.count.add(1, ordering: .relaxed).newValue
    system = try MemoryFileSystem(
      name: "test-disk-\(number)",
      environment: .init(
        milliseconds: { 1_700_000_000_000 + state.microseconds.load(ordering: .relaxed) / 1000 },
        random: { state.next() },
        sleep: { microseconds in
          state.microseconds.add(UInt64(microseconds), ordering: .relaxed)
          state.whileSleeping.withLock { $0 }?()
        }))
  }

  /// Virtual time that SQLite waited for.
  var sleptMicroseconds: UInt64 { state.microseconds.load(ordering: .relaxed) }

  func whileSleeping(_ body: @escaping @Sendable () -> Void) { state.whileSleeping.withLock { $0 = body } }

  func connect(_ path: String = "main.db", busyTimeoutMilliseconds: Int32 = 100) throws -> Connection {
    var options = Connection.Options()
    options.vfs = system.name
    options.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    return try Connection(path: path, options: options)
  }
}

extension Connection {
  /// The first column of the first row, as text.
  func text(_ sql: String) throws -> String {
    let statement = try prepare(sql, persistent: false)
    defer { statement.reset() }
    return try statement.step() ? statement.string(0) : ""
  }

  func integer(_ sql: String) throws -> Int64 {
    let statement = try prepare(sql, persistent: false)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }
}
