import Foundation
import TomboloProtocol

/// A decimal number and the one text that it has in a store (``DecimalForm``).
package enum DecimalText {
  /// Plain digits; a number beyond what a store takes keeps Foundation's own text, and equals no stored one.
  package static func text(of value: Decimal) -> String {
    let text = value.description
    guard let canonical = try? DecimalForm.canonical(text) else { return text }
    return canonical
  }

  /// Reads what ``text(of:)`` writes; nil for anything that is no number.
  package static func value(of text: String) -> Decimal? {
    Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
  }
}
