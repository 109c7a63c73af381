import CTomboloSQLite

/// The C side of ``MemoryFileSystem``: SQLite's two tables of functions, each a thin call into Swift.
///
/// `sqlite3_io_methods` is given in version 2 (shared memory, no memory mapping), `sqlite3_vfs` in version 2
/// (time as an integer).
extension MemoryFileSystem {
  /// What SQLite allocates for an open file: its own part first, then ours.
  struct OpenFile {
    var base: sqlite3_file
    var handle: Unmanaged<MemoryFileHandle>?
  }

  static func table(name: UnsafePointer<CChar>) -> sqlite3_vfs {
    var table = sqlite3_vfs()
    table.iVersion = 2
    table.szOsFile = Int32(MemoryLayout<OpenFile>.size)
    table.mxPathname = 1024
    table.zName = name
    table.xOpen = { openFile($0, $1, $2, $3, $4) }
    table.xDelete = { vfs, path, isSynced in
      guard let system = MemoryFileSystem.of(vfs), let path else { return MemoryFileFailure.delete }
      let name = String(cString: path)
      return system.locked { system.delete(name, isSynced: isSynced != 0) }
    }
    table.xAccess = { vfs, path, flags, result in
      guard let system = MemoryFileSystem.of(vfs), let path, let result else { return MemoryFileFailure.access }
      let name = String(cString: path)
      let size = system.locked { system.size(of: name) }
      // As the unix VFS: for "exists" an empty file does not count.
      result.pointee = flags == SQLITE_ACCESS_EXISTS ? ((size ?? 0) > 0 ? 1 : 0) : (size == nil ? 0 : 1)
      return SQLITE_OK
    }
    table.xFullPathname = { _, path, capacity, output in
      guard let path, let output else { return SQLITE_CANTOPEN }
      var index = 0
      while index < Int(capacity) {
        output[index] = path[index]
        if path[index] == 0 { return SQLITE_OK }
        index += 1
      }
      return SQLITE_CANTOPEN
    }
    table.xRandomness = { vfs, count, output in
      guard let system = MemoryFileSystem.of(vfs), let output else { return 0 }
      for index in 0..<Int(count) { output[index] = CChar(truncatingIfNeeded: system.environment.random()) }
      return count
    }
    table.xSleep = { vfs, microseconds in
      MemoryFileSystem.of(vfs)?.environment.sleep(UInt32(max(0, microseconds)))
      return microseconds
    }
    table.xCurrentTime = { vfs, output in
      guard let system = MemoryFileSystem.of(vfs), let output else { return SQLITE_ERROR }
      output.pointee = 2_440_587.5 + Double(system.environment.milliseconds()) / 86_400_000
      return SQLITE_OK
    }
    table.xGetLastError = { _, _, _ in 0 }
    table.xCurrentTimeInt64 = { vfs, output in
      guard let system = MemoryFileSystem.of(vfs), let output else { return SQLITE_ERROR }
      // Milliseconds since noon in Greenwich on 24 November 4714 B.C.
      output.pointee = 210_866_760_000_000 + Int64(system.environment.milliseconds())
      return SQLITE_OK
    }
    return table
  }

