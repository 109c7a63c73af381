/// One file of a ``MemoryFileSystem``: what a reader sees, what a power cut would leave, and what lies between the two.
///
/// Not sendable: only reached under the lock of its file system.
final class MemoryFile {
  /// The unit in which a disk writes: a sector holds one of the versions it went through, or the newest by half.
  static let sectorSize = 512

  /// Something that was done to the file since it was last synced.
  private enum Pending {
    case write(offset: Int, bytes: [UInt8])
    case truncate(size: Int)
  }

  /// What a reader sees.
  private(set) var content: [UInt8] = []
  /// What is on the platter.
  private var durable: [UInt8] = []
  /// Whether the directory entry is on the platter.
  private(set) var isEntryDurable = false
  private var pending: [Pending] = []

  /// The open handles, in the order of opening; they hold the file's locks.
  var handles: [MemoryFileHandle] = []
  /// The WAL index that all connections of this life of the machine share.
  var sharedIndex: MemorySharedIndex?

  init() {}

  /// A file that is on the platter, whole.
  init(content: [UInt8]) {
    self.content = content
    durable = content
    isEntryDurable = true
  }

  var hasUnsyncedData: Bool { !pending.isEmpty || !isEntryDurable }

  // MARK: Input and output

  /// Copies bytes out; what lies behind the end is zero. Returns whether all of them were there.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    let available = max(0, min(buffer.count, content.count - offset))
    if available > 0 {
      content.withUnsafeBytes { source in
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[offset..<offset + available]))
      }
    }
    guard available < buffer.count else { return true }
    for index in available..<buffer.count { buffer[index] = 0 }
    return false
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    Self.put(bytes, at: offset, in: &content)
    pending.append(.write(offset: offset, bytes: [UInt8](bytes)))
  }

  func truncate(to size: Int) {
    Self.resize(&content, to: size)
    pending.append(.truncate(size: size))
  }

  func sync() {
    for operation in pending {
      switch operation {
      case .write(let offset, let bytes): bytes.withUnsafeBytes { Self.put($0, at: offset, in: &durable) }
      case .truncate(let size): Self.resize(&durable, to: size)
      }
    }
    pending.removeAll()
  }

  /// The directory was synced: the file's name is on the platter, whatever its bytes are.
  func syncEntry() { isEntryDurable = true }

  private static func put(_ bytes: UnsafeRawBufferPointer, at offset: Int, in content: inout [UInt8]) {
    if content.count < offset + bytes.count { resize(&content, to: offset + bytes.count) }
    content.withUnsafeMutableBytes { target in
      UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + bytes.count]).copyMemory(from: bytes)
    }
  }

  private static func resize(_ content: inout [UInt8], to size: Int) {
    if size < content.count {
      content.removeSubrange(size...)
    } else {
      content.append(contentsOf: [UInt8](repeating: 0, count: size - content.count))
    }
  }

  // MARK: Power cuts

  /// What a power cut leaves of the file, whose name is on the platter.
  ///
  /// Each sector that was written since the last sync goes through a row of versions. One of them is on the platter;
  /// sometimes the first bytes are those of the version after. Truncations happen in their order, up to a chosen one.
  func afterPowerCut(_ survival: MemoryFileSystem.Survival, random: () -> UInt64) -> MemoryFile {
    switch survival {
    case .everything: return MemoryFile(content: content)
    case .synced: return MemoryFile(content: durable)
    case .chosen: break
    }
    var versions: [Int: Int] = [:]
    var truncations = 0
    for operation in pending {
      switch operation {
      case .write(let offset, let bytes):
        for sector in Self.sectors(offset, bytes.count) { versions[sector, default: 0] += 1 }
      case .truncate: truncations += 1
      }
    }
    var kept: [Int: Int] = [:]
    var torn: [Int: Int] = [:]
    for (sector, count) in versions.sorted(by: { $0.key < $1.key }) {
      let version = Int(random() % UInt64(count + 1))
      kept[sector] = version
      if version < count, random() % 4 == 0 { torn[sector] = Int(random() % UInt64(Self.sectorSize)) }
    }
    let keptTruncations = Int(random() % UInt64(truncations + 1))
    return MemoryFile(content: replay(kept: kept, torn: torn, truncations: keptTruncations))
  }

  private func replay(kept: [Int: Int], torn: [Int: Int], truncations: Int) -> [UInt8] {
    var result = durable
    var seen: [Int: Int] = [:]
    var truncated = 0
    for operation in pending {
      switch operation {
      case .truncate(let size):
        truncated += 1
        if truncated <= truncations { Self.resize(&result, to: size) }
      case .write(let offset, let bytes):
        for sector in Self.sectors(offset, bytes.count) {
          let number = seen[sector, default: 0]
          seen[sector] = number + 1
          let start = max(offset, sector * Self.sectorSize)
          var end = min(offset + bytes.count, (sector + 1) * Self.sectorSize)
          let limit = kept[sector, default: 0]
          if number == limit, let tear = torn[sector] {
            end = min(end, sector * Self.sectorSize + tear)
          } else if number >= limit {
            continue
          }
          guard start < end else { continue }
          bytes.withUnsafeBytes {
            Self.put(UnsafeRawBufferPointer(rebasing: $0[start - offset..<end - offset]), at: start, in: &result)
          }
        }
      }
    }
    return result
  }

  private static func sectors(_ offset: Int, _ count: Int) -> ClosedRange<Int> {
    offset / sectorSize...(offset + max(count, 1) - 1) / sectorSize
  }
}
