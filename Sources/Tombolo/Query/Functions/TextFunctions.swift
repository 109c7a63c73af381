import Foundation
import TomboloSQLite

/// Text as Swift sees it: by characters, canonically equivalent forms equal.
extension QueryFunctions {
  static func registerText(on connection: Connection) throws {
    try connection.define("tombolo_composed", arguments: 1) { arguments in
      guard case .text(let text)? = arguments.first else { return .null }
      return .text(text.composed)
    }
    try defineTest("tombolo_contains", on: connection) { containsCharacters($0, $1) }
    try defineTest("tombolo_starts", on: connection) { $0.starts(with: $1) }
    try defineTest("tombolo_standard_contains", on: connection) { $0.localizedStandardContains($1) }
    try defineOrder("tombolo_compare_ignoring_case", on: connection) { $0.caseInsensitiveCompare($1) }
    try defineOrder("tombolo_compare_localized", on: connection) { $0.localizedCompare($1) }
    try connection.define("tombolo_standard_key", arguments: 1) { arguments in
      guard case .text(let text)? = arguments.first else { return .null }
      return .text(LocalizedStandardKey(text).text)
    }
    try connection.define("tombolo_count", arguments: 1) { arguments in
      guard case .text(let text)? = arguments.first else { return .null }
      return .integer(Int64(text.count))
    }
  }

  /// What `Predicate.evaluate` calls: Foundation's own `contains` of texts would look for scalars, not characters.
  private static func containsCharacters<Text: Collection>(_ text: Text, _ other: Text) -> Bool
  where Text.Element: Equatable {
    text.contains(other)
  }

  private static func defineTest(
    _ name: String, on connection: Connection, _ test: @escaping (String, String) -> Bool
  ) throws {
    try connection.define(name, arguments: 2) { arguments in
      guard case .text(let text) = arguments[0], case .text(let other) = arguments[1] else { return .null }
      return .integer(test(text, other) ? 1 : 0)
    }
  }

  private static func defineOrder(
    _ name: String, on connection: Connection, _ compare: @escaping (String, String) -> ComparisonResult
  ) throws {
    try connection.define(name, arguments: 2) { arguments in
      guard case .text(let text) = arguments[0], case .text(let other) = arguments[1] else { return .null }
      return .integer(Int64(compare(text, other).rawValue))
    }
  }
}
