import Foundation

/// Makes up a value of a type that says how it is decoded: zeros, empty texts and lists, nil, an enum's first case.
///
/// For the objects that stand where no record is: see ``DeletedPlaceholder``.
struct BlankDecoder: Decoder {
  /// Values inside one another; a type that holds itself has no end.
  private static let depthMax = 32
  let depth: Int
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private init(depth: Int) { self.depth = depth }

  /// JSON of such a value; nil where none can be made up, or it cannot be coded.
  static func json<Value: Codable>(of type: Value.Type) -> String? {
    guard let value = try? BlankDecoder(depth: 0).value(of: type), let data = try? JSONEncoder().encode(value),
      (try? JSONDecoder().decode(type, from: data)) != nil
    else { return nil }
    return String(decoding: data, as: UTF8.self)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed<Key>(decoder: self))
  }
  func unkeyedContainer() -> any UnkeyedDecodingContainer { Unkeyed(decoder: self) }
  func singleValueContainer() -> any SingleValueDecodingContainer { Single(decoder: self) }

  fileprivate func value<Value: Decodable>(of type: Value.Type) throws -> Value {
    guard depth < Self.depthMax else { throw Self.failure(type) }
    let made: Any? =
      switch type {
      case is Bool.Type: false
      case is String.Type: ""
      case is Date.Type: Date(timeIntervalSinceReferenceDate: 0)
      case is Data.Type: Data()
      case is Decimal.Type: Decimal(0)
      case is URL.Type: URL(string: "about:blank")
      case is UUID.Type: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
      case let number as any (Numeric & Decodable).Type: Self.zero(of: number)
      case let cases as any CaseIterable.Type: Self.firstCase(of: cases)
      default: nil
      }
    if let made = made as? Value { return made }
    return try Value(from: BlankDecoder(depth: depth + 1))
  }

  private static func zero<Number: Numeric>(of type: Number.Type) -> Any { Number.zero }
  private static func firstCase<Cases: CaseIterable>(of type: Cases.Type) -> Any? { type.allCases.first }

  fileprivate static func failure(_ type: any Any.Type) -> DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: "No value of \(type) can be made up."))
  }
}

private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: BlankDecoder
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { true }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try decoder.value(of: type) }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedDecodingContainer<Nested> { decoder.container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { decoder.unkeyedContainer() }
  func superDecoder() -> any Decoder { decoder }
  func superDecoder(forKey key: Key) -> any Decoder { decoder }
}

private struct Unkeyed: UnkeyedDecodingContainer {
  let decoder: BlankDecoder
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  var currentIndex: Int { 0 }

  func decodeNil() -> Bool { true }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(of: type) }
  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
    decoder.container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { self }
  func superDecoder() -> any Decoder { decoder }
}

private struct Single: SingleValueDecodingContainer {
  let decoder: BlankDecoder
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { true }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(of: type) }
}
