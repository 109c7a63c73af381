public import Foundation

// Nodes that Foundation's macro knows how to call and Foundation on Linux does not have.

extension PredicateExpressions {
  /// `text.localizedStandardContains(other)`: ignores case and diacritics; never true for an empty `other`.
  public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
    PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    /// Whether the text contains the other.
    public typealias Output = Bool
    /// The text that is searched.
    public let root: Root
    /// The text that is looked for.
    public let other: Other

    /// Makes the node; the `#Predicate` macro does.
    public init(root: Root, other: Other) {
      self.root = root
      self.other = other
    }

    /// Evaluates the node in memory.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try root.evaluate(bindings).localizedStandardContains(other.evaluate(bindings))
    }
  }

  /// What the `#Predicate` macro makes of `localizedStandardContains(_:)`.
  public static func build_localizedStandardContains<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringLocalizedStandardContains<Root, Other> {
    StringLocalizedStandardContains(root: root, other: other)
  }

  /// A way to put two texts in order.
  public enum StringOrder: String, Codable, Sendable {
    /// `caseInsensitiveCompare(_:)`.
    case caseInsensitive
    /// `localizedCompare(_:)`.
    case localized
  }

  /// `text.caseInsensitiveCompare(other)` and `text.localizedCompare(other)`.
  public struct StringCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    /// Which of the two comes first.
    public typealias Output = ComparisonResult
    /// The text on the left.
    public let root: Root
    /// The text on the right.
    public let other: Other
    /// The way that they are compared.
    public let order: StringOrder

    /// Makes the node; the `#Predicate` macro does.
    public init(root: Root, other: Other, order: StringOrder) {
      self.root = root
      self.other = other
      self.order = order
    }

    /// Evaluates the node in memory.
    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      let (left, right) = (String(try root.evaluate(bindings)), String(try other.evaluate(bindings)))
      return switch order {
      case .caseInsensitive: left.caseInsensitiveCompare(right)
      case .localized: left.localizedCompare(right)
      }
    }
  }

  /// What the `#Predicate` macro makes of `caseInsensitiveCompare(_:)`.
  public static func build_caseInsensitiveCompare<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringCompare<Root, Other> {
    StringCompare(root: root, other: other, order: .caseInsensitive)
  }

  /// What the `#Predicate` macro makes of `localizedCompare(_:)`.
  public static func build_localizedCompare<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringCompare<Root, Other> {
    StringCompare(root: root, other: other, order: .localized)
  }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedStandardContains: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    .scalar(try compiler.textTest("tombolo_standard_contains", compiler.operand(root), compiler.operand(other)))
  }
}

extension PredicateExpressions.StringCompare: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let function =
      switch order {
      case .caseInsensitive: "tombolo_compare_ignoring_case"
      case .localized: "tombolo_compare_localized"
      }
    return .scalar(try compiler.textOrder(function, compiler.operand(root), compiler.operand(other)))
  }
}

extension QueryCompiler {
  fileprivate func textOrder(_ function: String, _ base: QueryOperand, _ other: QueryOperand) throws -> QueryScalar {
    let (text, pattern) = (try scalar(base, as: .text), try scalar(other, as: .text))
    var result = QueryScalar("\(function)(\(text.sql), \(pattern.sql))", .atom, .integer)
    result.isNullable = text.isNullable || pattern.isNullable
    result.nullWith = text.nullWith + pattern.nullWith
    result.mayFail = text.mayFail || pattern.mayFail
    return result
  }
}
