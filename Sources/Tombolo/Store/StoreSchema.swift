package import TomboloProtocol
import TomboloSQLite

/// A schema document together with the tables and columns that one store gives it.
package final class StoreSchema: Sendable {
  package let document: SchemaDocument
  package let resolved: ResolvedSchema
  /// The same, in the form that the merge looks things up in.
  package let merge: MergeSchema
  /// By their number in the store: an entity that is added later comes last.
  package let entities: [EntityPlan]
  /// Every table of pairs once, from its source's side.
  package let linkTables: [LinkPlan]
  private let byName: [String: EntityPlan]
  private let neighbours: [Neighbours]

  package init(document: SchemaDocument, entities: [EntityPlan]) {
    self.document = document
    self.resolved = ResolvedSchema(document)
    merge = MergeSchema(resolved)
    self.entities = entities
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.byName = byName
    linkTables = entities.flatMap { entity in entity.links.filter { $0.isSource && $0.link.source == entity.name } }
    neighbours = entities.map { [resolved, linkTables] in
      Neighbours(of: $0, resolved: resolved, byName: byName, linkTables: linkTables)
    }
  }

  package func entity(_ name: String) -> EntityPlan? { byName[name] }
  /// The entity that change rows name by this number.
  package func entity(number: Int) -> EntityPlan? { entities.first { $0.number == number } }
  /// Who refers to the entity's records, and which tables of pairs hold them.
  package func neighbours(of entity: EntityPlan) -> Neighbours { neighbours[entity.index] }
}

/// What a delete of one record has to look at.
package struct Neighbours: Sendable {
  /// The class that declares the reference, and the column.
  package let referrers: [(holder: EntityPlan, column: ColumnPlan, reference: ResolvedReference)]
  /// Each side on which the entity takes part in a table of pairs; a side without a property of its own nullifies.
  package let links: [LinkPlan]

  fileprivate init(
    of entity: EntityPlan, resolved: ResolvedSchema, byName: [String: EntityPlan], linkTables: [LinkPlan]
  ) {
    referrers = resolved.referrers(to: entity.name).compactMap { name, reference in
      guard let holder = byName[name], let column = holder.column(reference.name) else { return nil }
      return (holder, column, reference)
    }
    let silent = linkTables.filter { $0.link.targetName == nil && entity.lineage.contains($0.link.target) }
    links =
      entity.links
      + silent.map {
        LinkPlan(
          property: "", destination: $0.link.source, link: $0.link, table: $0.table, isSource: false,
          deleteRule: .nullify)
      }
  }
}

