import CTomboloSQLite
import Foundation

/// A prepared statement. Not sendable: it belongs to its connection's owner.
///
/// Parameters count from 1, columns from 0, as in SQLite.
package final class Statement {
  private let handle: OpaquePointer
  private unowned let connection: Connection
  package let sql: String

  /// What was bound since ``forgetBound()`` that a writer has to look at before it runs the statement.
  package struct BoundNotes: Sendable {
    /// Bit n is parameter n; bit 63 stands for every parameter from 63 on.
    package fileprivate(set) var nulls: UInt64 = 0
    /// The same, for text with a character from U+0300 on: only such text can be in another than composed form (NFC).
    package fileprivate(set) var wideTexts: UInt64 = 0
    /// A number that is not a number, which SQLite would store as NULL.
    package fileprivate(set) var hasNaN = false
    /// Of texts and blobs.
    package fileprivate(set) var byteCount = 0

    package static func bit(_ index: Int32) -> UInt64 { 1 << UInt64(min(index, 63)) }
  }
  package private(set) var bound = BoundNotes()
  package func forgetBound() { bound = BoundNotes() }

  init(_ sql: String, on connection: Connection, handle: OpaquePointer) {
    self.sql = sql
    self.connection = connection
    self.handle = handle
  }

  deinit { sqlite3_finalize(handle) }

  // MARK: Binding

  package func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }
  package func bind(_ value: Int, at index: Int32) { sqlite3_bind_int64(handle, index, Int64(value)) }
  /// NaN would be stored as NULL: the caller turns it away first.
  package func bind(_ value: Double, at index: Int32) {
    if value.isNaN { bound.hasNaN = true }
    sqlite3_bind_double(handle, index, value)
  }
  package func bindNull(at index: Int32) {
    bound.nulls |= BoundNotes.bit(index)
    sqlite3_bind_null(handle, index)
  }

  package func bind(_ value: String, at index: Int32) {
    var value = value
    value.withUTF8 { buffer in
      // An empty string may have no base address, and SQLite takes a null pointer for NULL.
      guard let base = buffer.baseAddress else {
        tombolo_bind_text(handle, index, "", 0)
        return
      }
      // The lead bytes of U+0300 and above are 0xCC and above.
      var highest: UInt8 = 0
      for byte in buffer { highest = max(highest, byte) }
      if highest >= 0xCC { bound.wideTexts |= BoundNotes.bit(index) }
      bound.byteCount += buffer.count
      base.withMemoryRebound(to: CChar.self, capacity: buffer.count) { pointer in
        _ = tombolo_bind_text(handle, index, pointer, Int32(buffer.count))
      }
    }
  }

  package func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    if let base = bytes.baseAddress, !bytes.isEmpty {
      bound.byteCount += bytes.count
      tombolo_bind_blob(handle, index, base, Int32(bytes.count))
    } else {
      sqlite3_bind_zeroblob(handle, index, 0)
    }
  }

  package func bind(_ bytes: [UInt8], at index: Int32) { bytes.withUnsafeBytes { bind($0, at: index) } }

  /// Sixteen bytes given as two big-endian halves, without an array in between.
  package func bind(high: UInt64, low: UInt64, at index: Int32) {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { bind($0, at: index) }
  }

  // MARK: Stepping

  /// Runs to the next row; false at the end. The statement stays open until ``reset()``.
  package func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let error = connection.error(sql: sql)
      sqlite3_reset(handle)
      throw error
    }
  }

  /// Runs a statement that returns no rows, and resets it.
  package func run() throws {
    defer { sqlite3_reset(handle) }
    while try step() {}
  }

  /// Ends the statement's read, so that it holds no lock; its parameters stay bound.
  package func reset() { sqlite3_reset(handle) }

  package func clearBindings() { sqlite3_clear_bindings(handle) }

  package var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }
  package var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  // MARK: Columns of the current row

  package enum StorageClass: Int32 { case integer = 1, real = 2, text = 3, blob = 4, null = 5 }

  package var columnCount: Int32 { sqlite3_column_count(handle) }
  package func columnName(_ index: Int32) -> String {
    sqlite3_column_name(handle, index).map { String(cString: $0) } ?? ""
  }
  package func storageClass(_ index: Int32) -> StorageClass {
    StorageClass(rawValue: sqlite3_column_type(handle, index)) ?? .null
  }
  package func isNull(_ index: Int32) -> Bool { sqlite3_column_type(handle, index) == SQLITE_NULL }
  package func int64(_ index: Int32) -> Int64 { sqlite3_column_int64(handle, index) }
  package func double(_ index: Int32) -> Double { sqlite3_column_double(handle, index) }

  package func string(_ index: Int32) -> String {
    guard let text = sqlite3_column_text(handle, index) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, index))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// Whether the column of the current row holds this very text, byte for byte; nothing is copied.
  package func holds(_ text: String, _ index: Int32) -> Bool {
    guard sqlite3_column_type(handle, index) == SQLITE_TEXT else { return false }
    let start = sqlite3_column_text(handle, index)
    let count = Int(sqlite3_column_bytes(handle, index))
    guard let start, count > 0 else { return text.isEmpty }
    var text = text
    return text.withUTF8 { $0.count == count && $0.baseAddress.map { memcmp($0, start, count) == 0 } ?? false }
  }

  package func bytes(_ index: Int32) -> [UInt8] { withBytes(index) { [UInt8]($0) } }

  /// The bytes of a blob or a text without a copy; valid only inside the closure.
  package func withBytes<Result>(_ index: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let pointer = sqlite3_column_blob(handle, index)
    let count = Int(sqlite3_column_bytes(handle, index))
    return try body(UnsafeRawBufferPointer(start: pointer, count: pointer == nil ? 0 : count))
  }

  /// Two big-endian halves of a sixteen-byte blob; nil for NULL and for any other length.
  package func halves(_ index: Int32) -> (high: UInt64, low: UInt64)? {
    withBytes(index) { bytes in
      guard bytes.count == 16 else { return nil }
      return (
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }
}
