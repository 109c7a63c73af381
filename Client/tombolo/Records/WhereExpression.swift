import TomboloProtocol

/// Looks at a person's expression before SQLite does: it must be one expression, and stay inside our parentheses.
///
/// SQLite compiles only the first statement of a text, so a second one would be ignored in silence; and a closing
/// parenthesis too many would end the condition that ours stands beside.
enum WhereExpression {
  static let bytesMax = 1 << 16
  static let depthMax = 100

  /// - Throws: `invalid_query`, naming what is wrong.
  static func validate(_ text: String) throws {
    func refuse(_ reason: String) -> TomboloError {
      TomboloError(
        .invalidQuery, "The expression is refused: \(reason).",
        remedy: "Give one SQL expression over the entity's columns, as \"city = 'Oslo'\".")
    }
    let bytes = Array(text.utf8)
    guard bytes.count <= bytesMax else { throw refuse("it is longer than \(bytesMax) bytes") }
    guard bytes.contains(where: { $0 > 0x20 }) else { throw refuse("it is empty") }
    var depth = 0
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      let next = index + 1 < bytes.count ? bytes[index + 1] : 0
      index += 1
      switch byte {
      case 0: throw refuse("it holds a NUL")
      case UInt8(ascii: ";"): throw refuse("a ';' ends an expression, and only one is taken")
      case UInt8(ascii: "-") where next == UInt8(ascii: "-"), UInt8(ascii: "/") where next == UInt8(ascii: "*"):
        throw refuse("it holds a comment")
      case UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: "$"):
        throw refuse("it holds a parameter, for which there is no value")
      case UInt8(ascii: ":"): throw refuse("it holds a parameter, for which there is no value")
      case UInt8(ascii: "("):
        depth += 1
        guard depth <= depthMax else { throw refuse("its parentheses are more than \(depthMax) deep") }
      case UInt8(ascii: ")"):
        depth -= 1
        guard depth >= 0 else { throw refuse("it closes a parenthesis that it did not open") }
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["):
        let end = byte == UInt8(ascii: "[") ? UInt8(ascii: "]") : byte
        guard let close = bytes[index...].firstIndex(of: end) else { throw refuse("a quotation has no end") }
        // A doubled quote inside is two quotations side by side to this scan, which comes to the same.
        index = close + 1
      default: continue
      }
    }
    guard depth == 0 else { throw refuse("a parenthesis is not closed") }
  }
}
