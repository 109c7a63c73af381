package import TomboloProtocol

/// A stored value as a person reads and writes it.
package enum ValueText {
  /// Nil for no value. Without a type, a value shows as its storage class has it.
  package static func text(_ value: Value, type: AttributeType?) -> String? {
    switch (value, type) {
    case (.null, _): nil
    case (.integer(let number), .bool): number == 0 ? "false" : "true"
    case (.integer(let number), _): String(number)
    case (.real(let seconds), .date): DateText.text(secondsSince2001: seconds)
    case (.real(let number), _): real(number)
    case (.text(let text), _): text
    case (.blob(let bytes), .data): Base64Text.encoded(bytes)
    case (.blob(let bytes), _): RecordID(bytes: bytes)?.description ?? Base64Text.encoded(bytes)
    }
  }

  /// The shortest text that reads back as the same number; whole numbers without a fraction.
  private static func real(_ number: Double) -> String {
    let text = "\(number)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

/// Dates in the form of ISO 8601, in UTC.
package enum DateText {
  /// Seconds from 1970 to 2001.
  package static let referenceSeconds: Int64 = 978_307_200
  /// Beyond the years 0 to 9999 a date shows as its number of seconds.
  private static let range = -63_145_526_400.0..<252_423_993_600.0

  package static func text(secondsSince2001 seconds: Double) -> String {
    guard range.contains(seconds) else { return "\(seconds)" }
    let whole = seconds.rounded(.down)
    let total = Int64(whole) + referenceSeconds
    let day = (total >= 0 ? total : total - 86_399) / 86_400
    let second = total - day * 86_400
    let (year, month, dayOfMonth) = civil(fromDays: day)
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
    let time = "\(padded(second / 3_600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
    let fraction = seconds - whole
    guard fraction > 0 else { return "\(date)T\(time)Z" }
    let microseconds = min(999_999, Int64((fraction * 1_000_000).rounded()))
    var digits = padded(microseconds, 6)
    while digits.hasSuffix("0"), digits.count > 3 { digits.removeLast() }
    return "\(date)T\(time).\(digits)Z"
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  /// The Gregorian date of a day counted from 1970.
  ///
  /// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

/// Bytes as base64 (RFC 4648, section 4).
package enum Base64Text {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func encoded(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let left = bytes.count - index
      let second = left > 1 ? bytes[index + 1] : 0
      let third = left > 2 ? bytes[index + 2] : 0
      text.append(alphabet[Int(bytes[index] >> 2)])
      text.append(alphabet[Int((bytes[index] & 3) << 4 | second >> 4)])
      text.append(left > 1 ? alphabet[Int((second & 15) << 2 | third >> 6)] : 0x3D)
      text.append(left > 2 ? alphabet[Int(third & 63)] : 0x3D)
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }
}
