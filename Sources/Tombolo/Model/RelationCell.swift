package import TomboloProtocol

/// What is known of one relationship of one object, beside the typed slot that holds its objects.
package struct RelationCell {
  package enum Content {
    /// The slot has the members.
    case loaded
    /// The store has to be asked.
    case unloaded
    /// A reference that was not resolved yet.
    case identifier(RecordID)
    /// A required reference that leads nowhere, as the other side left it: the slot still shows the object that was there,
    /// since it must show one. A save refuses it.
    case cleared
  }
  package var content: Content
  /// To-many only: what was added and removed since the last save, in order. A list that was not loaded is changed by
  /// these alone, and they are what a save writes of a many-to-many.
  package private(set) var added = MemberList()
  package private(set) var removed = MemberList()
  /// To-many only: somebody has put members in an order that appending does not lead to. A save of an ordered one then
  /// goes by the slot.
  package var isArranged = false
  /// The slot was kept for the order in it, though others have changed the members meanwhile.
  package var isOutdated = false
  /// To-many only: what the slot holds; nil where that has to be gathered from the slot.
  package var known: Set<ObjectIdentifier>?

  package init(_ content: Content) { self.content = content }

  package var isLoaded: Bool {
    switch content {
    case .loaded, .cleared: true
    case .unloaded, .identifier: false
    }
  }
  package var isCleared: Bool {
    if case .cleared = content { return true }
    return false
  }
  package var hasDelta: Bool { !added.isEmpty || !removed.isEmpty }

  // What is not loaded may be a member already, or none: a save asks the store, so the last word stands.

  package mutating func noteAdded(_ member: any PersistentModel) {
    let wasRemoved = removed.remove(member)
    if !wasRemoved || !isLoaded { added.append(member) } else { isArranged = true }
  }
  package mutating func noteRemoved(_ member: any PersistentModel) {
    let wasAdded = added.remove(member)
    if !wasAdded || !isLoaded { removed.append(member) }
  }
  package mutating func clearDelta() {
    added = MemberList()
    removed = MemberList()
    isArranged = false
  }
}
