/// JSON (RFC 8259) as Tombolo needs it: integers exact in 64 bits and apart from reals, objects sorted by the bytes of
/// their keys, no key twice.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// A number that was written with a point or an exponent. Never NaN or infinite.
  case real(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  package static func object(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    .object(JSONObject(members.compactMap { key, value in value.map { (key, $0) } }))
  }

  /// The member of an object; nil where there is none, and for anything that is no object.
  package subscript(key: String) -> JSONValue? {
    guard case .object(let object) = self else { return nil }
    return object[key]
  }

  /// What it is, for messages.
  package var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "a Boolean"
    case .integer: "an integer"
    case .real: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

package struct JSONObject: Hashable, Sendable {
  package struct Member: Hashable, Sendable {
    package let key: String
    package let value: JSONValue
  }

  /// Sorted by the bytes of the keys.
  package let members: [Member]
  /// A key that was given twice: the first of them.
  package let duplicateKey: String?

  package init(_ pairs: [(String, JSONValue)]) {
    members = pairs.map { Member(key: $0.0, value: $0.1) }.sorted { $0.key.isBytewiseLess(than: $1.key) }
    duplicateKey = zip(members, members.dropFirst()).first { $0.key.utf8.elementsEqual($1.key.utf8) }?.0.key
  }

  package subscript(key: String) -> JSONValue? {
    members.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
  }
}

extension String {
  /// The order that canonical forms use: by UTF-8 bytes, the same on every machine.
  package func isBytewiseLess(than other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
