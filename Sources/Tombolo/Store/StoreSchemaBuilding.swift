package import TomboloProtocol

extension StoreSchema {
  /// The schema with the names that a new store gives it.
  package convenience init(document: SchemaDocument) {
    var layout = StoreLayout()
    layout.extend(by: ResolvedSchema(document))
    self.init(document: document, layout: layout)
  }

  /// The schema with the names of a layout, which has a place for every property.
  package convenience init(document: SchemaDocument, layout: StoreLayout) {
    let resolved = ResolvedSchema(document)
    let builder = PlanBuilder(document: document, resolved: resolved, layout: layout)
    let numbered = document.entities
      .map { (layout.places[StoreLayout.Key(entity: $0.name, property: "")]?.number ?? 0, $0.name) }
      .sorted { $0 < $1 }
    self.init(
      document: document, entities: numbered.enumerated().map { builder.plan(of: $1.1, index: $0, number: $1.0) })
  }
}

/// Works out the plan of each entity.
private struct PlanBuilder {
  let document: SchemaDocument
  let resolved: ResolvedSchema
  let layout: StoreLayout

  func plan(of name: String, index: Int, number: Int) -> EntityPlan {
    guard let entity = resolved.entity(name) else {
      preconditionFailure("the schema lists \(name), so it resolves")
    }
    let columns = self.columns(of: entity)
    let positions = Dictionary(columns.map { ($0.property, $0.position) }, uniquingKeysWith: { first, _ in first })
    let indexed = document.entities.first { $0.name == name }?.indexes ?? []
    let table = place(entity.root, "").name
    // A tree of columns that no tree can hold is an ordinary index.
    let trees = indexed.filter { $0.kind == .rtree }.compactMap { index in
      TreePlan(table: table, columns: index.attributes.compactMap { positions[$0] }.map { columns[$0] })
        .map { (attributes: index.attributes, plan: $0) }
    }
    let hierarchy = resolved.entity(entity.root)?.descendants.isEmpty == false
    return EntityPlan(
      name: name, index: index, number: number, table: place(entity.root, "").name, lineage: entity.lineage,
      concreteNames: [name] + entity.descendants, hasEntityColumn: hierarchy, columns: columns,
      farSides: entity.farSides.compactMap(farSide), links: entity.links.compactMap(link),
      uniqueKeys: entity.unique.map { declaring, constraint in
        UniquePlan(
          declaringEntity: declaring, columns: constraint.attributes.compactMap { positions[$0] },
          onConflict: constraint.onConflict)
      },
      indexes: indexed.filter { !trees.map(\.attributes).contains($0.attributes) || $0.kind == .binary }.map { index in
        index.attributes.compactMap { positions[$0] }.map { columns[$0].column }
      },
      trees: trees.map(\.plan),
      orders: entity.orders.compactMap { order in
        guard let key = positions[order.name], let reference = positions[order.reference] else { return nil }
        return OrderPlan(key: key, reference: reference, declaringEntity: order.declaringEntity)
      },
      tableColumnCount: layout.columnCount(ofTable: place(entity.root, "").name))
  }

  private func place(_ entity: String, _ property: String) -> StoreLayout.Place {
    layout.places[StoreLayout.Key(entity: entity, property: property)]
      ?? StoreLayout.Place(kind: .column, name: property, number: 0)
  }

  private func columns(of entity: ResolvedEntity) -> [ColumnPlan] {
    var columns: [ColumnPlan] = []
    for level in entity.lineage {
      let attributes = document.entities.first { $0.name == level }?.attributes.sorted { $0.name < $1.name } ?? []
      for attribute in attributes {
        let place = place(level, attribute.name)
        columns.append(
          ColumnPlan(
            position: columns.count, number: place.number, property: attribute.name, column: place.name,
            kind: .attribute(attribute), isOptional: attribute.isOptional, declaringEntity: level))
      }
      for reference in entity.references where reference.declaringEntity == level {
        let place = place(level, reference.name)
        columns.append(
          ColumnPlan(
            position: columns.count, number: place.number, property: reference.name, column: place.name,
            kind: .reference(reference), isOptional: reference.isOptional, declaringEntity: level))
      }
      for order in entity.orders where order.declaringEntity == level {
        let place = place(level, order.name)
        columns.append(
          ColumnPlan(
            position: columns.count, number: place.number, property: order.name, column: place.name,
            kind: .attribute(order.attribute), isOptional: true, declaringEntity: level))
      }
    }
    return columns
  }

  private func farSide(_ side: ResolvedFarSide) -> FarSidePlan? {
    let relationship = side.relationship
    guard let destination = resolved.entity(relationship.destination),
      let reference = destination.references.first(where: { $0.name == side.reference })
    else { return nil }
    let order = destination.orders.first { $0.reference == side.reference }
    return FarSidePlan(
      property: relationship.name, isToMany: relationship.isToMany, destination: relationship.destination,
      table: place(destination.root, "").name, column: place(reference.declaringEntity, reference.name).name,
      reference: side.reference, deleteRule: relationship.deleteRule,
      positionColumn: order.map { place($0.declaringEntity, $0.name).name })
  }

  private func link(_ side: (key: String, isSource: Bool, name: String)) -> LinkPlan? {
    guard let link = resolved.links[side.key] else { return nil }
    let own = side.isSource ? link.source : link.target
    let rule = document.entities.first { $0.name == own }?.relationships.first { $0.name == side.name }?.deleteRule
    return LinkPlan(
      property: side.name, destination: side.isSource ? link.target : link.source, link: link,
      table: place(link.source, link.sourceName).name, isSource: side.isSource, deleteRule: rule ?? .nullify)
  }
}
