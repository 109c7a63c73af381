/// Keeps both sides of relationships in step: before insertion, after it, after a save.
///
/// A side that was not loaded is not loaded for it: the change waits in its cell, and is merged into what the store says
/// when somebody asks. New objects that are met on the way wait in a list instead of being followed at once, so that a
/// chain of any length costs no stack.
package struct RelationshipMaintenance {
  /// New objects whose initial values were not taken over yet.
  private var waiting: [any PersistentModel] = []
  /// Objects that can be reached from a context, and are not in it yet.
  private var reached: [(ModelContext, any PersistentModel)] = []

  // MARK: Entrances

  /// Makes sure that the slot has the relationship's members.
  package static func ensureLoaded(_ model: any PersistentModel, _ relationship: RelationshipDescription) {
    absorb(model)
    load(model, relationship)
  }

  /// Takes over the values that an initializer put into the slots of a new object, and sets their inverses.
  package static func absorb(_ model: any PersistentModel) {
    guard !model._$state.flags.contains(.absorbed) else { return }
    var maintenance = RelationshipMaintenance()
    maintenance.prepare(model)
    maintenance.finish()
  }

  /// Assigns a to-one.
  package static func assign(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ value: (any PersistentModel)?
  ) {
    ensureLoaded(model, relationship)
    let old = relationship.one(model)
    guard old !== value else { return }
    var maintenance = RelationshipMaintenance()
    if let old { maintenance.detach(model, relationship, old) }
    maintenance.setOne(model, relationship, value)
    if let value { maintenance.attach(model, relationship, value) }
    maintenance.finish()
  }

  /// Assigns a to-many. What stayed in its place is only compared; the rest is looked up.
  package static func assign<Owner: PersistentModel, Value: PersistentModel>(
    _ model: Owner, _ relationship: RelationshipDescription, _ slot: ReferenceWritableKeyPath<Owner, [Value]?>,
    _ members: [Value]
  ) {
    ensureLoaded(model, relationship)
    var maintenance = RelationshipMaintenance()
    let old = model[keyPath: slot] ?? []
    let change = MemberChange(from: old, to: members) { relationship.contains(model, $0) }
    let isArranged = relationship.isOrdered && change.isArranged(from: old)
    if relationship.inverse == nil || relationship.isOrdered { registerUndo(ofMembersOf: model, relationship) }
    for member in change.removed {
      maintenance.detach(model, relationship, member)
      model._$state.cells[relationship.cell].noteRemoved(member)
    }
    for member in change.added {
      model._$state.cells[relationship.cell].noteAdded(member)
      maintenance.attach(model, relationship, member)
    }
    relationship.willSet(model)
    model[keyPath: slot] = change.members
    for member in change.removed { model._$state.cells[relationship.cell].known?.remove(ObjectIdentifier(member)) }
    for member in change.added { model._$state.cells[relationship.cell].known?.insert(ObjectIdentifier(member)) }
    relationship.didSet(model)
    if isArranged { model._$state.cells[relationship.cell].isArranged = true }
    if isArranged || !change.removed.isEmpty || !change.added.isEmpty { touch(model) }
    maintenance.finish()
  }

  /// Adds one member at the end of a to-many, which is not loaded for it; nothing where it is a member already.
  package static func append(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ member: any PersistentModel
  ) {
    absorb(model)
    // Its own initial values may say the same from the other side.
    absorb(member)
    guard !isKnownMember(model, relationship, member) else { return }
    var maintenance = RelationshipMaintenance()
    maintenance.add(model, relationship, member)
    maintenance.attach(model, relationship, member)
    maintenance.finish()
  }

  /// Takes one member out of a to-many, which is not loaded for it.
  package static func remove(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ member: any PersistentModel
  ) {
    absorb(model)
    absorb(member)
    if model._$state.cells[relationship.cell].isLoaded {
      guard relationship.contains(model, member) else { return }
    } else if let inverse = relationship.inverse, !inverse.isToMany {
      guard isKnownMember(model, relationship, member) else { return }
    }
    var maintenance = RelationshipMaintenance()
    maintenance.detach(model, relationship, member)
    maintenance.drop(model, relationship, member)
    maintenance.finish()
  }

  /// Whether an object is a member, as far as that can be told without the store: from the list, if it is loaded, else
  /// from the member's own reference, or from what was added.
  package static func isKnownMember(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ member: any PersistentModel
  ) -> Bool {
    let cell = model._$state.cells[relationship.cell]
    if cell.isLoaded { return relationship.contains(model, member) }
    if cell.added.contains(member) { return true }
    guard let inverse = relationship.inverse, !inverse.isToMany, !member.isDeleted, !member._$state.cells.isEmpty
    else { return false }
    if case .identifier(let target) = member._$state.cells[inverse.cell].content {
      return target == model._$state.record
    }
    return inverse.one(member) === model
  }

  /// Takes an object out of every relationship: before a new one is forgotten.
  package static func isolate(_ model: any PersistentModel) {
    absorb(model)
    for relationship in model._$state.description(of: model).relationships {
      if relationship.isToMany {
        relationship.assign(model, members: [])
      } else {
        assign(model, relationship, nil)
      }
    }
  }

  /// Ties an object that is inserted again, after its record was deleted, to those that it still shows. What was given to
  /// another meanwhile stays there.
  package static func reattach(_ model: any PersistentModel, in link: ContextLink) {
    var maintenance = RelationshipMaintenance()
    for relationship in model._$state.description(of: model).relationships {
      let shown = relationship.isToMany ? relationship.many(model) : relationship.one(model).map { [$0] } ?? []
      for target in shown where !target._$state.flags.contains(.deletePending) {
        guard target._$state.link == nil || target._$state.link === link else { continue }
        maintenance.reattach(model, relationship, target)
      }
    }
    maintenance.finish()
  }

  private mutating func reattach(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ target: any PersistentModel
  ) {
    prepare(target)
    // The deletion may have cut its reference in the store.
    target._$state.refreshIfStale(target)
    let inverse = relationship.inverse
    if let inverse, !inverse.isToMany {
      Self.load(target, inverse)
      let holder = inverse.one(target)
      if let holder, holder !== model {
        if relationship.isToMany {
          relationship.remove(model, target)
        } else if relationship.isOptional {
          relationship.setOne(model, nil)
        }
        return
      }
      if holder == nil { setOne(target, inverse, model) }
    } else if let inverse {
      let cell = target._$state.cells[inverse.cell]
      let isShown = cell.isLoaded && inverse.contains(target, model)
      if !isShown, !cell.added.contains(model) { add(target, inverse, model) }
    }
    guard relationship.isToMany else { return }
    if !model._$state.cells[relationship.cell].added.contains(target) {
      model._$state.cells[relationship.cell].noteAdded(target)
    }
    if relationship.isOrdered { model._$state.cells[relationship.cell].isArranged = true }
    Self.touch(model)
  }

  // MARK: New objects

  private mutating func prepare(_ model: any PersistentModel) {
    let state = model._$state
    guard !state.flags.contains(.absorbed) else { return }
    state.flags.insert(.absorbed)
    let count = state.description(of: model).relationships.count
    guard count > 0 else { return }
    state.cells = Array(repeating: RelationCell(.loaded), count: count)
    waiting.append(model)
  }

  private mutating func finish() {
    // Ends: an object waits once.
    while let model = waiting.popLast() { takeOver(model) }
    for (context, model) in reached { context.insertReached(model) }
    reached = []
  }

  private mutating func takeOver(_ model: any PersistentModel) {
    let state = model._$state
    for relationship in state.description(of: model).relationships {
      if relationship.isToMany {
        // Others may have added themselves meanwhile: those are in step already.
        let known = state.cells[relationship.cell].added
        let members = Self.unique(relationship.many(model))
        for member in members where !known.contains(member) {
          state.cells[relationship.cell].noteAdded(member)
          attach(model, relationship, member)
        }
        let all = Self.unique(members + relationship.many(model))
        relationship.setMany(model, all)
        if relationship.isOrdered, !all.elementsEqual(state.cells[relationship.cell].added, by: { $0 === $1 }) {
          state.cells[relationship.cell].isArranged = true
        }
        if !members.isEmpty { Self.touch(model) }
      } else if let target = relationship.one(model), !isAttached(model, relationship, target) {
        attach(model, relationship, target)
      }
    }
  }

  /// Whether the other side shows the object already.
  private func isAttached(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ target: any PersistentModel
  ) -> Bool {
    guard let inverse = relationship.inverse, target._$state.flags.contains(.absorbed) else { return false }
    if !inverse.isToMany { return inverse.one(target) === model }
    return target._$state.cells[inverse.cell].added.contains(model)
  }

  // MARK: The other side

  /// `model` now has `target` in the relationship: shows it on the other side, and notes who can be reached.
  private mutating func attach(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ target: any PersistentModel
  ) {
    prepare(target)
    if let own = model._$state.link?.context, let other = target._$state.link?.context, own !== other {
      // The next save refuses it; the other context's object stays as it is.
      own.deferredFaults.append(ModelErrors.otherContext(type(of: target)))
      return
    }
    if let inverse = relationship.inverse {
      if inverse.isToMany {
        add(target, inverse, model)
      } else {
        Self.load(target, inverse)
        let previous = inverse.one(target)
        if previous !== model {
          if let previous { drop(previous, relationship, target) }
          setOne(target, inverse, model)
        }
      }
    }
    if let context = model._$state.link?.context {
      if target._$state.link == nil { reached.append((context, target)) }
    } else if relationship.inverse != nil, model._$state.link == nil, let context = target._$state.link?.context {
      reached.append((context, model))
    }
  }

  /// `model` no longer has `target` in the relationship.
  private mutating func detach(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ target: any PersistentModel
  ) {
    guard let inverse = relationship.inverse else { return }
    if let own = model._$state.link?.context, let other = target._$state.link?.context, own !== other { return }
    drop(target, inverse, model)
  }

  /// Takes `member` out of `model`'s side, whatever kind it is.
  private mutating func drop(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ member: any PersistentModel
  ) {
    prepare(model)
    if !relationship.isToMany {
      Self.load(model, relationship)
      guard relationship.one(model) === member else { return }
      if relationship.isOptional {
        setOne(model, relationship, nil)
      } else {
        clear(model, relationship)
      }
      return
    }
    let state = model._$state
    Self.registerUndo(model, relationship, member, adds: true)
    state.cells[relationship.cell].noteRemoved(member)
    relationship.willSet(model)
    if state.cells[relationship.cell].isLoaded { relationship.remove(model, member) }
    relationship.didSet(model)
    Self.touch(model)
  }

  private mutating func add(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ member: any PersistentModel
  ) {
    let state = model._$state
    Self.registerUndo(model, relationship, member, adds: false)
    state.cells[relationship.cell].noteAdded(member)
    relationship.willSet(model)
    if state.cells[relationship.cell].isLoaded { relationship.append(model, member) }
    relationship.didSet(model)
    Self.touch(model)
  }

  private mutating func setOne(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ value: (any PersistentModel)?
  ) {
    Self.registerUndo(model, relationship)
    relationship.willSet(model)
    relationship.setOne(model, value)
    model._$state.cells[relationship.cell].content = .loaded
    Self.noteChange(model, relationship.property)
    relationship.didSet(model)
  }

  /// The other side let go of an object that needs it: what was there is still shown, until it is assigned or saved.
  private mutating func clear(_ model: any PersistentModel, _ relationship: RelationshipDescription) {
    relationship.willSet(model)
    model._$state.flags.insert(.hasCleared)
    model._$state.cells[relationship.cell].content = .cleared
    Self.noteChange(model, relationship.property)
    relationship.didSet(model)
  }

  // MARK: Leaves

  private static func load(_ model: any PersistentModel, _ relationship: RelationshipDescription) {
    let state = model._$state
    guard !state.cells[relationship.cell].isLoaded, let link = state.link else { return }
    if let context = link.context {
      context.load(relationship, of: model)
    } else if let core = link.core, state.flags.contains(.stored) {
      // The context is gone: another one reads what the store has, and goes again.
      ModelContext(ModelContainer(core: core)).load(relationship, of: model)
    }
  }

  private static func noteChange(_ model: some PersistentModel, _ property: Int) {
    model._$state.noteChange(model, property)
  }

  /// Notes that a to-many changed, so that a save settles its cell.
  private static func touch(_ model: any PersistentModel) {
    guard let context = model._$state.link?.context else { return }
    context.noteTouched(model)
  }

  private static func unique(_ members: [any PersistentModel]) -> [any PersistentModel] {
    var seen = Set<ObjectIdentifier>(minimumCapacity: members.count)
    return members.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }
}
