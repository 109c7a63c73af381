import Tombolo
import TomboloProtocol
import TomboloSQLite

/// `tombolo list STORE ENTITY [--search WORDS] [--where SQL-EXPRESSION] [--sort A[,-B]] [--limit N] [--json|--csv]`
package struct ListCommand: Command {
  static let condition = CommandOption.text(
    "where", "SQL-EXPRESSION", help: "Only records for which it holds, as \"city = 'Oslo' AND latitude > 50\".")
  static let search = CommandOption.text(
    "search", "WORDS",
    help: "Only records whose searched text has all the words, the best first: road \"long winter\" travel* -train.")
  static let sort = CommandOption.text("sort", "A[,-B]", help: "By these attributes; a minus sorts downwards.")
  static let limit = CommandOption.number("limit", "N", in: 0...Int(Int32.max), help: "At most this many.")
  static let csv = CommandOption.flag(
    "csv", help: "Write CSV (RFC 4180): no value is an empty field, empty text is \"\".")

  package static let declaration = CommandDeclaration(
    "list", summary: "List records",
    discussion:
      "The expression is SQLite's (https://sqlite.org/lang_expr.html), over the columns of the entity. It can only read\n"
      + "this store's records; anything else is refused before it runs. In JSON and CSV the record's identifier is called\n"
      + "id, or _id where the entity has an attribute of that name.",
    operands: [Shared.store, Shared.entity],
    options: [
      search.declaration, condition.declaration, sort.declaration, limit.declaration, Shared.json.declaration,
      csv.declaration,
    ])

  let store: String
  let entity: String
  let search: String?
  let condition: String?
  let sort: String?
  let limit: Int?
  let isJSON: Bool
  let isCSV: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    entity = arguments["ENTITY"]
    search = try arguments.value(Self.search)
    condition = try arguments.value(Self.condition)
    sort = try arguments.value(Self.sort)
    limit = try arguments.value(Self.limit)
    isJSON = try arguments.value(Shared.json)
    isCSV = try arguments.value(Self.csv)
    if isJSON, isCSV { throw UsageError("--json and --csv exclude each other") }
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store, readOnly: true)
    let plan = try RecordAccess.entity(entity, in: store.schema)
    if let condition { try WhereNames(plan).check(condition) }
    let found = try search.map { try store.search(plan, SearchWords($0), limit: Self.foundMax) }
    let fixed = [RecordAccess.entityCondition(plan), found.map(Self.isAmong)].compactMap(\.self)
    let statement = try GuardedQuery(path: self.store, schema: store.schema).prepare(
      RecordRow.selection(of: plan), condition: condition,
      fixed: fixed.isEmpty ? nil : fixed.joined(separator: " AND "),
      suffix: try ordering(plan, found) + (limit.map { " LIMIT \($0)" } ?? ""))
    let output = context.output
    if isJSON {
      try writeJSON(statement, plan, to: output)
    } else if isCSV {
      try writeCSV(statement, plan, to: output)
    } else {
      try writeTable(statement, plan, to: output)
    }
  }

  /// So many of the best records of a search are looked at.
  private static let foundMax = 1_000

  private static func isAmong(_ found: [RecordID]) -> String {
    "_tombolo_id IN (\(found.map { Value(reference: $0).literal }.joined(separator: ", ")))"
  }

  /// - Throws: `unknown_attribute`.
  private func ordering(_ plan: EntityPlan, _ found: [RecordID]?) throws -> String {
    if sort == nil, let found, !found.isEmpty {
      let ranks = found.enumerated().map { "WHEN \(Value(reference: $1).literal) THEN \($0)" }
      return " ORDER BY CASE _tombolo_id \(ranks.joined(separator: " ")) END"
    }
    let keys = (sort ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    var terms: [String] = []
    if sort != nil {
      for key in keys {
        let isDescending = key.hasPrefix("-")
        let name = isDescending ? String(key.dropFirst()) : key
        guard !name.isEmpty else { throw UsageError("--sort has an empty name") }
        let column = name == plan.identifierKey ? "_tombolo_id" : try RecordAccess.column(name, of: plan).column
        terms.append(column.quotedIdentifier + (isDescending ? " DESC" : ""))
      }
    }
    // The identifier makes the order whole, so that two runs list alike.
    return " ORDER BY " + (terms + ["_tombolo_id"]).joined(separator: ", ")
  }

  private func writeJSON(_ query: GuardedStatement, _ plan: EntityPlan, to output: Output) throws {
    // One record a line, written as it is read: a long list needs no memory.
    var isFirst = true
    output.text("[")
    while let row = try query.next() {
      output.text((isFirst ? "" : ",\n") + JSONText.object(row.json(plan)).text)
      isFirst = false
    }
    output.text("]\n")
  }

  private func writeCSV(_ query: GuardedStatement, _ plan: EntityPlan, to output: Output) throws {
    output.text(CSVWriter.line([plan.identifierKey] + plan.declaredColumns.map(\.property)))
    while let row = try query.next() { output.text(CSVWriter.line([row.id.description] + row.texts(plan))) }
  }

  private func writeTable(_ query: GuardedStatement, _ plan: EntityPlan, to output: Output) throws {
    var rows: [[String]] = []
    // Widths are known only when all rows are: a table is for people, who set a limit. What was read before an error shows.
    defer { output.table([plan.identifierKey] + plan.declaredColumns.map(\.property), rows) }
    while let row = try query.next() {
      let cells = zip(plan.declaredColumns, row.texts(plan)).map { column, text in
        column.attributeType == nil ? Self.short(text) : text ?? ""
      }
      rows.append([Self.short(row.id.description)] + cells)
    }
    if output.isTerminal { output.note("\(rows.count) \(rows.count == 1 ? "record" : "records")") }
  }

  /// Enough of an identifier to be unique in most stores, and to be typed. Its last digits are the random ones.
  private static func short(_ text: String?) -> String { text ?? "" }
}
