import Tombolo
import TomboloProtocol
import TomboloSQLite

/// Operands and options that several commands share.
enum Shared {
  static let store = OperandDeclaration("STORE", help: "The replica's file.")
  static let entity = OperandDeclaration("ENTITY", help: "The entity's name in the schema.")
  static let identifier = OperandDeclaration("ID", help: "The record's identifier, or a unique beginning of it.")
  static let json = CommandOption.flag("json", help: "Write JSON.")
  static let tokenFile = CommandOption.required("token-file", "FILE", help: "The file that holds the server's token.")
}

/// `tombolo add STORE ENTITY name=value…`
package struct AddCommand: Command {
  package static let declaration = CommandDeclaration(
    "add", summary: "Add a record, and print its identifier",
    discussion: Assignments.help,
    operands: [Shared.store, Shared.entity, OperandDeclaration("name=value", .some, help: "The new record's values.")],
    options: [Shared.json.declaration])

  let store: String
  let entity: String
  let assignments: Assignments
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    entity = arguments["ENTITY"]
    assignments = try Assignments(arguments.all("name=value"))
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store)
    let plan = try RecordAccess.entity(entity, in: store.schema)
    let id = store.makeRecordID()
    let saved = try store.save { writer in
      var values = try assignments.values(for: plan, in: store.schema, on: writer.connection)
      let given = values
      try NewRecord.complete(&values, of: plan, clock: context.clock, randomness: context.randomness)
      let row = try ValueRow(plan, values)
      try writer.insert(plan, id, assigned: row.assigned, from: row)
      try assignments.members(for: plan).apply(to: id, schema: store.schema, writer: writer)
      return given.count
    }
    // A unique value that another record has unites the two: the other's identifier may be the one that stands.
    let standing = saved.outcome.merged[id] ?? id
    if isJSON {
      context.output.json(.object([("id", .string(standing.description)), ("isNew", .bool(standing == id))]))
    } else {
      context.output.line(standing.description)
      if standing != id {
        context.output.note("A record with this unique value was there already; it has the values now.")
      }
    }
  }
}

/// `tombolo set STORE ENTITY ID name=value…`
package struct SetCommand: Command {
  package static let declaration = CommandDeclaration(
    "set", summary: "Change a record's values",
    discussion: Assignments.help,
    operands: [
      Shared.store, Shared.entity, Shared.identifier,
      OperandDeclaration("name=value", .some, help: "The values to set."),
    ])

  let store: String
  let entity: String
  let identifier: String
  let assignments: Assignments

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    entity = arguments["ENTITY"]
    identifier = arguments["ID"]
    assignments = try Assignments(arguments.all("name=value"))
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store)
    let plan = try RecordAccess.entity(entity, in: store.schema)
    try store.save { writer in
      let id = try RecordAccess.record(identifier, of: plan, on: writer.connection)
      let values = try assignments.values(for: plan, in: store.schema, on: writer.connection)
      let row = try ValueRow(plan, values)
      // Whoever sets one value at a terminal does not mean to do away with another record.
      writer.keepsRecordsApart = true
      try writer.update(plan, id, changed: row.assigned, from: row)
      try assignments.members(for: plan).apply(to: id, schema: store.schema, writer: writer)
    }
  }
}

/// `tombolo delete STORE ENTITY ID`
package struct DeleteCommand: Command {
  package static let declaration = CommandDeclaration(
    "delete", summary: "Delete a record, and what its delete rules name",
    operands: [Shared.store, Shared.entity, Shared.identifier])

  let store: String
  let entity: String
  let identifier: String

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    entity = arguments["ENTITY"]
    identifier = arguments["ID"]
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store)
    let plan = try RecordAccess.entity(entity, in: store.schema)
    let saved = try store.save { writer in
      let id = try RecordAccess.record(identifier, of: plan, on: writer.connection)
      try writer.delete(plan, id)
    }
    let others = saved.outcome.deleted.count - 1
    if others > 0 {
      context.output.note("\(others) more went with it, by the delete rules.")
    } else if context.output.isTerminal {
      context.output.note("deleted")
    }
  }
}

/// `tombolo get STORE ENTITY ID`
package struct GetCommand: Command {
  package static let declaration = CommandDeclaration(
    "get", summary: "Show one record",
    operands: [Shared.store, Shared.entity, Shared.identifier], options: [Shared.json.declaration])

  /// Identifiers of a to-many relationship that are shown; the number is always whole.
  static let membersMax = 1_000

  let store: String
  let entity: String
  let identifier: String
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    entity = arguments["ENTITY"]
    identifier = arguments["ID"]
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store, readOnly: true)
    let plan = try RecordAccess.entity(entity, in: store.schema)
    try store.read { connection in
      let id = try RecordAccess.record(identifier, of: plan, on: connection)
      let row = try connection.firstRow(
        RecordRow.selection(of: plan) + " WHERE _tombolo_id = ?1", { $0.bind(id, at: 1) }
      ) { RecordRow($0) }
      guard let row = row ?? nil else { return }
      let members = try relationships(of: plan, id, on: connection)
      if isJSON {
        let lists = members.map { ($0.name, JSONText.array($0.ids.map { .string($0.description) })) }
        context.output.json(.object(row.json(plan) + lists))
      } else {
        show(row, members, plan, in: context.output)
      }
    }
  }

  private func show(_ row: RecordRow, _ members: [Members], _ plan: EntityPlan, in output: Output) {
    var lines = [(plan.identifierKey, row.id.description)]
    if let entity = row.entity { lines.append(("entity", entity)) }
    for (column, text) in zip(plan.declaredColumns, row.texts(plan)) { lines.append((column.property, text ?? "—")) }
    for members in members {
      let shown = members.ids.prefix(3).map(\.description).joined(separator: ", ")
      lines.append(
        (
          members.name,
          members.ids.isEmpty ? "—" : "\(members.ids.count): \(shown)\(members.ids.count > 3 ? ", …" : "")"
        ))
    }
    let width = lines.map(\.0.count).max() ?? 0
    for (name, text) in lines {
      output.line(name + String(repeating: " ", count: width - name.count + 2) + TextTable.shown(text))
    }
  }

  struct Members {
    var name: String
    var ids: [RecordID]
  }

  private func relationships(of plan: EntityPlan, _ id: RecordID, on connection: Connection) throws -> [Members] {
    var members: [Members] = []
    func list(_ name: String, _ sql: String) throws {
      var ids: [RecordID] = []
      try connection.eachRow(sql + " LIMIT \(Self.membersMax)", { $0.bind(id, at: 1) }) { row in
        if let member = row.recordID(0) { ids.append(member) }
      }
      members.append(Members(name: name, ids: ids))
    }
    for side in plan.farSides {
      try list(
        side.property,
        "SELECT _tombolo_id FROM \(side.table.quotedIdentifier) AS t0 WHERE \(side.column.quotedIdentifier) = ?1 ORDER BY "
          + (side.positionColumn == nil ? "1" : side.order(in: "t0")))
    }
    for link in plan.links {
      try list(
        link.property,
        "SELECT \(link.otherColumn) FROM \(link.table.quotedIdentifier) WHERE \(link.ownColumn) = ?1 ORDER BY rowid")
    }
    return members
  }
}
