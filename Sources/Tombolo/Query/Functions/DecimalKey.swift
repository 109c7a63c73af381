/// Bytes that sort as decimal numbers in canonical text do: sign, number of whole digits, digits.
enum DecimalKey {
  static func bytes(of text: String) -> [UInt8] {
    let isNegative = text.utf8.first == 0x2D
    let digits = Array(text.utf8.drop { $0 == 0x2D })
    let whole = digits.prefix { $0 != 0x2E }.drop { $0 == 0x30 }
    let fraction = digits.drop { $0 != 0x2E }.dropFirst()
    if whole.isEmpty, fraction.allSatisfy({ $0 == 0x30 }) { return [1] }
    // A decimal has fewer than 200 whole digits (38 digits times ten to the 127).
    var magnitude: [UInt8] = [UInt8(clamping: whole.count)]
    magnitude += whole
    magnitude += fraction
    // The end sorts below every digit, and above them all once the bytes are turned round.
    magnitude.append(0)
    return isNegative ? [0] + magnitude.map { 0xFF - $0 } : [2] + magnitude
  }
}