/// How the records of one entity lie in the store.
package final class EntityPlan: Sendable {
  package let name: String
  /// The place in ``StoreSchema/entities``.
  package let index: Int
  /// The number that change rows name the entity by.
  package let number: Int
  /// The table of the root of the hierarchy.
  package let table: String
  /// From the root to the entity itself.
  package let lineage: [String]
  /// The entity and all below it: the values of `_tombolo_entity` that a fetch of it returns.
  package let concreteNames: [String]
  /// Whether the table has the column `_tombolo_entity`: only where a hierarchy has more than one entity.
  package let hasEntityColumn: Bool
  /// Attributes, references and positions in ordered lists, inherited ones first.
  package let columns: [ColumnPlan]
  /// The columns that a person has declared: what is listed, asked for and assigned.
  package let declaredColumns: [ColumnPlan]
  /// The positions of its records in ordered lists.
  package let orders: [OrderPlan]
  package let farSides: [FarSidePlan]
  package let links: [LinkPlan]
  /// Unique keys as positions in ``columns``, inherited ones included.
  package let uniqueKeys: [UniquePlan]
  /// The columns of each index that the entity itself declares.
  package let indexes: [[String]]
  /// The trees that the entity itself declares.
  package let trees: [TreePlan]
  /// Above every column number in the table, those of other entities included.
  package let tableColumnCount: Int

  package init(
    name: String, index: Int, number: Int? = nil, table: String, lineage: [String], concreteNames: [String],
    hasEntityColumn: Bool, columns: [ColumnPlan], farSides: [FarSidePlan], links: [LinkPlan],
    uniqueKeys: [UniquePlan], indexes: [[String]] = [], trees: [TreePlan] = [], orders: [OrderPlan] = [],
    tableColumnCount: Int? = nil
  ) {
    self.name = name
    self.index = index
    self.number = number ?? index
    self.table = table
    self.lineage = lineage
    self.concreteNames = concreteNames
    self.hasEntityColumn = hasEntityColumn
    self.columns = columns
    self.orders = orders
    declaredColumns = columns.filter { !$0.isPosition }
    self.farSides = farSides
    self.links = links
    self.uniqueKeys = uniqueKeys
    self.indexes = indexes
    self.trees = trees
    self.tableColumnCount = tableColumnCount ?? columns.count
    allColumns = ColumnSet(upTo: columns.count)
    selectKind =
      "SELECT \(hasEntityColumn ? "_tombolo_entity" : "1") FROM \(table.quotedIdentifier) WHERE _tombolo_id = ?1"
    deleteRow = "DELETE FROM \(table.quotedIdentifier) WHERE _tombolo_id = ?1"
    let names = columns.map { $0.column.quotedIdentifier + ", " }.joined()
    let marks = columns.indices.map { "?\($0 + 2), " }.joined()
    let (kind, literal) = hasEntityColumn ? (", _tombolo_entity", ", " + name.quotedLiteral) : ("", "")
    selectRow =
      "SELECT _tombolo_stamps\(columns.map { ", " + $0.value(in: table.quotedIdentifier) }.joined())\(kind) "
      + "FROM \(table.quotedIdentifier) WHERE _tombolo_id = ?1"
    insertRow =
      "INSERT INTO \(table.quotedIdentifier)(_tombolo_id, \(names)_tombolo_stamps\(kind)) "
      + "VALUES (?1, \(marks)?\(columns.count + 2)\(literal))"
    guardedReferences = columns.filter {
      if case .reference(let reference) = $0.kind { reference.isOneToOne || reference.isAcyclic } else { false }
    }.map(\.position)
    hasCounters = columns.contains(where: \.isCounter)
  }

  package let allColumns: ColumnSet
  /// For one identity: its very entity, in a hierarchy; one row if there is such a record.
  let selectKind: String
  let deleteRow: String
  /// For one identity: the stamps, every column, and in a hierarchy the very entity.
  let selectRow: String
  /// Takes the identity, every column, and the stamps.
  let insertRow: String
  /// The positions of references that are one-to-one or declared acyclic.
  let guardedReferences: [Int]
  let hasCounters: Bool
  /// The entity at the top of the hierarchy.
  package var root: String { lineage.first ?? name }

  package func column(_ property: String) -> ColumnPlan? { columns.first { $0.property == property } }
}

package struct ColumnPlan: Sendable {
  package enum Kind: Sendable {
    case attribute(SchemaAttribute)
    case reference(ResolvedReference)
  }
  /// The place in ``EntityPlan/columns``, and the bit in a ``ColumnSet``.
  package let position: Int
  /// The property's name.
  package let property: String
  /// The column's name in the table, unquoted.
  package let column: String
  package let kind: Kind
  package let isOptional: Bool
  /// The number within the table, which never changes: stamps and change rows name the column by it.
  package let number: Int
  /// The class that declares the property.
  package let declaringEntity: String
  /// Whether a large value lies outside of the row: see ``ExternalValues``.
  package let isExternal: Bool
  /// Whether the full-text index has its words: see ``SearchPlan``.
  package let isSearched: Bool
  /// Whether it holds the record's position in an ordered list, and no property: see ``OrderPlan``.
  package let isPosition: Bool

  /// Whether edits of it merge by addition.
  package var isCounter: Bool {
    guard case .attribute(let attribute) = kind else { return false }
    return attribute.merge == .counter
  }

  package init(
    position: Int, number: Int? = nil, property: String, column: String, kind: Kind, isOptional: Bool,
    declaringEntity: String = ""
  ) {
    self.position = position
    self.number = number ?? position
    self.declaringEntity = declaringEntity
    self.property = property
    self.column = column
    self.kind = kind
    self.isOptional = isOptional
    if case .attribute(let attribute) = kind {
      isExternal =
        attribute.type == .data && attribute.options.contains("externalStorage")
        && !attribute.options.contains("transformable")
      isSearched = attribute.type == .string && attribute.options.contains("spotlight")
    } else {
      isExternal = false
      isSearched = false
    }
    isPosition = property.hasPrefix(ResolvedOrder.prefix)
  }
}

