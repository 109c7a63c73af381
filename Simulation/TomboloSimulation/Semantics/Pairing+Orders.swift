import Tombolo
import TomboloProtocol

/// The order of a to-many's members.
extension Pairing {
  static func orders(of entity: EntityPlan, in schema: StoreSchema) -> [Pairing] {
    let inherited = Set(
      entity.lineage.filter { $0 != entity.name }.flatMap { schema.entity($0)?.farSides.map(\.property) ?? [] })
    return entity.farSides.flatMap { side -> [Pairing] in
      guard side.positionColumn != nil, !inherited.contains(side.property),
        let member = schema.entity(side.destination),
        let column = member.columns.first(where: { $0.column == side.column }),
        case .reference(let reference) = column.kind
      else { return [] }
      let pair = OrderPair(owner: entity.name, side: side, reference: reference)
      return pair.moves + pair.deaths + pair.inserts
    }
  }
}

private struct OrderPair {
  let owner: String
  let side: FarSidePlan
  let reference: ResolvedReference

  private var member: String { side.destination }
  /// The members of the list before the two part.
  private static let members = ["one", "two", "three", "four"]

  private func pairing(
    _ code: String, _ firstDid: String, _ secondDid: String, first: @escaping (SemanticsStage) throws -> Void,
    second: @escaping (SemanticsStage) throws -> Void, observe: @escaping (SemanticsStage) throws -> String
  ) -> Pairing {
    Pairing(
      code: code, entity: owner, property: side.property, firstDid: firstDid, secondDid: secondDid,
      prepare: { stage in
        try stage.make("list", owner)
        for name in Self.members { try stage.make(name, member, [reference.name: try stage.reference("list")]) }
      }, first: first, second: second, observe: observe)
  }

  private func order(_ names: String...) -> (SemanticsStage) throws -> Void {
    { [side] stage in try stage.arrange(names, side, of: "list") }
  }

  // MARK: Moves

  var moves: [Pairing] {
    let side = side
    return [
      pairing(
        "place_place", "moves one \(member) to the front", "moves the same to the end, later",
        first: order("two", "one", "three", "four"), second: order("one", "three", "four", "two"),
        observe: { stage in
          switch try stage.members(side, of: "list") {
          case ["one", "three", "four", "two"]: return "The later move stands."
          case ["two", "one", "three", "four"]: return "The earlier move stands."
          case ["one", "two", "three", "four"]: return "Neither move stands."
          default: return "The list has another order."
          }
        }),
      pairing(
        "place_other", "moves one \(member) to the front", "moves another to the end, later",
        first: order("three", "one", "two", "four"), second: order("two", "three", "four", "one"),
        observe: { stage in
          try stage.members(side, of: "list") == ["three", "two", "four", "one"]
            ? "Both moves stand." : "One of the moves is lost."
        }),
    ]
  }

  // MARK: The member dies

  var deaths: [Pairing] {
    // Where nobody may delete a member of a list, nobody does.
    if reference.ownRule == .deny { return [] }
    let (side, member) = (side, member)
    let move = order("two", "one", "three", "four")
    let delete: (SemanticsStage) throws -> Void = { try $0.delete("two", member) }
    func fate(_ stage: SemanticsStage) throws -> String {
      guard try stage.has("two", member) else { return "The \(member) stays deleted." }
      return try stage.members(side, of: "list").first == "two"
        ? "The \(member) is back, at its new place." : "The \(member) is back, without the move."
    }
    return [
      pairing(
        "place_delete", "moves one \(member)", "deletes it, later", first: move, second: delete, observe: fate),
      pairing(
        "delete_place", "deletes one \(member)", "moves it, later", first: delete, second: move, observe: fate),
    ]
  }

  // MARK: Two insert at one place

  var inserts: [Pairing] {
    let (side, member, reference) = (side, member, reference.name)
    func insert(_ names: [String]) -> (SemanticsStage) throws -> Void {
      { stage in
        // Behind the first of the list.
        try stage.makeMembers(
          names, member, reference, in: side, of: "list", order: ["one"] + names + ["two", "three", "four"])
      }
    }
    let (mine, theirs) = (["a", "b"], ["c", "d"])
    return [
      pairing(
        "insert_insert", "inserts two at one place", "inserts two at the same place, later", first: insert(mine),
        second: insert(theirs),
        observe: { stage in
          let list = try stage.members(side, of: "list")
          guard list.first == "one", list.suffix(3).elementsEqual(["two", "three", "four"]) else {
            return "They are not where they were inserted."
          }
          switch Array(list.dropFirst().dropLast(3)) {
          case mine + theirs: return "All four are there: the first one's two, then the second one's."
          case theirs + mine: return "All four are there: the second one's two, then the first one's."
          default: return Set(list).count == 8 ? "All four are there, mixed." : "Some of the four are lost."
          }
        })
    ]
  }
}
