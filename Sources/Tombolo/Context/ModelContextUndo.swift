import TomboloProtocol

extension ModelContext {
  // MARK: Undo

  /// Registers what takes back a change of this context.
  func registerUndo(_ body: @escaping (ModelContext) -> Void) {
    guard let undoManager, undoManager.isUndoRegistrationEnabled else { return }
    undoManager.registerUndo(withTarget: self, handler: body)
    guard !isUndoEventScheduled else { return }
    let link = link
    isUndoEventScheduled = link.later { link.laterContext?.endUndoEvent() }
  }

  /// Reads what an object has not read yet, and all that its deletion takes along: what is undone comes back whole.
  func readWhole(_ root: any PersistentModel) {
    var waiting = [root]
    var seen: Set<ObjectIdentifier> = []
    // Ends: an object is read once.
    while let model = waiting.popLast() {
      guard seen.insert(ObjectIdentifier(model)).inserted else { continue }
      model._$state.fillAll(model)
      for relationship in model._$state.description(of: model).relationships {
        RelationshipMaintenance.ensureLoaded(model, relationship)
        guard relationship.options.deleteRule == .cascade else { continue }
        waiting += relationship.isToMany ? relationship.many(model) : relationship.one(model).map { [$0] } ?? []
      }
    }
  }

  /// What was changed until now is one step of the undo manager.
  func endUndoEvent() {
    isUndoEventScheduled = false
    undoManager?.endEvent()
  }

  /// Forgets what the context registered: it would undo what is not there any more.
  func forgetUndo(in manager: UndoManager?) { manager?.removeAllActions(withTarget: self) }
}

extension _$ModelState {
  /// Registers the return of an attribute to the value that it has now.
  func registerUndo<Model: PersistentModel, Value>(_ model: Model, _ path: KeyPath<Model, Value>) {
    guard let context = link?.context, let path = path as? ReferenceWritableKeyPath<Model, Value> else { return }
    let value = model[keyPath: path]
    context.registerUndo { _ in model[keyPath: path] = value }
  }
}

extension RelationshipMaintenance {
  /// Registers the return of a to-one to the object that it has now. Going back through ``assign(_:_:_:)`` it brings
  /// the other side along.
  static func registerUndo(_ model: any PersistentModel, _ relationship: RelationshipDescription) {
    guard let link = model._$state.link, link.recordsUndo, let context = link.context else { return }
    let value = relationship.one(model)
    context.registerUndo { _ in assign(model, relationship, value) }
  }

  /// Registers the return of a to-many to the members that it has now.
  static func registerUndo(ofMembersOf model: any PersistentModel, _ relationship: RelationshipDescription) {
    guard let link = model._$state.link, link.recordsUndo, let context = link.context else { return }
    let members = relationship.many(model)
    context.registerUndo { _ in relationship.assign(model, members: members) }
  }

  /// Registers the return of one member to, or out of, one side of a many-to-many or a to-many without inverse. The
  /// to-one at the other end of any other to-many tells all.
  static func registerUndo(
    _ model: any PersistentModel, _ relationship: RelationshipDescription, _ member: any PersistentModel, adds: Bool
  ) {
    guard let link = model._$state.link, link.recordsUndo, relationship.inverse?.isToMany != false,
      let context = link.context
    else { return }
    context.registerUndo { _ in
      ensureLoaded(model, relationship)
      let others = relationship.many(model).filter { $0 !== member }
      relationship.assign(model, members: adds ? others + [member] : others)
    }
  }
}