/// A position in an ordered list, as positions in ``EntityPlan/columns``: where its key lies, and the reference to the owner.
package struct OrderPlan: Sendable {
  package let key: Int
  package let reference: Int
  /// The class that declares the reference.
  package let declaringEntity: String
}

/// A to-many, or the derived side of a one-to-one, read through the other side's reference column.
package struct FarSidePlan: Sendable {
  package let property: String
  package let isToMany: Bool
  package let destination: String
  /// Where the reference is: the destination's table and column.
  package let table: String
  package let column: String
  package let reference: String
  package let deleteRule: DeleteRule
  /// For an ordered to-many: the column with its members' positions.
  package let positionColumn: String?
  package init(
    property: String, isToMany: Bool, destination: String, table: String, column: String, reference: String,
    deleteRule: DeleteRule, positionColumn: String? = nil
  ) {
    self.positionColumn = positionColumn
    self.property = property
    self.isToMany = isToMany
    self.destination = destination
    self.table = table
    self.column = column
    self.reference = reference
    self.deleteRule = deleteRule
  }
}

/// One side of a many-to-many relationship: a table of pairs.
package struct LinkPlan: Sendable {
  package let property: String
  package let destination: String
  package let link: ResolvedLink
  package let table: String
  package let isSource: Bool
  package let deleteRule: DeleteRule
  /// The column with this side's identifiers, and the one with the other side's: `source` and `target`, or the reverse.
  package var ownColumn: String { isSource ? "source" : "target" }
  package var otherColumn: String { isSource ? "target" : "source" }
  package init(
    property: String, destination: String, link: ResolvedLink, table: String, isSource: Bool, deleteRule: DeleteRule
  ) {
    self.property = property
    self.destination = destination
    self.link = link
    self.table = table
    self.isSource = isSource
    self.deleteRule = deleteRule
  }
}

package struct UniquePlan: Sendable {
  package let declaringEntity: String
  /// Positions in ``EntityPlan/columns``, in the declared order.
  package let columns: [Int]
  package let onConflict: UniqueConflict
  package init(declaringEntity: String, columns: [Int], onConflict: UniqueConflict) {
    self.declaringEntity = declaringEntity
    self.columns = columns
    self.onConflict = onConflict
  }
}

/// A set of columns by position. Up to 128 without an allocation beyond the value itself.
package struct ColumnSet: Hashable, Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0
  private var more: Set<Int> = []

  package init() {}
  package init(upTo count: Int) { for position in 0..<count { insert(position) } }
  package init(_ positions: [Int]) { for position in positions { insert(position) } }

  package func contains(_ position: Int) -> Bool {
    if position < 64 { return low >> UInt64(position) & 1 == 1 }
    if position < 128 { return high >> UInt64(position - 64) & 1 == 1 }
    return more.contains(position)
  }
  package mutating func insert(_ position: Int) {
    if position < 64 {
      low |= 1 << UInt64(position)
    } else if position < 128 {
      high |= 1 << UInt64(position - 64)
    } else {
      more.insert(position)
    }
  }
  package mutating func remove(_ position: Int) {
    if position < 64 {
      low &= ~(1 << UInt64(position))
    } else if position < 128 {
      high &= ~(1 << UInt64(position - 64))
    } else {
      more.remove(position)
    }
  }
  /// Calls `body` with each position, in ascending order.
  package func forEach(_ body: (Int) throws -> Void) rethrows {
    for (offset, word) in [(0, low), (64, high)] {
      var word = word
      // Ends: each turn clears the lowest bit.
      while word != 0 {
        try body(offset + word.trailingZeroBitCount)
        word &= word - 1
      }
    }
    if !more.isEmpty { try more.sorted().forEach(body) }
  }
  package var isEmpty: Bool { low == 0 && high == 0 && more.isEmpty }
  package var count: Int { low.nonzeroBitCount + high.nonzeroBitCount + more.count }
}
