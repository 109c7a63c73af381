import TomboloProtocol
import TomboloSQLite

/// The prepared statements of the write path, found by entity and column set instead of by their text.
final class WriterStatements {
  private let connection: Connection
  let replicas: ReplicaNumbers
  private var change: Statement?
  private var inserts: [Statement?] = []
  private var updates: [UpdateKey: UpdateStatements] = [:]
  private var lastUpdate: (key: UpdateKey, statements: UpdateStatements)?
  private var plainUpdates: [UpdateKey: Statement] = [:]
  private var lastPlainUpdate: (key: UpdateKey, statement: Statement)?
  private var questions: [Question: Statement] = [:]

  /// What a delete asks, once for each record. Its text is put together once.
  struct Question: Hashable {
    enum Kind { case kind, delete, holders, pairs, others, lastPlace }
    var kind: Kind
    /// The entity's index, where one is asked about.
    var entity = 0
    /// The column's position; for a table of pairs, 0 on its source's side and 1 on the other.
    var column = 0
    /// A table of pairs.
    var table = ""
  }

  private struct UpdateKey: Hashable {
    var entity: Int
    var columns: ColumnSet
  }

  struct UpdateStatements {
    /// Returns the row's number, the stamps and then the columns of the set, for one identity.
    var select: Statement
    /// Takes the row, the stamps, and then the columns of the set.
    var update: Statement
    /// Whether the row is named by its number: what was found is not searched for again. Otherwise by its identity.
    var namesRow: Bool

    /// Says which row `update` changes.
    func bind(_ id: RecordID, row: Int64) {
      if namesRow { update.bind(row, at: 1) } else { update.bind(high: id.high, low: id.low, at: 1) }
    }
  }

  init(_ connection: Connection) {
    self.connection = connection
    replicas = ReplicaNumbers(connection)
  }

  /// Forgets them all, as after a change of the tables or another schema.
  func removeAll() {
    change = nil
    inserts.removeAll()
    updates.removeAll()
    lastUpdate = nil
    plainUpdates.removeAll()
    lastPlainUpdate = nil
    questions.removeAll()
  }

  func question(_ question: Question, _ text: () -> String) throws -> Statement {
    if let statement = questions[question], !statement.isBusy { return statement }
    let statement = try connection.prepare(text())
    if questions.count >= 500 { questions.removeAll() }
    questions[question] = statement
    return statement
  }

  /// Takes save, position, entity, record, kind and detail of a change.
  func recording() throws -> Statement {
    if let change { return change }
    let statement = try connection.prepare(
      "INSERT INTO _tombolo_change(save, position, entity, record, kind, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
    change = statement
    return statement
  }

  /// Takes the identity, the stamps, and then every column.
  func insert(_ entity: EntityPlan) throws -> Statement {
    if entity.index < inserts.count, let statement = inserts[entity.index] { return statement }
    var names = ["_tombolo_id", "_tombolo_stamps"]
    var values = ["?1", "?2"]
    for column in entity.columns {
      names.append(column.column.quotedIdentifier)
      values.append("?\(column.position + 3)")
    }
    if entity.hasEntityColumn {
      names.append("_tombolo_entity")
      values.append(entity.name.quotedLiteral)
    }
    let statement = try connection.prepare(
      "INSERT INTO \(entity.table.quotedIdentifier)(\(names.joined(separator: ", "))) "
        + "VALUES (\(values.joined(separator: ", ")))")
    while inserts.count <= entity.index { inserts.append(nil) }
    inserts[entity.index] = statement
    return statement
  }

  func update(_ entity: EntityPlan, _ columns: ColumnSet) throws -> UpdateStatements {
    let key = UpdateKey(entity: entity.index, columns: columns)
    if let lastUpdate, lastUpdate.key == key { return lastUpdate.statements }
    if let statements = updates[key] {
      lastUpdate = (key, statements)
      return statements
    }
    var names: [String] = []
    var values: [String] = []
    let table = entity.table.quotedIdentifier
    columns.forEach {
      names.append(entity.columns[$0].column.quotedIdentifier)
      values.append(entity.columns[$0].value(in: table))
    }
    // SQLite's own name for a row's number, unless a property bears it.
    let namesRow = !entity.hasEntityColumn && !entity.columns.contains { $0.column.lowercased() == "_rowid_" }
    let row = namesRow ? "_rowid_" : "_tombolo_id"
    let select =
      "SELECT \(([row, "_tombolo_stamps"] + values).joined(separator: ", ")) FROM \(table) WHERE _tombolo_id = ?1"
    let assignments = names.enumerated().map { ", \($1) = ?\($0 + 3)" }.joined()
    let statements = UpdateStatements(
      select: try connection.prepare(select),
      update: try connection.prepare(
        "UPDATE \(table) SET _tombolo_stamps = ?2\(assignments) WHERE \(row) = ?1"),
      namesRow: namesRow)
    if updates.count >= 200 { updates.removeAll() }
    updates[key] = statements
    lastUpdate = (key, statements)
    return statements
  }

  /// Takes the identity and then, from the third parameter on, the columns of the set; changes nothing where they are
  /// equal already.
  func plainUpdate(_ entity: EntityPlan, _ columns: ColumnSet) throws -> Statement {
    let key = UpdateKey(entity: entity.index, columns: columns)
    if let lastPlainUpdate, lastPlainUpdate.key == key { return lastPlainUpdate.statement }
    let statement: Statement
    if let known = plainUpdates[key] {
      statement = known
    } else {
      var assignments: [String] = []
      var differences: [String] = []
      columns.forEach { position in
        let name = entity.columns[position].column.quotedIdentifier
        assignments.append("\(name) = ?\(assignments.count + 3)")
        let value = entity.columns[position].value(in: entity.table.quotedIdentifier)
        differences.append("\(value) IS NOT ?\(differences.count + 3)")
      }
      statement = try connection.prepare(
        "UPDATE \(entity.table.quotedIdentifier) SET \(assignments.joined(separator: ", ")) "
          + "WHERE _tombolo_id = ?1 AND (\(differences.joined(separator: " OR ")))")
      if plainUpdates.count >= 200 { plainUpdates.removeAll() }
      plainUpdates[key] = statement
    }
    lastPlainUpdate = (key, statement)
    return statement
  }
}
