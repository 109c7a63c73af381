/// A resolved schema in the form that the merge looks things up in: fields by place, rules worked out.
package final class MergeSchema: Sendable {
  package let resolved: ResolvedSchema
  private let entities: [String: Entity]

  package init(_ resolved: ResolvedSchema) {
    self.resolved = resolved
    var entities: [String: Entity] = [:]
    for entity in resolved.document.entities {
      guard let entity = resolved.entity(entity.name) else { continue }
      entities[entity.name] = Entity(entity)
    }
    self.entities = entities
  }

  package convenience init(document: SchemaDocument) { self.init(ResolvedSchema(document)) }

  package func entity(_ name: String) -> Entity? { entities[name] }

  /// An attribute or a reference.
  package struct Field: Sendable {
    package let name: String
    /// The place in ``Entity/fields``.
    package let place: Int
    package let policy: MergePolicy
    /// Nil for a reference.
    package let type: AttributeType?
    package let isOptional: Bool
    /// What a record has that nobody gave a value: the declared constant, or nil.
    package let absent: Value
    package let reference: ResolvedReference?

    /// What happens to a living holder whose target is dead: a required reference cannot be nil, so it cascades.
    package var rule: DeleteRule {
      guard let reference else { return .nullify }
      return !isOptional && reference.rule != .deny ? .cascade : reference.rule
    }

    /// Whether a record dies with the one that it refers to.
    package var holdsLife: Bool { rule == .cascade || rule == .deny && !isOptional }
  }

  package struct Key: Sendable {
    /// Tells the constraints of a schema apart, the same in every version: a hash of ``name``.
    package let tag: UInt64
    /// `Entity(attribute,attribute)`, with the entity that declares it.
    package let name: String
    package let places: [Int]
    package let onConflict: UniqueConflict
  }

  package final class Entity: Sendable {
    package let name: String
    package let fields: [Field]
    package let keys: [Key]
    package let editWins: Bool
    private let places: [String: Int]
    /// Places of all references, of the one-to-one ones, and of the acyclic ones.
    package let references: [Int]
    package let oneToOne: [Int]
    package let acyclic: [Int]

    fileprivate init(_ entity: ResolvedEntity) {
      name = entity.name
      var fields: [Field] = []
      for attribute in entity.attributes {
        var absent = Value.null
        if case .constant(let value) = attribute.defaultValue { absent = value }
        fields.append(
          Field(
            name: attribute.name, place: fields.count, policy: attribute.merge, type: attribute.type,
            isOptional: attribute.isOptional, absent: absent, reference: nil))
      }
      for reference in entity.references {
        fields.append(
          Field(
            name: reference.name, place: fields.count, policy: .lastWriter, type: nil,
            isOptional: reference.isOptional, absent: .null, reference: reference))
      }
      self.fields = fields
      let places = Dictionary(fields.map { ($0.name, $0.place) }, uniquingKeysWith: { first, _ in first })
      self.places = places
      keys = entity.unique.compactMap { declaring, constraint in
        let columns = constraint.attributes.compactMap { places[$0] }
        guard columns.count == constraint.attributes.count, !columns.isEmpty else { return nil }
        let text = declaring + "(" + constraint.attributes.joined(separator: ",") + ")"
        let tag = shortHash(Array(text.utf8), key: Array("tombolo uniqueid".utf8))
        return Key(tag: tag, name: text, places: columns, onConflict: constraint.onConflict)
      }
      editWins = entity.concurrentDelete == .editWins
      references = fields.filter { $0.reference != nil }.map(\.place)
      oneToOne = fields.filter { $0.reference?.isOneToOne ?? false }.map(\.place)
      acyclic = fields.filter { $0.reference?.isAcyclic ?? false }.map(\.place)
    }

    package func field(_ name: String) -> Field? { places[name].map { fields[$0] } }

    /// The fields of a record that nobody gave a value.
    package var absentFields: [MergeField] { fields.map { MergeField(name: $0.name, value: $0.absent, stamp: .zero) } }
  }
}
