import TomboloProtocol
import TomboloSQLite

/// Where the texts of unique keys are that are not in composed form, by the form that they compose to.
///
/// Most text is composed, and equal texts have equal bytes then: a column's index finds them. Another text with the same
/// meaning would take a look at every row. An entry goes with its text, or its record: our own connections have triggers for
/// it, after which a new text is noted. Where another program writes, entries are hints until the write is taken up.
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

  /// Takes out the entry of one text of a record.
  func forget(_ id: RecordID, in column: ColumnPlan, of entity: EntityPlan) throws {
    try connection.run("DELETE FROM _tombolo_decomposed WHERE record = ?1 AND tab = ?2 AND name = ?3") {
      $0.bind(id, at: 1)
      $0.bind(entity.table, at: 2)
      $0.bind(column.column, at: 3)
    }
  }

  /// Takes out what is noted of a record.
  func forget(_ id: RecordID) throws {
    try connection.run("DELETE FROM _tombolo_decomposed WHERE record = ?1") { $0.bind(id, at: 1) }
  }

  /// The columns of a table that entries may be about.
  static func columns(of root: EntityPlan, in schema: StoreSchema) -> [String] {
    let family = schema.entities.filter { $0.table == root.table }
    let columns = family.flatMap { entity in entity.uniqueKeys.flatMap(\.columns).map { entity.columns[$0] } }
    return Set(columns.filter { $0.storageType == "TEXT" && !$0.isExternal }.map(\.column)).sorted()
  }

  /// What a trigger does when a text is written over; nil for the column when the whole row goes.
  static func forgetting(_ column: String?, of table: String) -> String {
    "DELETE FROM _tombolo_decomposed WHERE record = OLD._tombolo_id"
      + (column.map { " AND tab = \(table.quotedLiteral) AND name = \($0.quotedLiteral)" } ?? "") + ";"
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
