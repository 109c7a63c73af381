/// A decimal number as plain text: `-12.5`, without exponent, leading zeros, trailing zeros, or a sign on zero.
///
/// One text for each number, so that equal numbers are equal bytes in rows, on the wire and in checksums.
package enum DecimalForm {
  /// Foundation's `Decimal` keeps this many digits exactly.
  package static let digitsMax = 38
  /// Digits before or after the point, zeros included.
  package static let placesMax = 128

  /// The canonical text of a number that may have a sign, zeros and an exponent.
  ///
  /// - Returns: nil for what is no number.
  /// - Throws: ``TomboloError`` with ``ErrorCode/decimalOutOfRange``.
  package static func canonical(_ text: some StringProtocol) throws -> String? {
    var rest = text.utf8[...]
    var isNegative = false
    if let sign = rest.first, sign == 0x2D || sign == 0x2B {
      isNegative = sign == 0x2D
      rest = rest.dropFirst()
    }
    let whole = rest.prefix { isDigit($0) }
    rest = rest.dropFirst(whole.count)
    var digits = Array(whole)
    var exponent = 0
    if rest.first == 0x2E {
      let fraction = rest.dropFirst().prefix { isDigit($0) }
      rest = rest.dropFirst(1 + fraction.count)
      digits.append(contentsOf: fraction)
      exponent = -fraction.count
    }
    guard !digits.isEmpty else { return nil }
    if let mark = rest.first, mark == 0x65 || mark == 0x45 {
      let power = String(decoding: rest.dropFirst(), as: UTF8.self)
      guard !power.isEmpty, power.utf8.count <= 6, let power = Int(power) else { return nil }
      exponent += power
      rest = rest[rest.endIndex...]
    }
    guard rest.isEmpty else { return nil }
    digits = Array(digits.drop { $0 == 0x30 })
    while digits.last == 0x30 {
      digits.removeLast()
      exponent += 1
    }
    if digits.isEmpty { return "0" }
    guard digits.count <= digitsMax, exponent + digits.count <= placesMax, exponent >= -placesMax else {
      throw TomboloError(
        .decimalOutOfRange, "A decimal has more than \(digitsMax) digits or more than \(placesMax) places.",
        remedy: "Round it before it is saved.")
    }
    return plain(digits, exponent: exponent, isNegative: isNegative)
  }

  private static func plain(_ digits: [UInt8], exponent: Int, isNegative: Bool) -> String {
    var plain: [UInt8] = isNegative ? [0x2D] : []
    let point = digits.count + exponent
    if exponent >= 0 {
      plain += digits + [UInt8](repeating: 0x30, count: exponent)
    } else if point > 0 {
      plain += digits[..<point] + [0x2E] + digits[point...]
    } else {
      plain += [0x30, 0x2E] + [UInt8](repeating: 0x30, count: -point) + digits
    }
    return String(decoding: plain, as: UTF8.self)
  }

  /// Compares two canonical texts as numbers: below zero where the first is smaller, zero where they are equal.
  package static func compare(_ a: String, _ b: String) -> Int {
    let isNegative = a.utf8.first == 0x2D
    guard isNegative == (b.utf8.first == 0x2D) else { return isNegative ? -1 : 1 }
    let order = compareMagnitudes(a.utf8.drop { $0 == 0x2D }, b.utf8.drop { $0 == 0x2D })
    return isNegative ? -order : order
  }

  private static func compareMagnitudes(_ a: Substring.UTF8View, _ b: Substring.UTF8View) -> Int {
    let wholeA = a.prefix { $0 != 0x2E }
    let wholeB = b.prefix { $0 != 0x2E }
    if wholeA.count != wholeB.count { return wholeA.count < wholeB.count ? -1 : 1 }
    // With whole parts of one length, bytes compare as numbers; a longer fraction is the greater one.
    if a.elementsEqual(b) { return 0 }
    return a.lexicographicallyPrecedes(b) ? -1 : 1
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
