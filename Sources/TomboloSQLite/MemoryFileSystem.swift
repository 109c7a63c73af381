import CTomboloSQLite
import Foundation

/// A machine's disk in memory, as a virtual file system for SQLite (https://sqlite.org/vfs.html).
///
/// It tells what was synced from what was only written, and can lose power at any operation: what a run of SQLite leaves
/// behind then is found by ``powerCut(_:)`` and opening the files again. Several connections of one process share the WAL index,
/// so WAL works as on a real disk. Time and randomness come in, so that a run is a function of its seed. (SQLite's own
/// generator, behind `random()` and the WAL's salts, is seeded once a process by the system's VFS: nothing that is compared
/// between two runs may come from it.)
///
/// Connections name it by ``name``; it must live as long as they do.
package final class MemoryFileSystem: @unchecked Sendable {
  // Everything mutable is guarded by `lock`; files and handles are only reached under it.

  /// What is left of writes that no sync had confirmed.
  package enum Survival: Hashable, Sendable {
    /// All of it: the process died, the machine did not.
    case everything
    /// None of it.
    case synced
    /// For each sector one of its versions, or a torn one, as the seeded source says.
    case chosen
  }

  /// Where time, random bits and waiting come from.
  package struct Environment: Sendable {
    /// Milliseconds since 1970.
    package var milliseconds: @Sendable () -> UInt64
    package var random: @Sendable () -> UInt64
    /// Waits this many microseconds: a virtual clock moves on.
    package var sleep: @Sendable (UInt32) -> Void
    package init(
      milliseconds: @escaping @Sendable () -> UInt64, random: @escaping @Sendable () -> UInt64,
      sleep: @escaping @Sendable (UInt32) -> Void
    ) {
      self.milliseconds = milliseconds
      self.random = random
      self.sleep = sleep
    }
  }

  /// The name it is registered under.
  package let name: String
  let environment: Environment
  private let lock = NSLock()
  private var files: [String: MemoryFile] = [:]
  /// Deleted files whose deletion is not on the platter yet.
  private var ghosts: [String: MemoryFile] = [:]
  private var operations: UInt64 = 0
  private var failingOperation: UInt64?
  private var isDown = false
  private var capacity: Int?
  private var ignoresSyncs = false
  private(set) var generation = 0
  private let methods: UnsafeMutablePointer<sqlite3_vfs>
  private let cName: UnsafeMutablePointer<CChar>

  /// Registers a disk under a name that no other has at the time.
  package init(name: String, environment: Environment) throws {
    self.name = name
    self.environment = environment
    let bytes = name.utf8CString
    cName = .allocate(capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { cName[index] = byte }
    methods = .allocate(capacity: 1)
    methods.initialize(to: Self.table(name: cName))
    methods.pointee.pAppData = Unmanaged.passUnretained(self).toOpaque()
    let isTaken = sqlite3_vfs_find(cName) != nil
    let code = isTaken ? SQLITE_MISUSE : sqlite3_vfs_register(methods, 0)
    guard code == SQLITE_OK else { throw SQLiteError(code: code, message: "the VFS name \(name) is taken") }
  }

  deinit {
    // Harmless where it was never registered: SQLite looks for the pointer, not for the name.
    sqlite3_vfs_unregister(methods)
    methods.deallocate()
    cName.deallocate()
  }

  func locked<Result>(_ body: () -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body()
  }

  // MARK: Faults

  /// Writes, truncations, syncs and deletions so far.
  package var operationCount: UInt64 { locked { operations } }

  /// Lets the power go at the `count`-th operation from now (1 is the next): that one and all that follow fail.
  package func failAfter(operations count: UInt64) { locked { failingOperation = operations + count } }

  package func cancelFailure() { locked { failingOperation = nil } }

  /// Whether the power went as ``failAfter(operations:)`` had asked.
  package var hasFailed: Bool { locked { isDown } }

  /// Makes the disk a liar: it confirms syncs and does nothing.
  package func ignoreSyncs() { locked { ignoresSyncs = true } }

  /// The most bytes that all files together may have; nil for no limit. A write beyond fails with "disk full".
  package func limit(toBytes bytes: Int?) { locked { capacity = bytes } }

  /// Ends this life of the machine: what survives is on the platter, power is back, and every handle opened before fails.
  package func powerCut(_ survival: Survival) {
    locked {
      let random = environment.random
      var survivors: [String: MemoryFile] = [:]
      for path in Set(files.keys).union(ghosts.keys).sorted() {
        guard let file = survivor(at: path, survival, random: random) else { continue }
        survivors[path] = file.afterPowerCut(survival, random: random)
      }
      startLife(with: survivors)
    }
  }

  /// Which file a name leads to after a power cut: the one that was there last, or the one that the platter's directory still has.
  private func survivor(at path: String, _ survival: Survival, random: () -> UInt64) -> MemoryFile? {
    let file = files[path]
    if survival == .everything || file?.isEntryDurable == true { return file }
    if survival == .synced { return ghosts[path] }
    return random() % 2 == 0 ? file : ghosts[path]
  }

  /// Every name, and every deletion, is on the platter from here on.
  private func syncDirectory() {
    ghosts = [:]
    for file in files.values { file.syncEntry() }
  }

  private func startLife(with survivors: [String: MemoryFile]) {
    files = survivors
    ghosts = [:]
    generation += 1
    isDown = false
    failingOperation = nil
  }

  // MARK: Copies

  /// Every file's bytes as a reader sees them: what a copy of the folder taken now would hold.
  package func image() -> [String: [UInt8]] { locked { files.mapValues(\.content) } }

  /// Puts a copy in the place of everything; every handle opened before fails.
  package func restore(_ image: [String: [UInt8]]) {
    locked { startLife(with: image.mapValues { MemoryFile(content: $0) }) }
  }

  /// One file's bytes as a reader sees them, nil where there is none.
  package func contents(of path: String) -> [UInt8]? { locked { files[path]?.content } }

  /// Files that exist, sorted.
  package var paths: [String] { locked { files.keys.sorted() } }

  /// The bytes of all files together.
  package var byteCount: Int { locked { files.values.reduce(0) { $0 + $1.content.count } } }

  /// Whether anything was written and not synced.
  package var hasUnsyncedData: Bool { locked { files.values.contains(where: \.hasUnsyncedData) || !ghosts.isEmpty } }

  // MARK: What the methods do; each is called under the lock

  /// Counts one operation; false where the power is gone.
  private func spend() -> Bool {
    operations += 1
    if let failing = failingOperation, operations >= failing { isDown = true }
    return !isDown
  }

  func isAlive(_ handle: MemoryFileHandle) -> Bool { !isDown && handle.generation == generation }

  func open(_ path: String?, creates: Bool, isDeletedOnClose: Bool) -> MemoryFileHandle? {
    guard !isDown else { return nil }
    let file: MemoryFile
    if let path {
      if let existing = files[path] {
        file = existing
      } else if creates {
        file = MemoryFile()
        files[path] = file
      } else {
        return nil
      }
    } else {
      file = MemoryFile()
    }
    let handle = MemoryFileHandle(
      system: self, path: path, file: file, generation: generation, isDeletedOnClose: isDeletedOnClose)
    file.handles.append(handle)
    return handle
  }

  func close(_ handle: MemoryFileHandle) {
    handle.close()
    guard handle.isDeletedOnClose, let path = handle.path, files[path] === handle.file else { return }
    files[path] = nil
  }

  func delete(_ path: String, isSynced: Bool) -> Int32 {
    guard spend() else { return MemoryFileFailure.delete }
    guard let file = files.removeValue(forKey: path) else { return MemoryFileFailure.deleteNoEntry }
    if file.isEntryDurable { ghosts[path] = file }
    if isSynced { syncDirectory() }
    return SQLITE_OK
  }

  func size(of path: String) -> Int? { isDown ? nil : files[path]?.content.count }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, to handle: MemoryFileHandle) -> Int32 {
    guard isAlive(handle), spend() else { return MemoryFileFailure.write }
    if let capacity {
      let growth = max(0, offset + bytes.count - handle.file.content.count)
      let used = files.values.reduce(0) { $0 + $1.content.count }
      guard growth == 0 || used + growth <= capacity else { return SQLITE_FULL }
    }
    handle.file.write(bytes, at: offset)
    return SQLITE_OK
  }

  func truncate(_ handle: MemoryFileHandle, to size: Int) -> Int32 {
    guard isAlive(handle), spend() else { return MemoryFileFailure.truncate }
    handle.file.truncate(to: size)
    return SQLITE_OK
  }

  func sync(_ handle: MemoryFileHandle) -> Int32 {
    guard isAlive(handle), spend() else { return MemoryFileFailure.sync }
    guard !ignoresSyncs else { return SQLITE_OK }
    handle.file.sync()
    // As the unix VFS does for a file that it made.
    if !handle.file.isEntryDurable, handle.path != nil { syncDirectory() }
    return SQLITE_OK
  }
}