  fileprivate static func of(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> MemoryFileSystem? {
    guard let data = vfs?.pointee.pAppData else { return nil }
    return Unmanaged<MemoryFileSystem>.fromOpaque(data).takeUnretainedValue()
  }

  /// Runs `body` with an open file's handle, under the lock.
  fileprivate static func with(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ body: (MemoryFileSystem, MemoryFileHandle) -> Int32
  ) -> Int32 {
    guard let handle = openHandle(file)?.takeUnretainedValue() else { return SQLITE_IOERR }
    return handle.system.locked { body(handle.system, handle) }
  }

  fileprivate static func openHandle(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Unmanaged<MemoryFileHandle>? {
    guard let file else { return nil }
    return UnsafeMutableRawPointer(file).assumingMemoryBound(to: OpenFile.self).pointee.handle
  }
}

private func openFile(
  _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ path: sqlite3_filename?, _ file: UnsafeMutablePointer<sqlite3_file>?,
  _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
) -> Int32 {
  guard let file else { return SQLITE_CANTOPEN }
  let target = UnsafeMutableRawPointer(file).assumingMemoryBound(to: MemoryFileSystem.OpenFile.self)
  // Without methods SQLite does not close a file whose opening failed.
  target.pointee = MemoryFileSystem.OpenFile(base: sqlite3_file(pMethods: nil), handle: nil)
  guard let system = MemoryFileSystem.of(vfs) else { return SQLITE_CANTOPEN }
  let name = path.map { String(cString: $0) }
  let isOpen = system.locked {
    guard
      let handle = system.open(
        name, creates: flags & SQLITE_OPEN_CREATE != 0, isDeletedOnClose: flags & SQLITE_OPEN_DELETEONCLOSE != 0)
    else { return false }
    target.pointee = MemoryFileSystem.OpenFile(
      base: sqlite3_file(pMethods: fileMethods.pointer), handle: Unmanaged.passRetained(handle))
    return true
  }
  guard isOpen else { return SQLITE_CANTOPEN }
  outFlags?.pointee = flags
  return SQLITE_OK
}

/// The table that every open file points to; it is never freed.
private struct FileMethods: @unchecked Sendable {
  // Written once, before anybody reads it.
  let pointer: UnsafePointer<sqlite3_io_methods>
}

private let fileMethods: FileMethods = {
  let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
  var methods = sqlite3_io_methods()
  methods.iVersion = 2
  setDataMethods(&methods)
  setLockMethods(&methods)
  setSharedMemoryMethods(&methods)
  pointer.initialize(to: methods)
  return FileMethods(pointer: UnsafePointer(pointer))
}()

private func setDataMethods(_ methods: inout sqlite3_io_methods) {
  methods.xClose = { file in
    guard let handle = MemoryFileSystem.openHandle(file)?.takeRetainedValue() else { return SQLITE_OK }
    handle.system.locked { handle.system.close(handle) }
    file?.pointee.pMethods = nil
    return SQLITE_OK
  }
  methods.xRead = { file, buffer, count, offset in
    MemoryFileSystem.with(file) { system, handle in
      guard system.isAlive(handle), let buffer else { return MemoryFileFailure.read }
      let target = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
      return handle.file.read(into: target, at: Int(offset)) ? SQLITE_OK : MemoryFileFailure.shortRead
    }
  }
  methods.xWrite = { file, buffer, count, offset in
    MemoryFileSystem.with(file) { system, handle in
      system.write(UnsafeRawBufferPointer(start: buffer, count: Int(count)), at: Int(offset), to: handle)
    }
  }
  methods.xTruncate = { file, size in MemoryFileSystem.with(file) { $0.truncate($1, to: Int(size)) } }
  methods.xSync = { file, _ in MemoryFileSystem.with(file) { $0.sync($1) } }
  methods.xFileSize = { file, size in
    MemoryFileSystem.with(file) { system, handle in
      guard system.isAlive(handle) else { return MemoryFileFailure.size }
      size?.pointee = Int64(handle.file.content.count)
      return SQLITE_OK
    }
  }
  methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
  methods.xSectorSize = { _ in Int32(MemoryFile.sectorSize) }
  // A power cut never changes a byte beside those that were being written.
  methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
}

private func setLockMethods(_ methods: inout sqlite3_io_methods) {
  methods.xLock = { file, level in
    MemoryFileSystem.with(file) { $0.isAlive($1) ? $1.lock(level) : MemoryFileFailure.lock }
  }
  methods.xUnlock = { file, level in
    MemoryFileSystem.with(file) { _, handle in
      handle.unlock(to: level)
      return SQLITE_OK
    }
  }
  methods.xCheckReservedLock = { file, result in
    MemoryFileSystem.with(file) { _, handle in
      result?.pointee = handle.isReserved ? 1 : 0
      return SQLITE_OK
    }
  }
}

private func setSharedMemoryMethods(_ methods: inout sqlite3_io_methods) {
  methods.xShmMap = { file, region, size, extends, output in
    MemoryFileSystem.with(file) { system, handle in
      guard system.isAlive(handle) else { return MemoryFileFailure.sharedMemoryMap }
      output?.pointee = handle.map(region: Int(region), size: Int(size), extends: extends != 0)
      return SQLITE_OK
    }
  }
  methods.xShmLock = { file, first, count, flags in
    MemoryFileSystem.with(file) { system, handle in
      guard system.isAlive(handle) || flags & SQLITE_SHM_UNLOCK != 0 else { return MemoryFileFailure.sharedMemoryLock }
      return handle.lockSlots(UInt32((1 << count) - 1) << UInt32(first), flags: flags)
    }
  }
  // The file system's lock is a full barrier.
  methods.xShmBarrier = { file in _ = MemoryFileSystem.with(file) { _, _ in SQLITE_OK } }
  methods.xShmUnmap = { file, _ in
    MemoryFileSystem.with(file) { _, handle in
      handle.unmap()
      return SQLITE_OK
    }
  }
}
