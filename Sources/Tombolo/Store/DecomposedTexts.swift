import TomboloProtocol
import TomboloSQLite

/// Where the texts of unique keys are that are not in composed form, by the form that they compose to.
///
/// Most text is composed, and equal texts have equal bytes then: a column's index finds them. Another text with the same
/// meaning would take a look at every row. Entries are hints: a row that has changed since, or is gone, leaves its own.
struct DecomposedTexts {
  static let table = "_tombolo_decomposed"
  let connection: Connection

  func note(_ text: String, of id: RecordID, in column: ColumnPlan, of entity: EntityPlan) throws {
    guard entity.uniqueKeys.contains(where: { $0.columns.contains(column.position) }) else { return }
    try connection.run(
      "INSERT OR IGNORE INTO _tombolo_decomposed(tab, name, composed, record) VALUES (?1, ?2, ?3, ?4)"
    ) {
      $0.bind(entity.table, at: 1)
      $0.bind(column.column, at: 2)
      $0.bind(text.composed, at: 3)
      $0.bind(id, at: 4)
    }
  }

  /// The records that may hold, in another form, the text that an expression comes to.
  static func candidates(_ column: ColumnPlan, of entity: EntityPlan, composed: String) -> String {
    "SELECT record FROM _tombolo_decomposed WHERE tab = \(entity.table.quotedLiteral) "
      + "AND name = \(column.column.quotedLiteral) AND composed = \(composed)"
  }

  /// Notes what the columns hold already: the table came later than they did.
  static func fill(_ connection: Connection, _ schema: StoreSchema) throws {
    let columns = try schema.uncomposedColumns(connection)
    let texts = DecomposedTexts(connection: connection)
    for entity in schema.entities {
      for column in entity.columns where columns.contains([entity.table, column.column]) {
        try connection.eachRow(
          "SELECT _tombolo_id, \(column.value(in: entity.table.quotedIdentifier)) FROM \(entity.table.quotedIdentifier)"
        ) { row in
          guard let id = row.recordID(0), case .text(let text) = row.value(1), !text.isComposed else { return }
          try texts.note(text, of: id, in: column, of: entity)
        }
      }
    }
  }
}
