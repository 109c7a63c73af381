import TomboloProtocol

/// A to-many, looked at and changed without loading its members: for lists that are too long to be read for it.
///
/// The property itself is an array: reading it, `folder.notes.count` included, loads every member on first use.
///
/// ```swift
/// folder.members(of: \.notes).append(note)
/// let count = try folder.members(of: \.notes).count
/// ```
public struct RelationshipMembers<Owner: PersistentModel, Member: PersistentModel> {
  private let owner: Owner
  private let relationship: RelationshipDescription

  fileprivate init(_ owner: Owner, _ path: PartialKeyPath<Owner>) {
    guard let relationship = owner._$state.description(of: owner).property(of: path)?.relationship else {
      preconditionFailure("The key path given to members(of:) is not a relationship of \(type(of: owner)).")
    }
    self.owner = owner
    self.relationship = relationship
    RelationshipMaintenance.absorb(owner)
  }

  /// How many members there are, pending changes included. Costs one count in the store where they are not loaded.
  ///
  /// - Throws: what reading the store throws.
  public var count: Int {
    get throws {
      guard let context = contextToAsk() else { return relationship.many(owner).count }
      return try context.memberCount(relationship, of: owner)
    }
  }

  /// Whether there is no member.
  ///
  /// - Throws: what reading the store throws.
  public var isEmpty: Bool { get throws { try count == 0 } }

  /// Whether an object is a member. Costs one look-up in the store at most.
  ///
  /// - Throws: what reading the store throws.
  public func contains(_ member: Member) throws -> Bool {
    member._$state.refreshIfStale(member)
    RelationshipMaintenance.absorb(member)
    if RelationshipMaintenance.isKnownMember(owner, relationship, member) { return true }
    guard let context = contextToAsk() else { return relationship.contains(owner, member) }
    return try context.isStoredMember(relationship, of: owner, member)
  }

  /// Adds a member at the end; nothing where it is one already. Costs the same however many there are.
  public func append(_ member: Member) { RelationshipMaintenance.append(owner, relationship, member) }

  /// Removes a member; nothing where it is none. Costs the same however many there are, unless they are loaded.
  public func remove(_ member: Member) {
    member._$state.refreshIfStale(member)
    RelationshipMaintenance.remove(owner, relationship, member)
  }

  /// Nil where the members are loaded: they are for an object that has outlived its context.
  private func contextToAsk() -> ModelContext? {
    if owner._$state.cells[relationship.cell].isLoaded { return nil }
    if let context = owner._$state.link?.context { return context }
    RelationshipMaintenance.ensureLoaded(owner, relationship)
    return nil
  }
}

extension PersistentModel {
  /// A to-many relationship that need not be loaded to be counted or changed. Beyond SwiftData.
  ///
  /// - Precondition: the key path is a relationship of the class.
  public func members<Member: PersistentModel>(of path: KeyPath<Self, [Member]>) -> RelationshipMembers<Self, Member> {
    _$state._$access(self, path)
    return RelationshipMembers(self, path)
  }

  /// The same for a relationship that is declared optional.
  public func members<Member: PersistentModel>(of path: KeyPath<Self, [Member]?>) -> RelationshipMembers<Self, Member> {
    _$state._$access(self, path)
    return RelationshipMembers(self, path)
  }
}
