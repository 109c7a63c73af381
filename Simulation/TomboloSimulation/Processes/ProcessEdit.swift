import Tombolo
import TomboloProtocol

/// An operation of the generator as a call of the program.
struct ProcessEdit {
  /// What stands behind the program's name; `STORE` is the replica's path.
  var arguments: [String]
  /// A file for `tombolo import`, at the place of `FILE`.
  var file: String?
  /// The values that the call writes, as the program reads them.
  var values: [String: Value] = [:]
  var entity: String
  /// Nil for a new record.
  var record: RecordID?
  /// Whether it must leave a save behind: a value that is set may be there already.
  var isAlwaysASave: Bool

  /// - Returns: nil for what the command line has no word for.
  init?(_ operation: Operation, _ roles: SchemaRoles, owner: @autoclosure () -> String) {
    switch operation {
    case .insert(let name, _, let values):
      guard let role = roles.entity(name) else { return nil }
      var values = values
      if let column = Self.ownerColumn(of: role) { values[column.property] = .text(owner()) }
      let words = Self.words(values, role.plan)
      guard !words.isEmpty else { return nil }
      arguments = ["add", "STORE", name] + words
      self.values = Self.read(values, role.plan)
      entity = name
      // An equal record with the same key may be there: nothing is written then.
      isAlwaysASave = role.uniqueColumns.isEmpty
    case .update(let name, let id, let values):
      guard let role = roles.entity(name) else { return nil }
      var values = values
      if let column = Self.ownerColumn(of: role) { values[column.property] = nil }
      let words = Self.words(values, role.plan)
      guard !words.isEmpty else { return nil }
      arguments = ["set", "STORE", name, id.description] + words
      self.values = Self.read(values, role.plan)
      entity = name
      record = id
      isAlwaysASave = false
    case .delete(let name, let id):
      arguments = ["delete", "STORE", name, id.description]
      entity = name
      record = id
      isAlwaysASave = true
    case .link, .unlink: return nil
    }
  }

  /// A ledger's transfer: both of its records in one save, by an import that finds them by their owner.
  init?(transfer operations: [Operation], _ roles: SchemaRoles, _ content: StoreContent) {
    var lines: [String] = []
    guard case .update(let name, _, _)? = operations.first, let role = roles.entity(name), let ledger = role.ledger,
      let owner = Self.ownerColumn(of: role)
    else { return nil }
    let balance = role.plan.columns[ledger].property
    for operation in operations {
      guard case .update(name, let id, let values) = operation, case .integer(let amount)? = values[balance],
        case .text(let text)? = content.record(id)?.values[owner.position], !text.isEmpty
      else { return nil }
      lines.append("\(text),\(amount)")
    }
    arguments = ["import", "STORE", "FILE", "--entity", name, "--key", owner.property]
    file = "\(owner.property),\(balance)\n" + lines.joined(separator: "\n") + "\n"
    entity = name
    isAlwaysASave = false
  }

  /// New records of an entity without required references, many in one save.
  init?(importing count: Int, of role: SchemaRoles.Entity, _ generator: inout SeededGenerator, clock: any WallClock) {
    guard role.ledger == nil, role.uniqueColumns.isEmpty, role.canInsert else { return nil }
    let columns = role.plan.declaredColumns.filter { column in
      if case .attribute(let attribute) = column.kind { return !ValueGenerator.isOpaque(attribute) }
      return false
    }
    guard !columns.isEmpty, role.plan.declaredColumns.allSatisfy(Self.mayBeLeftOut) else { return nil }
    var lines = [columns.map(\.property).joined(separator: ",")]
    for _ in 0..<count {
      var values: [String: Value] = [:]
      for column in columns {
        guard let attribute = column.simpleAttribute else { continue }
        values[column.property] = ValueGenerator.value(of: attribute, &generator, clock: clock)
      }
      if let twins = role.twins {
        values[role.plan.columns[twins.1].property] = values[role.plan.columns[twins.0].property]
      }
      lines.append(columns.map { Self.field(values[$0.property] ?? .null, $0) }.joined(separator: ","))
    }
    // A line with nothing on it is no record.
    if lines.allSatisfy({ $0.isEmpty || $0 == lines[0] }) { return nil }
    arguments = ["import", "STORE", "FILE", "--entity", role.plan.name]
    file = lines.joined(separator: "\n") + "\n"
    entity = role.plan.name
    isAlwaysASave = true
  }

  /// The text by which an import finds a ledger's records.
  private static func ownerColumn(of role: SchemaRoles.Entity) -> ColumnPlan? {
    guard role.ledger != nil else { return nil }
    return role.plan.columns.first { $0.simpleAttribute?.type == .string }
  }

  private static func mayBeLeftOut(_ column: ColumnPlan) -> Bool {
    if case .reference(let reference) = column.kind { return reference.isOptional }
    return true
  }

  private static func words(_ values: [String: Value], _ plan: EntityPlan) -> [String] {
    plan.declaredColumns.compactMap { column in
      guard let value = values[column.property] else { return nil }
      return value.isNull ? "\(column.property):null" : "\(column.property)=\(text(value, column))"
    }
  }

  private static func text(_ value: Value, _ column: ColumnPlan) -> String {
    ValueRules.text(of: value, as: column.simpleAttribute?.type ?? .uuid)
  }

  /// The values as the program will have read them: a date's text has no more than milliseconds.
  private static func read(_ values: [String: Value], _ plan: EntityPlan) -> [String: Value] {
    var read: [String: Value] = [:]
    for column in plan.declaredColumns {
      guard let value = values[column.property] else { continue }
      let parsed = column.simpleAttribute.flatMap {
        try? ValueRules.value(parsing: text(value, column), as: $0.type, named: column.property)
      }
      read[column.property] = value.isNull ? .null : parsed ?? value
    }
    return read
  }

  private static func field(_ value: Value, _ column: ColumnPlan) -> String {
    value.isNull ? "" : "\"" + text(value, column).replacing("\"", with: "\"\"") + "\""
  }
}

extension ColumnPlan {
  /// Nil for a reference.
  fileprivate var simpleAttribute: SchemaAttribute? {
    if case .attribute(let attribute) = kind { return attribute }
    return nil
  }
}
