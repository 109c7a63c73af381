import TomboloProtocol

/// Turns values of one type into values of another and back: Foundation's class, which Linux lacks.
///
/// `@Attribute(.transformable(by:))` stores what ``transformedValue(_:)`` makes, which has to be `Data`, and reads it with
/// ``reverseTransformedValue(_:)``. So a property may be of a type that is not `Codable`.
open class ValueTransformer {
  /// A transformer.
  public required init() {}

  /// The class of what ``transformedValue(_:)`` returns.
  open class func transformedValueClass() -> AnyClass { ValueTransformer.self }
  /// Whether ``reverseTransformedValue(_:)`` can be called.
  open class func allowsReverseTransformation() -> Bool { true }
  /// Transforms a value; nil where that is not possible.
  open func transformedValue(_ value: Any?) -> Any? { value }
  /// Transforms a value back; nil where that is not possible.
  open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }

  private struct Registry: @unchecked Sendable {
    // Guarded by the lock around it; a transformer has no state that a transformation changes.
    var transformers: [NSValueTransformerName: ValueTransformer] = [:]
  }
  private static let registry = Guarded(Registry())

  /// Registers a transformer under a name, or none.
  public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
    let change = Registry(transformers: transformer.map { [name: $0] } ?? [:])
    registry.withLock { $0.transformers[name] = change.transformers[name] }
  }

  /// The names under which transformers are registered, in alphabetical order.
  public class func valueTransformerNames() -> [NSValueTransformerName] {
    registry.withLock { $0.transformers.keys.sorted { $0.rawValue < $1.rawValue } }
  }

  static func registered(_ name: NSValueTransformerName) -> ValueTransformer? {
    registry.withLock { registry in Registry(transformers: registry.transformers.filter { $0.key == name }) }
      .transformers[name]
  }
}

/// The name of a ``ValueTransformer``.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  /// The name.
  public let rawValue: String
  /// A name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// A name.
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// What lets ``ValueTransformer/init(forName:)`` be an object that exists already: only a protocol's initializer can.
public protocol _$RegisteredTransformer {}

extension ValueTransformer: _$RegisteredTransformer {}

extension _$RegisteredTransformer {
  /// The transformer that is registered under a name; nil where there is none.
  public init?(forName name: NSValueTransformerName) {
    guard let known = ValueTransformer.registered(name) as? Self else { return nil }
    self = known
  }
}
