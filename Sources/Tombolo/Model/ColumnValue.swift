public import Foundation
package import TomboloProtocol

/// A type that one column holds as it is, without JSON. The macro's code finds it by overloading.
public protocol _$ColumnValue {
  /// The type's name in the schema document.
  static var _$columnType: String { get }
  /// Reads a column that is not NULL.
  static func _$read(_ row: _$RowReader, _ column: Int32) throws -> Self
  /// Binds the value to the writer's parameter.
  func _$write(_ writer: _$ColumnWriter) throws
}

/// A fixed-width integer: read and written through 64 bits, and checked.
public protocol _$IntegerColumnValue: _$ColumnValue, FixedWidthInteger {}

extension _$IntegerColumnValue {
  /// Reads a column that is not NULL.
  public static func _$read(_ row: _$RowReader, _ column: Int32) throws -> Self {
    guard let value = Self(exactly: try row.integer(column)) else { throw row.unreadable(column) }
    return value
  }
  /// Binds the value to the writer's parameter.
  public func _$write(_ writer: _$ColumnWriter) throws {
    guard let value = Int64(exactly: self) else { throw writer.refusal(.integerOutOfRange, "is above Int64.max") }
    writer.put(value)
  }
}

/// A string, stored as text.
extension String: _$ColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "string" }
  /// Reads a column that is not NULL.
  public static func _$read(_ row: _$RowReader, _ column: Int32) throws -> String { try row.text(column) }
  /// Binds the value to the writer's parameter.
  public func _$write(_ writer: _$ColumnWriter) throws { writer.put(self) }
}
extension Bool: _$ColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "bool" }
  /// Reads a column that is not NULL.
  public static func _$read(_ row: _$RowReader, _ column: Int32) throws -> Bool { try row.integer(column) != 0 }
  /// Binds the value to the writer's parameter.
  public func _$write(_ writer: _$ColumnWriter) throws { writer.put(self ? Int64(1) : 0) }
}
extension Double: _$ColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "double" }
  /// Reads a column that is not NULL.
  public static func _$read(_ row: _$RowReader, _ column: Int32) throws -> Double { try row.real(column) }
  /// Binds the value to the writer's parameter.
  public func _$write(_ writer: _$ColumnWriter) throws { try writer.put(self) }
}
extension Float: _$ColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "float" }
  /// Reads a column that is not NULL.
  public static func _$read(_ row: _$RowReader, _ column: Int32) throws -> Float { Float(try row.real(column)) }
  /// Binds the value to the writer's parameter.
  public func _$write(_ writer: _$ColumnWriter) throws { try writer.put(Double(self)) }
}
extension Date: _$ColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "date" }
  /// Reads a column that is not NULL: seconds since 2001, exactly.
  public static func _$read(_ row: _$RowReader, _ column: Int32) throws -> Date {
    Date(timeIntervalSinceReferenceDate: try row.real(column))
  }
  /// Binds the value to the writer's parameter.
  public func _$write(_ writer: _$ColumnWriter) throws { try writer.put(timeIntervalSinceReferenceDate) }
}
extension UUID: _$ColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "uuid" }
  /// Reads a column that is not NULL.
  public static func _$read(_ row: _$RowReader, _ column: Int32) throws -> UUID { UUID(try row.record(column)) }
  /// Binds the value to the writer's parameter.
  public func _$write(_ writer: _$ColumnWriter) throws { writer.put(RecordID(self)) }
}
extension Data: _$ColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "data" }
  /// Reads a column that is not NULL.
  public static func _$read(_ row: _$RowReader, _ column: Int32) throws -> Data { try row.data(column) }
  /// Binds the value to the writer's parameter.
  public func _$write(_ writer: _$ColumnWriter) throws { withUnsafeBytes { writer.put($0) } }
}
extension URL: _$ColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "url" }
  /// Reads a column that is not NULL.
  public static func _$read(_ row: _$RowReader, _ column: Int32) throws -> URL {
    guard let url = URL(string: try row.text(column)) else { throw row.unreadable(column) }
    return url
  }
  /// Binds the value to the writer's parameter.
  public func _$write(_ writer: _$ColumnWriter) throws { writer.put(absoluteString) }
}
extension Decimal: _$ColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "decimal" }
  /// Reads a column that is not NULL: plain text without exponent.
  public static func _$read(_ row: _$RowReader, _ column: Int32) throws -> Decimal {
    guard let value = Decimal(string: try row.text(column), locale: Locale(identifier: "en_US_POSIX")) else {
      throw row.unreadable(column)
    }
    return value
  }
  /// Binds the value to the writer's parameter.
  public func _$write(_ writer: _$ColumnWriter) throws {
    if isNaN { throw writer.refusal(.notANumber, "is not a number") }
    guard let text = try? DecimalForm.canonical(description) else {
      throw writer.refusal(.decimalOutOfRange, "has more digits than can be kept exactly")
    }
    writer.put(text)
  }
}
extension Int: _$IntegerColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "int64" }
}
extension Int8: _$IntegerColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "int8" }
}
extension Int16: _$IntegerColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "int16" }
}
extension Int32: _$IntegerColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "int32" }
}
extension Int64: _$IntegerColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "int64" }
}
extension UInt: _$IntegerColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "uint64" }
}
extension UInt8: _$IntegerColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "uint8" }
}
extension UInt16: _$IntegerColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "uint16" }
}
extension UInt32: _$IntegerColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "uint32" }
}
extension UInt64: _$IntegerColumnValue {
  /// The type's name in the schema document.
  public static var _$columnType: String { "uint64" }
}

extension UUID {
  /// The same sixteen bytes.
  package init(_ record: RecordID) {
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &bytes) {
      $0.storeBytes(of: record.high.bigEndian, toByteOffset: 0, as: UInt64.self)
      $0.storeBytes(of: record.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    self.init(uuid: bytes)
  }
}

extension RecordID {
  /// The same sixteen bytes.
  package init(_ uuid: UUID) {
    let halves = withUnsafeBytes(of: uuid.uuid) {
      (
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    self.init(high: halves.0, low: halves.1)
  }
}
