import CTomboloSQLite

/// One opening of a file: what SQLite calls a file, with the locks that it holds.
///
/// Not sendable: only reached under the lock of its file system.
final class MemoryFileHandle {
  let system: MemoryFileSystem
  let path: String?
  let file: MemoryFile
  /// The life of the machine in which it was opened; a handle of an earlier life only fails.
  let generation: Int
  let isDeletedOnClose: Bool
  private(set) var level = SQLITE_LOCK_NONE
  private var sharedSlots: UInt32 = 0
  private var exclusiveSlots: UInt32 = 0
  /// Kept by every handle that mapped it: SQLite holds pointers into it until it unmaps.
  private var mappedIndex: MemorySharedIndex?

  init(system: MemoryFileSystem, path: String?, file: MemoryFile, generation: Int, isDeletedOnClose: Bool) {
    self.system = system
    self.path = path
    self.file = file
    self.generation = generation
    self.isDeletedOnClose = isDeletedOnClose
  }

  private var others: some Sequence<MemoryFileHandle> { file.handles.lazy.filter { $0 !== self } }

  // MARK: The database file's lock (https://sqlite.org/lockingv3.html)

  func lock(_ wanted: Int32) -> Int32 {
    if level >= wanted { return SQLITE_OK }
    switch wanted {
    case SQLITE_LOCK_SHARED:
      guard !others.contains(where: { $0.level >= SQLITE_LOCK_PENDING }) else { return SQLITE_BUSY }
    case SQLITE_LOCK_RESERVED:
      guard !others.contains(where: { $0.level >= SQLITE_LOCK_RESERVED }) else { return SQLITE_BUSY }
    default:
      guard !others.contains(where: { $0.level >= SQLITE_LOCK_RESERVED }) else { return SQLITE_BUSY }
      guard !others.contains(where: { $0.level >= SQLITE_LOCK_SHARED }) else {
        // New readers stay out from here on, so that the ones that are in run dry.
        level = SQLITE_LOCK_PENDING
        return SQLITE_BUSY
      }
    }
    level = wanted
    return SQLITE_OK
  }

  func unlock(to wanted: Int32) { level = min(level, wanted) }

  var isReserved: Bool { file.handles.contains { $0.level >= SQLITE_LOCK_RESERVED } }

  // MARK: The WAL index (https://sqlite.org/walformat.html#the_wal_index_file_format)

  func map(region: Int, size: Int, extends: Bool) -> UnsafeMutableRawPointer? {
    let index = mappedIndex ?? file.sharedIndex ?? MemorySharedIndex()
    mappedIndex = index
    file.sharedIndex = index
    return index.region(region, size: size, extends: extends)
  }

  func lockSlots(_ slots: UInt32, flags: Int32) -> Int32 {
    if flags & SQLITE_SHM_UNLOCK != 0 {
      sharedSlots &= ~slots
      exclusiveSlots &= ~slots
      return SQLITE_OK
    }
    let isExclusive = flags & SQLITE_SHM_EXCLUSIVE != 0
    let isTaken = others.contains {
      ($0.exclusiveSlots | (isExclusive ? $0.sharedSlots : 0)) & slots != 0
    }
    guard !isTaken else { return SQLITE_BUSY }
    if isExclusive { exclusiveSlots |= slots } else { sharedSlots |= slots }
    return SQLITE_OK
  }

  func unmap() {
    sharedSlots = 0
    exclusiveSlots = 0
    mappedIndex = nil
    // The next connection rebuilds the index from the WAL, as on a real disk.
    if !file.handles.contains(where: { $0.mappedIndex != nil }) { file.sharedIndex = nil }
  }

  func close() {
    unmap()
    level = SQLITE_LOCK_NONE
    file.handles.removeAll { $0 === self }
  }
}

/// The memory that the connections of one database share: the WAL index, in regions that never move.
final class MemorySharedIndex {
  private var regions: [UnsafeMutableRawPointer] = []

  init() {}

  deinit { for region in regions { region.deallocate() } }

  func region(_ number: Int, size: Int, extends: Bool) -> UnsafeMutableRawPointer? {
    guard number < regions.count || extends else { return nil }
    while regions.count <= number {
      let region = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      region.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      regions.append(region)
    }
    return regions[number]
  }
}
