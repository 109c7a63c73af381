import TomboloProtocol

/// One relationship of a class: where it leads, how it is declared, and access to its typed slot without knowing the types.
package class RelationshipDescription: @unchecked Sendable {
  // Guarded by being immutable once it is built, but for the inverse, which its own lock guards.

  package let name: String
  /// The place among the class's properties.
  package let property: Int
  /// The place among the class's relationships, and in ``_$ModelState/cells``.
  package let cell: Int
  /// The class that declares it, and the one it leads to.
  package let owner: any PersistentModel.Type
  package let destination: any PersistentModel.Type
  package let isToMany: Bool
  package let isOptional: Bool
  package let options: _$RelationshipOptions
  package let originalName: String?
  /// The members have an order of their own, which is saved and synced.
  package let isOrdered: Bool
  private let resolvedInverse = Guarded<InverseBox?>(nil)

  private struct InverseBox: Sendable {
    let relationship: RelationshipDescription?
  }

  init(
    name: String, property: Int, cell: Int, owner: any PersistentModel.Type, destination: any PersistentModel.Type,
    isToMany: Bool, isOptional: Bool, options: _$RelationshipOptions
  ) {
    self.name = name
    self.property = property
    self.cell = cell
    self.owner = owner
    self.destination = destination
    self.isToMany = isToMany
    self.isOptional = isOptional
    self.options = options
    originalName = options.originalName
    isOrdered = isToMany && options.options.contains(.ordered)
  }

  /// The other side, as the destination class declares it; nil where there is none.
  package var inverse: RelationshipDescription? {
    if let known = resolvedInverse.withLock({ $0 }) { return known.relationship }
    let found = InverseSearch(of: self).result
    resolvedInverse.withLock { $0 = InverseBox(relationship: found) }
    return found
  }

  // MARK: The slot, as it is: nothing is loaded, noted or announced

  /// The object at the other end; nil also where a required reference was cleared, and shows what it had.
  package final func one(_ owner: any PersistentModel) -> (any PersistentModel)? {
    owner._$state.isCleared(self) ? nil : shown(owner)
  }
  package func shown(_ owner: any PersistentModel) -> (any PersistentModel)? { nil }
  package func setOne(_ owner: any PersistentModel, _ value: (any PersistentModel)?) {}
  package func many(_ owner: any PersistentModel) -> [any PersistentModel] { [] }
  package func setMany(_ owner: any PersistentModel, _ value: [any PersistentModel]) {}
  package func append(_ owner: any PersistentModel, _ member: any PersistentModel) {}
  package func remove(_ owner: any PersistentModel, _ member: any PersistentModel) {}
  /// Whether a to-many's slot holds the object.
  package func contains(_ owner: any PersistentModel, _ member: any PersistentModel) -> Bool { false }
  /// Assigns a to-many, keeping the other sides in step.
  package func assign(_ owner: any PersistentModel, members: [any PersistentModel]) {}
  /// Empties the slot, so that it holds no object.
  package func clear(_ owner: any PersistentModel) {}
  package func willSet(_ owner: any PersistentModel) {}
  package func didSet(_ owner: any PersistentModel) {}
}

/// A to-one relationship's slot.
final class ToOne<Owner: PersistentModel, Value: PersistentModel, Form>: RelationshipDescription, @unchecked Sendable {
  // Guarded by being immutable.
  private let slot: ReferenceWritableKeyPath<Owner, Value?>
  private let declared: KeyPath<Owner, Form>

  init(
    name: String, property: Int, cell: Int, isOptional: Bool, options: _$RelationshipOptions,
    declared: KeyPath<Owner, Form>, slot: ReferenceWritableKeyPath<Owner, Value?>
  ) {
    self.slot = slot
    self.declared = declared
    super.init(
      name: name, property: property, cell: cell, owner: Owner.self, destination: Value.self, isToMany: false,
      isOptional: isOptional, options: options)
  }

  override func shown(_ owner: any PersistentModel) -> (any PersistentModel)? { (owner as? Owner)?[keyPath: slot] }
  override func setOne(_ owner: any PersistentModel, _ value: (any PersistentModel)?) {
    (owner as? Owner)?[keyPath: slot] = value as? Value
  }
  override func clear(_ owner: any PersistentModel) { (owner as? Owner)?[keyPath: slot] = nil }
  override func willSet(_ owner: any PersistentModel) {
    guard let registrar = owner._$state.registrar, let owner = owner as? Owner else { return }
    registrar.willSet(owner, keyPath: declared)
  }
  override func didSet(_ owner: any PersistentModel) {
    guard let registrar = owner._$state.registrar, let owner = owner as? Owner else { return }
    registrar.didSet(owner, keyPath: declared)
  }
}

/// A to-many relationship's slot.
final class ToMany<Owner: PersistentModel, Value: PersistentModel, Form>: RelationshipDescription, @unchecked Sendable {
  // Guarded by being immutable.
  private let slot: ReferenceWritableKeyPath<Owner, [Value]?>
  private let declared: KeyPath<Owner, Form>

