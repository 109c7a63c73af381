/// One stored value, in the storage class that SQLite and the wire give it.
///
/// What a value means is the schema's matter: Bool and integers are `integer`, Double and Date (seconds since 2001) `real`,
/// Decimal, URL and Codable `text`, UUID, Data and references `blob`, an enum is its raw value.
package enum Value: Hashable, Sendable {
  case null
  case integer(Int64)
  /// Never NaN, never -0.0: both are turned away or normalised before a value is made.
  case real(Double)
  case text(String)
  case blob([UInt8])

  /// A reference to a record, or nil.
  package init(reference: RecordID?) { self = reference.map { .blob($0.bytes) } ?? .null }

  /// The record that a reference names; nil for null and for anything that is no reference.
  package var reference: RecordID? {
    guard case .blob(let bytes) = self else { return nil }
    return RecordID(bytes: bytes)
  }

  package var isNull: Bool { self == .null }

  /// Equality of storage: same class, same bytes. (Swift's String holds composed and decomposed forms equal; storage does not.)
  package static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.integer(let x), .integer(let y)): x == y
    case (.real(let x), .real(let y)): x == y
    case (.text(let x), .text(let y)): x.utf8.elementsEqual(y.utf8)
    case (.blob(let x), .blob(let y)): x == y
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value)
    case .text(let value): for byte in value.utf8 { hasher.combine(byte) }
    case .blob(let value): hasher.combine(value)
    }
  }
}
