/// The canonical description of a schema: what the macro, the store, the server and the command line share.
package struct SchemaDocument: Hashable, Sendable {
  package var name: String
  /// Nil in a store that was never versioned; such a store never syncs.
  package var version: SchemaVersion?
  /// Sorted by name.
  package var entities: [SchemaEntity]

  package init(name: String, version: SchemaVersion?, entities: [SchemaEntity]) {
    self.name = name
    self.version = version
    self.entities = entities
  }
}

package struct SchemaEntity: Hashable, Sendable {
  package var name: String
  /// The base class, nil for a root.
  package var superentity: String?
  /// The entity's own attributes, not those of its base; sorted by name.
  package var attributes: [SchemaAttribute]
  /// The entity's own relationships; sorted by name.
  package var relationships: [SchemaRelationship]
  package var unique: [UniqueConstraint]
  package var indexes: [SchemaIndex]
  package var concurrentDelete: DeletePolicy

  package init(
    name: String, superentity: String? = nil, attributes: [SchemaAttribute] = [],
    relationships: [SchemaRelationship] = [], unique: [UniqueConstraint] = [], indexes: [SchemaIndex] = [],
    concurrentDelete: DeletePolicy = .deleteWins
  ) {
    self.name = name
    self.superentity = superentity
    self.attributes = attributes
    self.relationships = relationships
    self.unique = unique
    self.indexes = indexes
    self.concurrentDelete = concurrentDelete
  }
}

/// What an attribute holds; the raw value is its spelling in the document.
package enum AttributeType: String, Hashable, Sendable, CaseIterable {
  case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double, decimal, string, date, data
  case uuid, url, codable
}

/// How concurrent writes of one attribute merge; the raw value is its spelling in the document.
package enum MergePolicy: String, Hashable, Sendable, CaseIterable {
  /// The greater stamp wins.
  case lastWriter
  /// Every delta counts once.
  case counter
  case max, min
  /// The smallest stamp above zero wins.
  case firstWriter
}

/// Who wins when one replica deletes a record and another, not having seen that, edits it.
package enum DeletePolicy: String, Hashable, Sendable, CaseIterable {
  case deleteWins, editWins
}

/// A declared default.
package enum DefaultValue: Hashable, Sendable {
  case constant(Value)
  /// `UUID()`: a new one a record.
  case generatedUUID
  /// `Date()` or `.now`: the time of the record's making.
  case generatedNow
}

package struct SchemaAttribute: Hashable, Sendable {
  package var name: String
  package var type: AttributeType
  package var isOptional: Bool
  /// Nil: there is none (an optional attribute starts as nil all the same).
  package var defaultValue: DefaultValue?
  package var merge: MergePolicy
  /// `externalStorage`, `ephemeral`, `spotlight`, `preserveValueOnDeletion`, `allowsCloudEncryption`, `transformable`, `codable`; sorted.
  package var options: [String]
  /// What the attribute was called in the version before.
  package var originalName: String?
  /// `@Attribute(hashModifier:)`.
  package var hashModifier: String?
  /// The raw values of an enum, for documentation.
  package var cases: [Value]
  /// The Swift type of a codable value or an enum, for documentation.
  package var swiftType: String?

  package init(
    name: String, type: AttributeType, isOptional: Bool = false, defaultValue: DefaultValue? = nil,
    merge: MergePolicy = .lastWriter, options: [String] = [], originalName: String? = nil,
    hashModifier: String? = nil, cases: [Value] = [], swiftType: String? = nil
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.defaultValue = defaultValue
    self.merge = merge
    self.options = options
    self.originalName = originalName
    self.hashModifier = hashModifier
    self.cases = cases
    self.swiftType = swiftType
  }
}

/// What becomes of a record's partners when it is deleted; the raw value is its spelling in the document.
package enum DeleteRule: String, Hashable, Sendable, CaseIterable {
  case nullify, cascade, deny, noAction
}

package struct SchemaRelationship: Hashable, Sendable {
  package var name: String
  /// The entity at the other end.
  package var destination: String
  package var isToMany: Bool
  /// To-one only: whether nil is a value. A to-many is always optional in this sense.
  package var isOptional: Bool
  /// The relationship of the destination that is the other side of this one.
  package var inverse: String?
  /// What happens to the *destination* when a record of this entity is deleted.
  package var deleteRule: DeleteRule
  /// A to-many with a synced position for each member.
  package var isOrdered: Bool
  /// A to-one of an entity to itself that never closes a cycle.
  package var isAcyclic: Bool
  package var minimumCount: Int
  /// 0 for no limit.
  package var maximumCount: Int
  package var originalName: String?
  package var hashModifier: String?

  package init(
    name: String, destination: String, isToMany: Bool = false, isOptional: Bool = true, inverse: String? = nil,
    deleteRule: DeleteRule = .nullify, isOrdered: Bool = false, isAcyclic: Bool = false, minimumCount: Int = 0,
    maximumCount: Int = 0, originalName: String? = nil, hashModifier: String? = nil
  ) {
    self.name = name
    self.destination = destination
    self.isToMany = isToMany
    self.isOptional = isOptional
    self.inverse = inverse
    self.deleteRule = deleteRule
    self.isOrdered = isOrdered
    self.isAcyclic = isAcyclic
    self.minimumCount = minimumCount
    self.maximumCount = maximumCount
    self.originalName = originalName
    self.hashModifier = hashModifier
  }
}

package struct UniqueConstraint: Hashable, Sendable {
  /// In the declared order.
  package var attributes: [String]
  package var onConflict: UniqueConflict
  package init(attributes: [String], onConflict: UniqueConflict = .merge) {
    self.attributes = attributes
    self.onConflict = onConflict
  }
}

/// What happens when two replicas create records with one unique value.
package enum UniqueConflict: String, Hashable, Sendable, CaseIterable {
  /// They become one record.
  case merge
  /// The save that arrives later is refused.
  case reject
}

package struct SchemaIndex: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable { case binary, rtree }
  /// In the declared order.
  package var attributes: [String]
  package var kind: Kind
  package init(attributes: [String], kind: Kind = .binary) {
    self.attributes = attributes
    self.kind = kind
  }
}
