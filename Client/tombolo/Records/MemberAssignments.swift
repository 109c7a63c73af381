import Tombolo
import TomboloProtocol
import TomboloSQLite

/// The arguments of `add` and `set` that are about a relationship's members: `tags+=ID,ID`, `tags-=ID`, `tags=ID,ID`.
///
/// Of a many-to-many they link and part pairs; of the side of a relationship whose references lie at the other side, they
/// write those references.
struct MemberAssignments {
  private enum Act { case add, remove, replace }

  /// One side of a relationship that has no column in the record's own table.
  private enum Side {
    case link(LinkPlan)
    case far(FarSidePlan)

    var property: String {
      switch self {
      case .link(let plan): plan.property
      case .far(let plan): plan.property
      }
    }
    var destination: String {
      switch self {
      case .link(let plan): plan.destination
      case .far(let plan): plan.destination
      }
    }
  }

  private struct Item {
    var side: Side
    var act: Act
    var members: [String]
  }

  private var items: [Item] = []
  private let entity: EntityPlan

  init(of entity: EntityPlan) { self.entity = entity }

  /// Takes an argument whose name is a relationship's; false where it is not.
  ///
  /// - Throws: ``UsageError`` for a member that is not named.
  mutating func take(_ item: Assignments.Item) throws -> Bool {
    var (name, act) = (item.name, Act.replace)
    var side = Self.side(name, of: entity)
    if side == nil, let sign = name.last, sign == "+" || sign == "-" {
      name.removeLast()
      (side, act) = (Self.side(name, of: entity), sign == "+" ? .add : .remove)
    }
    guard let side else { return false }
    let text = item.text ?? ""
    let members =
      text.isEmpty
      ? [] : text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.filter { $0 != " " }) }
    guard !members.contains(""), act == .replace || !members.isEmpty else {
      throw UsageError("'\(item.name)=\(text)' names no record: give identifiers, separated by commas")
    }
    if act == .replace, items.contains(where: { $0.side.property == name }) {
      throw UsageError("\(name) is given twice")
    }
    items.append(Item(side: side, act: act, members: members))
    return true
  }

  var isEmpty: Bool { items.isEmpty }

  private static func side(_ name: String, of entity: EntityPlan) -> Side? {
    if let link = entity.links.first(where: { $0.property == name }) { return .link(link) }
    return entity.farSides.first { $0.property == name }.map(Side.far)
  }

  /// Writes them for a record that is there.
  ///
  /// - Throws: `unknown_record`, `ambiguous`; `required_reference` for a member that cannot be without its owner.
  func apply(to id: RecordID, schema: StoreSchema, writer: StoreWriter) throws {
    for item in items {
      let destination = try RecordAccess.entity(item.side.destination, in: schema)
      var given: [RecordID] = []
      for text in item.members {
        let member = try RecordAccess.record(text, of: destination, on: writer.connection)
        if !given.contains(member) { given.append(member) }
      }
      if case .far(let side) = item.side, !side.isToMany, item.act != .remove, given.count > 1 {
        throw TomboloError(
          .wrongType, "\(entity.name).\(side.property) takes one record, and \(given.count) are given.",
          remedy: "Give one identifier.")
      }
      let known = try members(item.side, of: id, on: writer.connection)
      if item.act == .replace {
        for member in known where !given.contains(member) { try part(item.side, id, member, destination, writer) }
      }
      for member in given {
        let isKnown = known.contains(member)
        if item.act == .remove {
          if isKnown { try part(item.side, id, member, destination, writer) }
        } else if !isKnown {
          try join(item.side, id, member, destination, writer)
        }
      }
      // The order in which they are given is theirs.
      if item.act == .replace, case .far(let side) = item.side { try writer.arrange(given, in: side, of: id) }
    }
  }

  private func members(_ side: Side, of id: RecordID, on connection: Connection) throws -> [RecordID] {
    let sql =
      switch side {
      case .link(let plan):
        "SELECT \(plan.otherColumn) FROM \(plan.table.quotedIdentifier) WHERE \(plan.ownColumn) = ?1"
      case .far(let plan):
        "SELECT _tombolo_id FROM \(plan.table.quotedIdentifier) WHERE \(plan.column.quotedIdentifier) = ?1"
      }
    var members: [RecordID] = []
    try connection.eachRow(sql, { $0.bind(id, at: 1) }) { row in
      if let member = row.recordID(0) { members.append(member) }
    }
    return members
  }

  private func join(
    _ side: Side, _ id: RecordID, _ member: RecordID, _ destination: EntityPlan, _ writer: StoreWriter
  ) throws {
    switch side {
    case .link(let plan): try writer.link(plan, id, member)
    case .far(let plan): try refer(plan, from: member, to: Value(reference: id), destination, writer)
    }
  }

  private func part(
    _ side: Side, _ id: RecordID, _ member: RecordID, _ destination: EntityPlan, _ writer: StoreWriter
  ) throws {
    switch side {
    case .link(let plan): try writer.unlink(plan, id, member)
    case .far(let plan):
      guard destination.column(plan.reference)?.isOptional ?? true else {
        throw TomboloError(
          .requiredReference,
          "\(destination.name).\(plan.reference) cannot be without a record: \(member) would be without its \(entity.name).",
          remedy: "Give the record another one, or delete it.")
      }
      try refer(plan, from: member, to: .null, destination, writer)
    }
  }

  private func refer(
    _ plan: FarSidePlan, from member: RecordID, to value: Value, _ destination: EntityPlan, _ writer: StoreWriter
  ) throws {
    let row = try ValueRow(destination, [plan.reference: value])
    try writer.update(destination, member, changed: row.assigned, from: row)
  }
}
