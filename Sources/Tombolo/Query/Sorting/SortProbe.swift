import Foundation
import TomboloProtocol

/// An object that a sort descriptor's key path is followed on, with any value in the attribute that the path reads.
///
/// The accessors tell which attribute a key path reads, not whether it gives what it has read: a computed property in
/// between may make something else of it.
struct SortProbe {
  private let object: any PersistentModel
  private let path: AnyKeyPath
  private let type: any Any.Type
  private let assign: (Any?) -> Bool

  /// - Parameter references: the key paths of the to-one relationships on the way to the attribute.
  /// - Returns: nil where no object can be made, or given another value.
  init?(_ path: AnyKeyPath, in model: any PersistentModel.Type, references: [AnyKeyPath], attribute: AnyKeyPath) {
    guard let object = KeyPathProbe.object(of: model) else { return nil }
    var owner = object
    for reference in references {
      let root: Any = owner
      guard let next = root[keyPath: reference].flatMap({ withoutOptional($0) }) as? any PersistentModel else {
        return nil
      }
      owner = next
    }
    let type = Swift.type(of: attribute).valueType
    guard let assign = Self.assignment(to: owner, attribute, type) else { return nil }
    (self.object, self.path, self.type, self.assign) = (object, path, type, assign)
  }

  private static func assignment<Model: PersistentModel>(
    to model: Model, _ attribute: AnyKeyPath, _ type: any Any.Type
  ) -> ((Any?) -> Bool)? {
    func open<Member>(_ type: Member.Type) -> ((Any?) -> Bool)? {
      guard let attribute = attribute as? ReferenceWritableKeyPath<Model, Member> else { return nil }
      return { value in
        guard
          let value = value as? Member ?? (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? Member
        else { return false }
        model[keyPath: attribute] = value
        return true
      }
    }
    return _openExistential(type, do: open)
  }

  private var result: Any? {
    let root: Any = object
    return root[keyPath: path].flatMap { withoutOptional($0) }
  }

  /// What the key path gives where the attribute's column holds a value.
  func value(_ stored: Value, as type: ScalarType) throws -> Value {
    guard assign(try decoded(stored)) else { throw Self.undecodable }
    guard let value = result else { return .null }
    if let rank = value as? TextRank { return .blob(Array(rank.key.text.utf8)) }
    return try QueryConstant(value, as: type).value ?? .null
  }

  private static var undecodable: QueryFunctions.Failure {
    QueryFunctions.Failure(reason: "a stored value that is sorted by cannot be decoded")
  }

  private func decoded(_ stored: Value) throws -> Any {
    let bare = (type as? any OptionalType.Type)?.wrapped ?? type
    let found: Any?
    if let raw = bare as? any RawRepresentable.Type, Self.isStoredRaw(raw) {
      found = Self.item(of: raw, stored)
    } else if case .text(let text) = stored, let type = type as? any Decodable.Type {
      found = try? JSONDecoder().decode(type, from: Data(text.utf8))
    } else {
      found = nil
    }
    guard let found else { throw Self.undecodable }
    return found
  }

  private static func item<Raw: RawRepresentable>(of type: Raw.Type, _ stored: Value) -> Any? {
    let raw: Any? =
      switch stored {
      case .integer(let number): (Raw.RawValue.self as? any BinaryInteger.Type).flatMap { exactly(number, $0) }
      case .text(let text): text
      default: nil
      }
    return (raw as? Raw.RawValue).flatMap { Raw(rawValue: $0) }
  }

  private static func exactly<Number: BinaryInteger>(_ number: Int64, _ type: Number.Type) -> Any? {
    Number(exactly: number)
  }

  /// Whether an enum's column holds a raw value that ``value(_:as:)`` can read.
  static func isStoredRaw<Raw: RawRepresentable>(_ type: Raw.Type) -> Bool {
    Raw.RawValue.self == String.self || Raw.RawValue.self is any BinaryInteger.Type
  }

  // MARK: What the key path makes of values

  /// Whether the key path gives for some telling values what `expected` makes of them; nil where none are known.
  func gives(_ expected: (Any) -> Any?) -> Bool? {
    let bare = (type as? any OptionalType.Type)?.wrapped ?? type
    let samples = Self.samples(of: bare)
    guard !samples.isEmpty else { return nil }
    for sample in samples {
      guard assign(sample) else { return nil }
      if SortValue.compare(result, expected(sample)) != 0 { return false }
    }
    // What stands in for nil, as in `nick ?? name`, is something else than the attribute.
    guard type is any OptionalType.Type else { return true }
    return assign(nil) && result == nil
  }

  /// Values that most computations make something else of; of an enum every case, or none where it lists none.
  private static func samples(of type: any Any.Type) -> [Any] {
    if let iterable = type as? any CaseIterable.Type { return cases(of: iterable) }
    // Small ones: the model's own code is run on them, and may count with them.
    if let number = type as? any FixedWidthInteger.Type { return numbers(number) }
    switch type {
    case is String.Type: return ["", "b", "Az", "aZ b", " é\u{301}10.x/y-z@w ", "0"]
    case is Bool.Type: return [true, false]
    case is Double.Type: return [0, 0.25, 1, 2.5] as [Double]
    case is Float.Type: return [0, 0.25, 1, 2.5] as [Float]
    case is Decimal.Type: return [0, 0.25, 1, 2.5] as [Decimal]
    case is Date.Type:
      return [0, 12_345.678, 800_000_000].map { Date(timeIntervalSinceReferenceDate: $0) }
    default: return []
    }
  }

  private static func cases<Cases: CaseIterable>(of type: Cases.Type) -> [Any] { type.allCases.map { $0 } }

  private static func numbers<Number: FixedWidthInteger>(_ type: Number.Type) -> [Any] {
    [0, 1, 2] as [Number]
  }
}
