import Foundation

/// The key of the localized standard order: what a person expects of a list of names.
///
/// Case and diacritics are ignored at first, runs of digits count as numbers ("a2" before "a10"); names that are equal
/// so far go by their composed text. The order is the same in every locale and in SQL: keys are compared byte for byte.
struct LocalizedStandardKey: Comparable {
  let text: String

  init(_ source: String) {
    let folded = source.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    var bytes: [UInt8] = []
    var digits: [UInt8] = []
    func flush() {
      guard !digits.isEmpty else { return }
      let significant = digits.drop { $0 == 0x30 }
      // A number is its count of digits, then the digits: more digits sort later. It sorts where a digit does.
      bytes.append(0x30)
      var count = significant.count
      while count >= 60 {
        bytes.append(0x7E)
        count -= 60
      }
      bytes.append(0x30 + UInt8(count))
      bytes += significant
      digits.removeAll()
    }
    for byte in folded.composed.utf8 {
      if (0x30...0x39).contains(byte) {
        digits.append(byte)
      } else {
        flush()
        bytes.append(byte)
      }
    }
    flush()
    // Sorts before everything that goes on.
    bytes.append(0)
    bytes += Array(source.composed.utf8)
    text = String(decoding: bytes, as: UTF8.self)
  }

  static func < (a: LocalizedStandardKey, b: LocalizedStandardKey) -> Bool {
    a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
  }
  static func == (a: LocalizedStandardKey, b: LocalizedStandardKey) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
}
