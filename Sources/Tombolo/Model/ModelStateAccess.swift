import Observation
import Synchronization

// What generated accessors call.

extension _$ModelState {
  // MARK: Reading

  /// Notes that a property is read: takes over what others have committed, and registers the observer.
  public func _$access<Model: PersistentModel, Value>(_ model: Model, _ path: KeyPath<Model, Value>) {
    refreshIfStale(model)
    if flags.contains(.partial) { fill(model, path) }
    register(model, path)
  }

  /// The same for a property that may be a relationship: this one is not.
  @_disfavoredOverload
  public func _$load<Model: PersistentModel, Value>(_ model: Model, _ property: Int, _ path: KeyPath<Model, Value>) {
    _$access(model, path)
  }
  /// Resolves a relationship before it is read.
  public func _$load<Model: PersistentModel, Value: PersistentModel>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, Value>
  ) { loadRelationship(model, property, path) }
  /// Resolves a relationship before it is read.
  public func _$load<Model: PersistentModel, Value: PersistentModel>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, Value?>
  ) { loadRelationship(model, property, path) }
  /// Resolves a relationship before it is read.
  public func _$load<Model: PersistentModel, Value: PersistentModel>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, [Value]>
  ) { loadRelationship(model, property, path) }
  /// Resolves a relationship before it is read.
  public func _$load<Model: PersistentModel, Value: PersistentModel>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, [Value]?>
  ) { loadRelationship(model, property, path) }

  private func loadRelationship<Model: PersistentModel, Value>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, Value>
  ) {
    refreshIfStale(model)
    if let relationship = description(of: model).relationship(at: property) {
      RelationshipMaintenance.ensureLoaded(model, relationship)
      if !relationship.isToMany { settleTarget(model, relationship) }
    }
    register(model, path)
  }

  /// A to-one that `noAction` let lead to a deleted record reads as nil; one that must have an object gets one.
  private func settleTarget(_ model: some PersistentModel, _ relationship: RelationshipDescription) {
    if flags.contains(.probe) { return KeyPathProbe.extend(model, relationship) }
    if !relationship.isOptional {
      if relationship.shown(model) == nil {
        relationship.setOne(model, DeletedPlaceholder.make(relationship.destination, nil))
        // What only stands in must not be saved as the reference.
        if cells.indices.contains(relationship.cell), case .loaded = cells[relationship.cell].content {
          flags.insert(.hasCleared)
          cells[relationship.cell].content = .cleared
        }
      }
      return
    }
    guard flags.contains(.stored), relationship.inverse?.options.deleteRule == .noAction,
      relationship.one(model)?._$state.flags.contains(.deleted) == true
    else { return }
    relationship.clear(model)
  }

  private func register<Model: PersistentModel, Value>(_ model: Model, _ path: KeyPath<Model, Value>) {
    let registrar: ObservationRegistrar
    if let existing = self.registrar {
      registrar = existing
    } else if flags.contains(.probe) {
      KeyPathProbe.note(path)
      return
    } else {
      registrar = ObservationRegistrar()
      self.registrar = registrar
    }
    registrar.access(model, keyPath: path)
  }

  package func refreshIfStale(_ model: some PersistentModel) {
    guard let link else { return }
    if link.isStale.load(ordering: .relaxed) { link.context?.takeCommitsOfOthers() }
    if flags.contains(.stale) { link.context?.reload(model) }
  }

  // MARK: Writing

  /// Notes that a property is about to be assigned.
  public func _$willSet<Model: PersistentModel, Value>(_ model: Model, _ property: Int, _ path: KeyPath<Model, Value>) {
    refreshIfStale(model)
    if let link, link.recordsUndo { registerUndo(model, path) }
    noteChange(model, property)
    registrar?.willSet(model, keyPath: path)
  }
  /// Notes that a property was assigned.
  public func _$didSet<Model: PersistentModel, Value>(_ model: Model, _ path: KeyPath<Model, Value>) {
    registrar?.didSet(model, keyPath: path)
  }

  package func noteChange(_ model: some PersistentModel, _ property: Int) {
    if let plan, plan.hasCounters { keepCounterBase(model, property, plan) }
    changed.insert(property)
    if flags.contains(.partial) {
      var assigned = ColumnSet()
      assigned.insert(property)
      noteFilled(assigned)
    }
    if flags.isDisjoint(with: [.listed, .inserted]), let context = link?.context { context.noteChanged(model) }
  }

  private func keepCounterBase(_ model: some PersistentModel, _ property: Int, _ plan: ModelPlan) {
    guard plan.counters.contains(property), !changed.contains(property), flags.contains(.stored),
      missing?.properties.contains(property) != true
    else { return }
    let writer = _$ColumnWriter()
    writer.plan = plan
    writer.property = property
    // A whole number is always written.
    guard (try? model._$bind(property, to: writer)) != nil else { return }
    counterBases = counterBases ?? [:]
    counterBases?[property] = writer.captured
  }

  /// Forgets which attributes were assigned: they are saved, or given up.
  package func forgetChanged() {
    changed = ColumnSet()
    counterBases = nil
  }

  /// Assigns an attribute that lies in an optional slot.
  @_disfavoredOverload
  public func _$assign<Model: PersistentModel, Value>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, Value>, _ slot: ReferenceWritableKeyPath<Model, Value?>,
    _ value: Value
  ) {
    _$willSet(model, property, path)
    model[keyPath: slot] = value
    _$didSet(model, path)
  }
  /// Assigns an optional attribute.
  @_disfavoredOverload
  public func _$assign<Model: PersistentModel, Value>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, Value?>, _ slot: ReferenceWritableKeyPath<Model, Value?>,
    _ value: Value?
  ) {
    _$willSet(model, property, path)
    model[keyPath: slot] = value
    _$didSet(model, path)
  }
  /// Assigns a to-one relationship, and keeps the other side in step.
  public func _$assign<Model: PersistentModel, Value: PersistentModel>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, Value>, _ slot: ReferenceWritableKeyPath<Model, Value?>,
    _ value: Value
  ) { assignOne(model, property, value) }
  /// Assigns a to-one relationship, and keeps the other side in step.
  public func _$assign<Model: PersistentModel, Value: PersistentModel>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, Value?>, _ slot: ReferenceWritableKeyPath<Model, Value?>,
    _ value: Value?
  ) { assignOne(model, property, value) }
  /// Assigns a to-many relationship, and keeps the other sides in step.
  public func _$assign<Model: PersistentModel, Value: PersistentModel>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, [Value]>, _ slot: ReferenceWritableKeyPath<Model, [Value]?>,
    _ value: [Value]
  ) { assignMany(model, property, slot, value) }
  /// Assigns a to-many relationship, and keeps the other sides in step.
  public func _$assign<Model: PersistentModel, Value: PersistentModel>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, [Value]?>,
    _ slot: ReferenceWritableKeyPath<Model, [Value]?>,
    _ value: [Value]?
  ) { assignMany(model, property, slot, value ?? []) }

  private func assignOne(_ model: some PersistentModel, _ property: Int, _ value: (any PersistentModel)?) {
    refreshIfStale(model)
    guard let relationship = description(of: model).relationship(at: property) else { return }
    RelationshipMaintenance.assign(model, relationship, value)
  }
  private func assignMany<Model: PersistentModel, Value: PersistentModel>(
    _ model: Model, _ property: Int, _ slot: ReferenceWritableKeyPath<Model, [Value]?>, _ value: [Value]
  ) {
    refreshIfStale(model)
    guard let relationship = description(of: model).relationship(at: property) else { return }
    RelationshipMaintenance.assign(model, relationship, slot, value)
  }

  // MARK: Changing in place

  /// Begins to change an attribute in place.
  @_disfavoredOverload
  public func _$modify<Model: PersistentModel, Value>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, Value>, _ slot: ReferenceWritableKeyPath<Model, Value?>
  ) -> _$AttributeAccess<Model, Value> {
    _$access(model, path)
    return _$AttributeAccess(_$resolved(model[keyPath: slot], "\(Model.self)")) { value in
      self._$assign(model, property, path, slot, value)
    }
  }
  /// Begins to change an optional attribute in place.
  @_disfavoredOverload
  public func _$modify<Model: PersistentModel, Value>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, Value?>, _ slot: ReferenceWritableKeyPath<Model, Value?>
  ) -> _$AttributeAccess<Model, Value?> {
    _$access(model, path)
    return _$AttributeAccess(model[keyPath: slot]) { value in self._$assign(model, property, path, slot, value) }
  }
  /// Begins to change a to-many in place.
  public func _$modify<Model: PersistentModel, Value: PersistentModel>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, [Value]>, _ slot: ReferenceWritableKeyPath<Model, [Value]?>
  ) -> _$ListAccess<Model, Value> {
    loadRelationship(model, property, path)
    return _$ListAccess(model, property, slot)
  }
  /// Begins to change a to-many in place.
  public func _$modify<Model: PersistentModel, Value: PersistentModel>(
    _ model: Model, _ property: Int, _ path: KeyPath<Model, [Value]?>, _ slot: ReferenceWritableKeyPath<Model, [Value]?>
  ) -> _$OptionalListAccess<Model, Value> {
    loadRelationship(model, property, path)
    return _$OptionalListAccess(model, property, slot)
  }
}
