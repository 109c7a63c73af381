/// Writes CSV (RFC 4180).
package enum CSVWriter {
  /// A line with its end. No value is an empty field; empty text is a pair of quotes, so that an import tells them apart.
  package static func line(_ fields: [String?]) -> String { fields.map(field).joined(separator: ",") + "\r\n" }

  private static func field(_ text: String?) -> String {
    guard let text else { return "" }
    let needsQuotes =
      text.isEmpty || text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
      || text.utf8.first == 0x20 || text.utf8.last == 0x20
    guard needsQuotes else { return text }
    return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}
