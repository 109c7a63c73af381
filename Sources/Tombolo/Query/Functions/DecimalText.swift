package import Foundation

/// The one text of a decimal number in a store: plain digits, no exponent, no trailing zeros after the point.
package enum DecimalText {
  package static func text(of value: Decimal) -> String {
    var text = value.description
    if text.contains(where: { $0 == "e" || $0 == "E" }) { text = plain(text) }
    if text.contains(".") {
      while text.hasSuffix("0") { text.removeLast() }
      if text.hasSuffix(".") { text.removeLast() }
    }
    return text == "-0" ? "0" : text
  }

  /// Reads what ``text(of:)`` writes; nil for anything that is no number.
  package static func value(of text: String) -> Decimal? {
    Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
  }

  private static func plain(_ text: String) -> String {
    let parts = text.split(whereSeparator: { $0 == "e" || $0 == "E" })
    guard parts.count == 2, let exponent = Int(parts[1]) else { return text }
    let isNegative = parts[0].hasPrefix("-")
    let mantissa = parts[0].drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
    let whole = String(mantissa.first ?? "0")
    let fraction = mantissa.count > 1 ? String(mantissa[1]) : ""
    let digits = whole + fraction
    let point = whole.count + exponent
    let result: String
    if point <= 0 {
      result = "0." + String(repeating: "0", count: -point) + digits
    } else if point >= digits.count {
      result = digits + String(repeating: "0", count: point - digits.count)
    } else {
      result = digits.prefix(point) + "." + digits.dropFirst(point)
    }
    return isNegative ? "-" + result : result
  }
}
