import TomboloProtocol
import TomboloSQLite

/// The statements on one entity's rows, and what a pull asks of each column, side by side.
final class RecordTable {
  struct Column {
    let name: String
    let number: Int
    /// Nil for a reference.
    let type: AttributeType?
    let isOptional: Bool
  }

  struct Reference {
    let position: Int
    let destination: String
    let isAcyclic: Bool
  }

  let entity: EntityPlan
  let columns: [Column]
  let references: [Reference]
  private let connection: Connection
  private var statements: (select: Statement?, insert: Statement?)
  private var updates: [ColumnSet: Statement] = [:]
  private var lastUpdate: (columns: ColumnSet, statement: Statement)?
  private var lastPositions: (names: [String], positions: [Int])?

  init(_ entity: EntityPlan, _ connection: Connection) {
    self.entity = entity
    self.connection = connection
    var columns: [Column] = []
    var references: [Reference] = []
    for column in entity.columns {
      var type: AttributeType?
      switch column.kind {
      case .attribute(let attribute): type = attribute.type
      case .reference(let reference):
        references.append(
          Reference(position: column.position, destination: reference.destination, isAcyclic: reference.isAcyclic))
      }
      columns.append(
        Column(name: column.property, number: column.number, type: type, isOptional: column.isOptional))
    }
    self.columns = columns
    self.references = references
  }

  /// ``EntityPlan/selectRow``; to be reset after each use.
  func select() throws -> Statement {
    if let select = statements.select { return select }
    let select = try connection.cached(entity.selectRow)
    statements.select = select
    return select
  }

  /// ``EntityPlan/insertRow``.
  func insert() throws -> Statement {
    if let insert = statements.insert { return insert }
    let insert = try connection.cached(entity.insertRow)
    statements.insert = insert
    return insert
  }

  /// Takes the identity, the stamps, and then the columns of the set.
  func update(_ set: ColumnSet) throws -> Statement {
    if let lastUpdate, lastUpdate.columns == set { return lastUpdate.statement }
    let statement = try updates[set] ?? makeUpdate(set)
    updates[set] = statement
    lastUpdate = (set, statement)
    return statement
  }

  private func makeUpdate(_ set: ColumnSet) throws -> Statement {
    var assignments = "_tombolo_stamps = ?2"
    var parameter = 3
    set.forEach {
      assignments += ", \(entity.columns[$0].column.quotedIdentifier) = ?\(parameter)"
      parameter += 1
    }
    // Sets of columns come from other people's edits: there may be very many.
    if updates.count >= 200 { updates.removeAll() }
    return try connection.prepare(
      "UPDATE \(entity.table.quotedIdentifier) SET \(assignments) WHERE _tombolo_id = ?1")
  }

  /// The columns' positions of a record's fields; nil if one is not known here, or has a value of another class.
  func positions(of fields: [FieldState]) -> [Int]? {
    let positions: [Int]
    if let last = lastPositions, last.names.elementsEqual(fields, by: { $0 == $1.name }) {
      positions = last.positions
    } else {
      var found: [Int] = []
      for field in fields {
        guard let position = columns.firstIndex(where: { $0.name == field.name }) else { return nil }
        found.append(position)
      }
      lastPositions = (fields.map(\.name), found)
      positions = found
    }
    for (field, position) in zip(fields, positions) where !field.value.fits(columns[position].type) { return nil }
    return positions
  }
}
