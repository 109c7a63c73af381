import Tombolo
import TomboloSQLite

/// Looks for attributes that a person's expression calls by their names, where the file's columns are called otherwise:
/// SQLite would take such a name for something else, as its own row number, or another column.
struct WhereNames {
  private let plan: EntityPlan

  init(_ plan: EntityPlan) { self.plan = plan }

  /// - Throws: `invalid_query`, naming the column to use.
  func check(_ expression: String) throws {
    let renamed = plan.columns.filter { $0.column != $0.property }
    if renamed.isEmpty { return }
    for name in Self.names(in: expression) {
      if plan.columns.contains(where: { $0.column == name }) { continue }
      guard
        let column = renamed.first(where: { $0.property == name })
          ?? renamed.first(where: { $0.property.lowercased() == name.lowercased() }),
        column.property == name || plan.columns.allSatisfy({ $0.property != name })
      else { continue }
      throw TomboloError(
        .invalidQuery,
        "The expression is refused: the column of \(plan.name).\(column.property) is called \(column.column.quotedIdentifier), "
          + "since SQLite has another meaning for \(name).",
        remedy: "Write \(column.column.quotedIdentifier).")
    }
  }

  /// The names that stand outside of text, quoted ones without their quotes.
  private static func names(in expression: String) -> [String] {
    var names: [String] = []
    var rest = expression[...]
    while let first = rest.first {
      rest = rest.dropFirst()
      if first.isLetter || first == "_" {
        let tail = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        names.append(String(first) + tail)
        rest = rest[tail.endIndex...]
      } else if first == "'" || first == "\"" || first == "`" || first == "[" {
        let end: Character = first == "[" ? "]" : first
        let inside = rest.prefix { $0 != end }
        if first != "'" { names.append(String(inside)) }
        rest = rest[inside.endIndex...].dropFirst()
      }
    }
    return names
  }
}
