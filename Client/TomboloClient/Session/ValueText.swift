package import TomboloProtocol

/// A stored value as a person reads it.
package enum ValueText {
  /// Nil for no value. Without a type (a reference) a blob shows as an identifier.
  package static func text(_ value: Value, type: AttributeType?) -> String? {
    if value.isNull { return nil }
    return ValueRules.text(of: value, as: type ?? .uuid)
  }
}