  init(
    name: String, property: Int, cell: Int, options: _$RelationshipOptions, declared: KeyPath<Owner, Form>,
    slot: ReferenceWritableKeyPath<Owner, [Value]?>
  ) {
    self.slot = slot
    self.declared = declared
    super.init(
      name: name, property: property, cell: cell, owner: Owner.self, destination: Value.self, isToMany: true,
      isOptional: true, options: options)
  }

  override func many(_ owner: any PersistentModel) -> [any PersistentModel] { (owner as? Owner)?[keyPath: slot] ?? [] }
  override func setMany(_ owner: any PersistentModel, _ value: [any PersistentModel]) {
    (owner as? Owner)?[keyPath: slot] = value.compactMap { $0 as? Value }
    forgetKnown(owner)
  }
  override func append(_ owner: any PersistentModel, _ member: any PersistentModel) {
    guard let owner = owner as? Owner, let member = member as? Value else { return }
    if owner[keyPath: slot]?.append(member) == nil { owner[keyPath: slot] = [member] }
    if hasCell(owner) { owner._$state.cells[cell].known?.insert(ObjectIdentifier(member)) }
  }
  override func remove(_ owner: any PersistentModel, _ member: any PersistentModel) {
    guard let owner = owner as? Owner, let index = owner[keyPath: slot]?.lastIndex(where: { $0 === member }) else {
      return
    }
    owner[keyPath: slot]?.remove(at: index)
    if hasCell(owner) { owner._$state.cells[cell].known?.remove(ObjectIdentifier(member)) }
  }
  override func contains(_ owner: any PersistentModel, _ member: any PersistentModel) -> Bool {
    guard let owner = owner as? Owner, let members = owner[keyPath: slot] else { return false }
    guard members.count > Self.fewMax, hasCell(owner) else { return members.contains { $0 === member } }
    if owner._$state.cells[cell].known == nil {
      owner._$state.cells[cell].known = Set(members.lazy.map { ObjectIdentifier($0) })
    }
    return owner._$state.cells[cell].known?.contains(ObjectIdentifier(member)) ?? false
  }
  override func assign(_ owner: any PersistentModel, members: [any PersistentModel]) {
    guard let owner = owner as? Owner else { return }
    RelationshipMaintenance.assign(owner, self, slot, members.compactMap { $0 as? Value })
  }
  override func clear(_ owner: any PersistentModel) {
    (owner as? Owner)?[keyPath: slot] = nil
    forgetKnown(owner)
  }
  /// So many members are looked at one by one.
  private static var fewMax: Int { 16 }
  private func hasCell(_ owner: Owner) -> Bool { owner._$state.cells.indices.contains(cell) }
  private func forgetKnown(_ owner: any PersistentModel) {
    if owner._$state.cells.indices.contains(cell) { owner._$state.cells[cell].known = nil }
  }
  override func willSet(_ owner: any PersistentModel) {
    guard let registrar = owner._$state.registrar, let owner = owner as? Owner else { return }
    registrar.willSet(owner, keyPath: declared)
  }
  override func didSet(_ owner: any PersistentModel) {
    guard let registrar = owner._$state.registrar, let owner = owner as? Owner else { return }
    registrar.didSet(owner, keyPath: declared)
  }
}

/// Finds a relationship's other side: named here, named there, or the only one that fits.
private struct InverseSearch {
  let result: RelationshipDescription?

  init(of relationship: RelationshipDescription) {
    let owner = ClassDescription.of(relationship.owner)
    let destination = ClassDescription.of(relationship.destination)
    if let path = relationship.options.inverse {
      result = destination.property(of: path)?.relationship
      return
    }
    let ownLineage = owner.lineage.map { ObjectIdentifier($0.type) }
    /// Whether another side, without a word on either, leads back here.
    func leadsHere(_ other: RelationshipDescription) -> Bool {
      ownLineage.contains(ObjectIdentifier(other.destination))
    }
    func names(_ other: RelationshipDescription, _ this: RelationshipDescription) -> Bool {
      guard let path = other.options.inverse, leadsHere(other) else { return false }
      return ClassDescription.of(other.destination).property(of: path)?.relationship?.name == this.name
    }
    if let other = destination.relationships.first(where: { names($0, relationship) }) {
      result = other
      return
    }
    // Inferred only where it is the one possibility, and never within one class.
    let isSelfReference = destination.lineage.contains { ownLineage.contains(ObjectIdentifier($0.type)) }
    let claimedHere = owner.relationships.filter { candidate in
      candidate.destination == relationship.destination && candidate.options.inverse == nil
        && !destination.relationships.contains { names($0, candidate) }
    }
    let candidates = destination.relationships.filter { other in
      other.options.inverse == nil && leadsHere(other)
        && !owner.relationships.contains { own in
          own.options.inverse.map { destination.property(of: $0)?.relationship?.name == other.name } ?? false
        }
    }
    result = !isSelfReference && claimedHere.count == 1 && candidates.count == 1 ? candidates[0] : nil
  }
}
