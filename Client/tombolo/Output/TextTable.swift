/// Rows under headings, in columns.
package enum TextTable {
  /// A wider cell is cut: a table is for reading, `--json` and `--csv` have the whole.
  package static let cellWidthMax = 60

  package static func lines(_ headings: [String], _ rows: [[String]]) -> [String] {
    let cells = rows.map { $0.map(shown) }
    let widths = headings.indices.map { column in
      max(width(headings[column]), cells.map { width($0[column]) }.max() ?? 0)
    }
    let isNumeric = headings.indices.map { column in
      !cells.isEmpty && cells.allSatisfy { $0[column].isEmpty || Double($0[column]) != nil }
    }
    return ([headings] + cells).map { row in
      let padded = row.indices.map { column in
        let gap = String(repeating: " ", count: widths[column] - width(row[column]))
        return isNumeric[column] ? gap + row[column] : row[column] + gap
      }
      var line = padded.joined(separator: "  ")
      while line.hasSuffix(" ") { line.removeLast() }
      return line
    }
  }

  /// On one line, without control characters (a terminal would obey them), cut where it is long.
  package static func shown(_ text: String) -> String {
    var shown = String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar.value {
          case 0x0A, 0x0D, 0x09: " "
          case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: "\u{FFFD}"
          default: scalar
          }
        }))
    if shown.count > cellWidthMax { shown = shown.prefix(cellWidthMax - 1) + "…" }
    return shown
  }

  /// Columns of a terminal: wide East Asian characters and emoji take two.
  package static func width(_ text: String) -> Int {
    text.reduce(0) { total, character in
      guard let scalar = character.unicodeScalars.first else { return total }
      switch scalar.value {
      case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
        0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
        return total + 2
      default: return total + 1
      }
    }
  }
}
