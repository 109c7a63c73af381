import Foundation
import TomboloProtocol

extension PredicateExpressions.CollectionContainsCollection: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    .scalar(try compiler.textTest("tombolo_contains", compiler.operand(base), compiler.operand(other)))
  }
}

extension PredicateExpressions.SequenceStartsWith: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    .scalar(try compiler.textTest("tombolo_starts", compiler.operand(base), compiler.operand(prefix)))
  }
}

extension PredicateExpressions.StringContainsRegex: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    throw QueryFailure.unsupported(
      "a regular expression", instead: "Use contains, starts(with:) or localizedStandardContains.")
  }
}

extension QueryCompiler {
  /// A test of two texts by a function of ours: Swift compares characters, and SQLite would compare bytes.
  func textTest(_ function: String, _ base: QueryOperand, _ other: QueryOperand) throws -> QueryScalar {
    let text = try scalar(base, as: .text)
    let pattern = try scalar(other, as: .text)
    guard text.type.isText, pattern.type.isText else {
      throw QueryFailure.unsupported(
        "contains or starts(with:) on values that are no text", instead: "Compare elements.")
    }
    let mayFail = text.mayFail || pattern.mayFail
    var result = QueryScalar.condition("\(function)(\(text.sql), \(pattern.sql))", .atom, mayFail: mayFail)
    result.isNullable = text.isNullable || pattern.isNullable
    result.nullWith = text.nullWith + pattern.nullWith
    guard text.isComposed, !result.isNullable, case .constant(let captured) = other else { return result }
    guard let needle = captured.map({ "\($0)".composed }) else { return result }
    if needle.isEmpty, function != "tombolo_standard_contains" { return emptyTest(of: text) }
    // Where both are composed, equal characters have equal bytes: SQLite looks first, and can use an index for a prefix.
    switch function {
    case "tombolo_contains":
      result.sql = "instr(\(text.sql), \(pattern.sql)) > 0 AND \(result.sql)"
      result.binding = .and
    case "tombolo_starts":
      guard let end = Self.successor(of: needle) else { return result }
      let column = text.inside(.comparison)
      result.sql = "\(column) >= \(pattern.sql) AND \(column) < \(try bind(.text(end))) AND \(result.sql)"
      result.binding = .and
    default: break
    }
    return result
  }

  /// Everything contains the empty text. Still null where the text is null.
  private func emptyTest(of text: QueryScalar) -> QueryScalar {
    var result = QueryScalar.condition(
      text.nullWith.isEmpty && !text.mayFail ? "1" : "\(text.inside(.equality)) = \(text.inside(.equality))", .equality,
      mayFail: text.mayFail)
    if result.sql == "1" { result.binding = .atom }
    result.nullWith = text.nullWith
    return result
  }

  /// The least text above every text that begins with `prefix`, by Unicode scalars; nil where there is none.
  static func successor(of prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      var next = last.value + 1
      if next == 0xD800 { next = 0xE000 }
      if let scalar = Unicode.Scalar(next) {
        scalars.append(scalar)
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
      }
    }
    return nil
  }
}
