import TomboloProtocol
import TomboloSQLite

/// How one model class lies in one store: which property is which column.
package final class ModelPlan: @unchecked Sendable {
  // Guarded by being immutable once the container is made.
  package let description: ClassDescription
  package let entity: EntityPlan
  /// Where its records lie; nil for a plan of placeholders.
  let part: StorePart?
  /// By column position: the property; -1 for a position in an ordered list, which is none.
  package let properties: [Int]
  /// By property: the column position; nil for what has no column.
  package let positions: [Int?]
  /// In the order of the properties, for a SELECT; NULL where there is no column.
  let columnList: String
  /// By column position: the value that nobody chose; nil where every value counts as chosen.
  let unassigned: [Value?]
  /// The properties that merge by addition.
  package let counters: ColumnSet
  package let hasCounters: Bool
  /// The properties whose value may lie outside of the row.
  let externalProperties: [Int]
  let links: [(relationship: RelationshipDescription, plan: LinkPlan)]
  /// The ordered ones among the to-many relationships.
  let orderedLists: [(relationship: RelationshipDescription, side: FarSidePlan)]
  /// Whether a unique key may make one of its records one with another.
  let canBecomeAnother: Bool
  private let farSides: [FarSidePlan?]

  init(_ description: ClassDescription, _ entity: EntityPlan, _ part: StorePart?) {
    self.part = part
    self.description = description
    self.entity = entity
    let byName = Dictionary(
      description.properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    let properties = entity.columns.map { $0.isPosition ? -1 : byName[$0.property] ?? 0 }
    self.properties = properties
    positions = description.properties.indices.map { property in
      entity.columns.first { $0.property == description.properties[property].name }?.position
    }
    columnList = positions.map { position in
      position.map { "t0." + entity.columns[$0].column.quotedIdentifier } ?? "NULL"
    }.joined(separator: ", ")
    unassigned = entity.columns.map { column in
      guard case .attribute(let attribute) = column.kind else { return .null }
      switch attribute.defaultValue {
      case .constant(let value): return value
      case nil: return attribute.isOptional ? .null : nil
      default: return nil
      }
    }
    var counters = ColumnSet()
    for column in entity.columns where column.isCounter { counters.insert(properties[column.position]) }
    self.counters = counters
    hasCounters = !counters.isEmpty
    canBecomeAnother = entity.concreteNames.contains { name in
      (name == entity.name ? entity : part?.store.schema.entity(name))?.uniqueKeys.isEmpty == false
    }
    externalProperties = entity.columns.filter(\.isExternal).map { properties[$0.position] }
    links = description.relationships.compactMap { relationship in
      entity.links.first { $0.property == relationship.name }.map { (relationship, $0) }
    }
    let farSides = description.relationships.map { relationship in
      entity.farSides.first { $0.property == relationship.name }
    }
    self.farSides = farSides
    orderedLists = description.relationships.compactMap { relationship in
      farSides[relationship.cell].flatMap { $0.positionColumn == nil ? nil : (relationship, $0) }
    }
  }

  /// Whether the record itself holds the reference.
  func isReference(_ relationship: RelationshipDescription) -> Bool { positions[relationship.property] != nil }

  func farSide(_ relationship: RelationshipDescription) -> FarSidePlan? { farSides[relationship.cell] }

  func link(_ relationship: RelationshipDescription) -> LinkPlan? {
    links.first { $0.relationship === relationship }?.plan
  }
}

/// What a fetch of one class selects: the columns of every concrete class it may return.
struct FetchShape {
  /// After SELECT, with the record's table as `t0`.
  let columns: String
  let plan: ModelPlan
  /// The column of the first property.
  let first: Int32
  /// By which a connection keeps the statement that looks up one record.
  let lookUpNumber = StatementNumber.next()
  /// By entity name, where there is more than one class: its plan, and the column of its first property.
  let concrete: [String: (plan: ModelPlan, first: Int32)]?
  /// By entity name: the properties that are not read, by their place in the class.
  var leftOut: [String: ColumnSet] = [:]
}

/// The plans of all models of a container's schema.
package final class ModelPlans: @unchecked Sendable {
  // Guarded by being immutable once the container is made.
  package let maps: KeyPathMaps
  /// Whether some relationship has a least or a greatest number of members.
  let hasCounts: Bool
  /// Whether some to-many is ordered.
  let hasOrders: Bool
  private let byType: [ObjectIdentifier: ModelPlan]
  private let byName: [String: ModelPlan]
  private let shapes: [ObjectIdentifier: FetchShape]

  convenience init(_ descriptions: [ClassDescription], _ parts: [StorePart]) {
    self.init(
      descriptions.compactMap { description in
        for part in parts {
          if let entity = part.store.schema.entity(description.name) { return ModelPlan(description, entity, part) }
        }
        return nil
      })
  }

  /// Plans of objects that are in no store.
  convenience init(_ descriptions: [ClassDescription], _ schema: StoreSchema) {
    self.init(
      descriptions.compactMap { description in
        schema.entity(description.name).map { ModelPlan(description, $0, nil) }
      })
  }

  private init(_ plans: [ModelPlan]) {
    byType = Dictionary(
      plans.map { (ObjectIdentifier($0.description.type), $0) }, uniquingKeysWith: { first, _ in first })
    let byName = Dictionary(plans.map { ($0.entity.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.byName = byName
    hasCounts = plans.contains { $0.description.relationships.contains(where: \.isCounted) }
    hasOrders = plans.contains { !$0.orderedLists.isEmpty }
    maps = KeyPathMaps(
      plans.map { plan in
        let description = plan.description
        return KeyPathMap(
          entity: description.name, model: description.type,
          properties: description.properties.map { ($0.path, $0.name) }
            + description.properties.map { ($0.declaredPath, $0.name) }
            + description.otherPaths.map { ($0.path, $0.name) })
      })
    shapes = Dictionary(
      plans.map { (ObjectIdentifier($0), Self.shape(of: $0, byName)) }, uniquingKeysWith: { first, _ in first })
  }

  private static func shape(of plan: ModelPlan, _ byName: [String: ModelPlan]) -> FetchShape {
    let names = plan.entity.concreteNames.filter { byName[$0] != nil }
    guard plan.entity.hasEntityColumn, names.count > 1 else {
      let list = plan.columnList.isEmpty ? "" : ", " + plan.columnList
      return FetchShape(columns: "t0.\"_tombolo_id\"" + list, plan: plan, first: 1, concrete: nil)
    }
    var columns = "t0.\"_tombolo_id\", t0.\"_tombolo_entity\""
    var concrete: [String: (plan: ModelPlan, first: Int32)] = [:]
    var next: Int32 = 2
    for name in names {
      guard let part = byName[name] else { continue }
      concrete[name] = (part, next)
      if !part.columnList.isEmpty { columns += ", " + part.columnList }
      next += Int32(part.description.properties.count)
    }
    return FetchShape(columns: columns, plan: plan, first: 2, concrete: concrete)
  }

  package func plan(for type: any PersistentModel.Type) -> ModelPlan? { byType[ObjectIdentifier(type)] }
  package func plan(named name: String) -> ModelPlan? { byName[name] }

  func shape(of plan: ModelPlan) -> FetchShape {
    shapes[ObjectIdentifier(plan)] ?? Self.shape(of: plan, byName)
  }

  /// - Throws: `model_not_in_schema`.
  func requirePlan(for type: any PersistentModel.Type) throws -> ModelPlan {
    if let plan = plan(for: type) { return plan }
    throw ModelErrors.notInSchema(type)
  }
}
