import Synchronization
import TomboloProtocol

/// A to-many that is being changed in place: `folder.notes.append(note)`.
///
/// The property's slot keeps the members meanwhile, and what is yielded shares their memory. So whoever changes the
/// yielded array in a way of its own makes it another array, and the end compares the two. The methods of `Array` that
/// Tombolo knows (``Swift/Array/append(_:)`` and its kin) find the access by the array's address instead, change the slot, which then is
/// the only holder of its memory, and yield that again: nothing is copied, and nothing is left to compare.
public class _$ToManyAccess<Value: PersistentModel> {
  fileprivate final let address: UInt
  fileprivate init(address: UInt) { self.address = address }

  /// The slot's members.
  fileprivate var members: [Value] { [] }
  fileprivate func append(_ member: Value) {}
  fileprivate func remove(_ member: Value) {}
}

/// The access of one owner's relationship.
public class _$OwnedToManyAccess<Owner: PersistentModel, Value: PersistentModel>: _$ToManyAccess<Value> {
  private let owner: Owner
  private let relationship: RelationshipDescription?
  private let slot: ReferenceWritableKeyPath<Owner, [Value]?>

  fileprivate init(
    _ owner: Owner, _ property: Int, _ slot: ReferenceWritableKeyPath<Owner, [Value]?>, address: UnsafeRawPointer
  ) {
    self.owner = owner
    self.slot = slot
    relationship = owner._$state.description(of: owner).relationship(at: property)
    super.init(address: UInt(bitPattern: address))
    ToManyAccesses.begin(self, address: self.address)
  }

  fileprivate override var members: [Value] { owner[keyPath: slot] ?? [] }
  fileprivate override func append(_ member: Value) {
    if let relationship { RelationshipMaintenance.append(owner, relationship, member) }
  }
  fileprivate override func remove(_ member: Value) {
    if let relationship { RelationshipMaintenance.remove(owner, relationship, member) }
  }

  fileprivate func end(_ value: [Value]) {
    ToManyAccesses.end(self, address: address)
    guard let relationship, !isSameStorage(value, members) else { return }
    RelationshipMaintenance.assign(owner, relationship, slot, value)
  }
}

/// The access of a relationship declared `[Model]`.
public final class _$ListAccess<Owner: PersistentModel, Value: PersistentModel>: _$OwnedToManyAccess<Owner, Value> {
  /// What is yielded.
  public let _$pointer: UnsafeMutablePointer<[Value]>
  init(_ owner: Owner, _ property: Int, _ slot: ReferenceWritableKeyPath<Owner, [Value]?>) {
    _$pointer = .allocate(capacity: 1)
    _$pointer.initialize(to: owner[keyPath: slot] ?? [])
    super.init(owner, property, slot, address: _$pointer)
  }
  /// Takes over what was changed.
  public func _$end() {
    end(_$pointer.move())
    _$pointer.deallocate()
  }
}

/// The access of a relationship declared `[Model]?`.
public final class _$OptionalListAccess<Owner: PersistentModel, Value: PersistentModel>:
  _$OwnedToManyAccess<Owner, Value>
{
  /// What is yielded. A list that is there lies at the optional's own address.
  public let _$pointer: UnsafeMutablePointer<[Value]?>
  init(_ owner: Owner, _ property: Int, _ slot: ReferenceWritableKeyPath<Owner, [Value]?>) {
    _$pointer = .allocate(capacity: 1)
    _$pointer.initialize(to: owner[keyPath: slot])
    super.init(owner, property, slot, address: _$pointer)
  }
  /// Takes over what was changed.
  public func _$end() {
    end(_$pointer.move() ?? [])
    _$pointer.deallocate()
  }
}

/// The access of an attribute that lies in an optional slot: read before, assigned after.
public final class _$AttributeAccess<Owner: PersistentModel, Value> {
  /// What is yielded.
  public let _$pointer: UnsafeMutablePointer<Value>
  private let assign: (Value) -> Void
  init(_ value: Value, assign: @escaping (Value) -> Void) {
    _$pointer = .allocate(capacity: 1)
    _$pointer.initialize(to: value)
    self.assign = assign
  }
  /// Assigns what was changed.
  public func _$end() {
    assign(_$pointer.move())
    _$pointer.deallocate()
  }
}

/// The accesses that are under way in this process: as many as threads are changing a to-many just now.
private enum ToManyAccesses {
  private struct Entry: @unchecked Sendable {
    // Guarded by being compared by its address alone, but on the thread of the access itself.
    let address: UInt
    let access: AnyObject
  }
  private static let entries = Guarded<[Entry]>([])
  private static let count = Atomic<Int>(0)

  static func begin(_ access: AnyObject, address: UInt) {
    entries.withLock { $0.append(Entry(address: address, access: access)) }
    count.add(1, ordering: .relaxed)
  }
  static func end(_ access: AnyObject, address: UInt) {
    count.subtract(1, ordering: .relaxed)
    entries.withLock { entries in
      if let index = entries.lastIndex(where: { $0.address == address }) { entries.remove(at: index) }
    }
  }

  /// The access whose yielded array this is, if it was not changed in another way before.
  static func access<Value: PersistentModel>(_ array: inout [Value]) -> _$ToManyAccess<Value>? {
    guard count.load(ordering: .relaxed) > 0 else { return nil }
    let address = withUnsafeMutablePointer(to: &array) { UInt(bitPattern: $0) }
    let found = entries.withLock { entries in entries.last { $0.address == address } }
    guard let access = found?.access as? _$ToManyAccess<Value>, isSameStorage(access.members, array) else { return nil }
    return access
  }
}

extension Array where Element: PersistentModel {
  /// Adds a model at the end. On a to-many relationship of a model this costs the same however many members there are; a
  /// member that is there already stays where it is.
  public mutating func append(_ newElement: Element) {
    guard let access = ToManyAccesses.access(&self) else { return appendPlainly(newElement) }
    self = []
    access.append(newElement)
    self = access.members
  }

  /// Adds models at the end, as ``append(_:)`` adds each.
  public mutating func append<Models: Sequence>(contentsOf newElements: Models) where Models.Element == Element {
    guard let access = ToManyAccesses.access(&self) else {
      replaceSubrange(endIndex..<endIndex, with: Array(newElements))
      return
    }
    // Taken before the array is emptied: they may be of the array itself.
    let added = Array(newElements)
    self = []
    for element in added { access.append(element) }
    self = access.members
  }

  /// Adds models at the end, as ``append(_:)`` adds each.
  public static func += <Models: Sequence>(list: inout [Element], added: Models) where Models.Element == Element {
    list.append(contentsOf: added)
  }

  /// Removes the last model, whose relationship then leads here no more. Costs the same however many there are.
  ///
  /// - Precondition: the array is not empty.
  @discardableResult
  public mutating func removeLast() -> Element {
    guard let last, let access = ToManyAccesses.access(&self) else { return remove(at: count - 1) }
    self = []
    access.remove(last)
    self = access.members
    return last
  }

  /// Removes the last model, as ``removeLast()`` does; nil if there is none.
  public mutating func popLast() -> Element? { isEmpty ? nil : removeLast() }

  /// What the standard library's method does, which this one hides.
  private mutating func appendPlainly(_ element: Element) {
    func append<Unconstrained>(_ element: Unconstrained, to array: inout [Unconstrained]) { array.append(element) }
    append(element, to: &self)
  }
}
