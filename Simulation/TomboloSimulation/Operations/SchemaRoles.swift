import Tombolo
import TomboloProtocol

/// What the generator may do with each entity, and which promises the checkers can hold it to.
///
/// - *Twins*: two attributes that the generator always writes together and with one value. A reader who ever sees them
///   apart has seen half a save.
/// - *Ledger*: an entity whose counter only ever moves from one record to another within a save, and whose records stay.
///   A reader to whom the sum is not zero has seen half a save, or one twice.
struct SchemaRoles {
  struct Entity {
    let plan: EntityPlan
    /// Positions of the two.
    let twins: (Int, Int)?
    /// The counter's position, in a ledger.
    let ledger: Int?
    let uniqueColumns: Set<Int>
    /// Whether values of every attribute that needs one can be made up.
    let canInsert: Bool
  }

  let schema: StoreSchema
  let entities: [Entity]

  private let places: [String: Int]

  /// - Parameter isShared: whether somebody else writes too, who knows nothing of twins and ledgers.
  init(_ schema: StoreSchema, isShared: Bool = false) {
    self.schema = schema
    entities = schema.entities.map { plan in
      let unique = Set(plan.uniqueKeys.flatMap(\.columns))
      return Entity(
        plan: plan, twins: isShared ? nil : Self.twins(plan, unique), ledger: isShared ? nil : Self.ledger(plan),
        uniqueColumns: unique, canInsert: plan.columns.allSatisfy(Self.canBeMadeUp))
    }
    places = Dictionary(
      entities.enumerated().map { ($0.element.plan.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
  }

  func entity(_ name: String) -> Entity? { places[name].map { entities[$0] } }

  private static func canBeMadeUp(_ column: ColumnPlan) -> Bool {
    guard case .attribute(let attribute) = column.kind else { return true }
    return !ValueGenerator.isOpaque(attribute) || attribute.isOptional || attribute.defaultValue != nil
  }

  private static func twins(_ plan: EntityPlan, _ unique: Set<Int>) -> (Int, Int)? {
    var first: [String: Int] = [:]
    for column in plan.declaredColumns where !unique.contains(column.position) {
      guard case .attribute(let attribute) = column.kind, attribute.merge == .lastWriter, attribute.type != .bool,
        !ValueGenerator.isOpaque(attribute)
      else {
        continue
      }
      let key = "\(attribute.type.rawValue) \(column.isOptional)"
      if let other = first[key] { return (other, column.position) }
      first[key] = column.position
    }
    return nil
  }

  private static func ledger(_ plan: EntityPlan) -> Int? {
    // Without relationships no rule can delete or unite its records, so the sum is the generator's alone.
    guard plan.uniqueKeys.isEmpty, plan.links.isEmpty, plan.farSides.isEmpty, !plan.hasEntityColumn else { return nil }
    guard !plan.columns.contains(where: { if case .reference = $0.kind { true } else { false } }) else { return nil }
    return plan.columns.first { column in
      guard case .attribute(let attribute) = column.kind else { return false }
      return attribute.merge == .counter && (attribute.type == .int64 || attribute.type == .int32)
    }?.position
  }
}
