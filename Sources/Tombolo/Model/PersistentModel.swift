public import Observation

/// A class whose objects are records of a store; ``Model()`` makes it one.
///
/// Objects belong to their context, and are used where the context is: they are not `Sendable`.
/// A deleted object keeps its last known values, says so by ``isDeleted``, and has no context after the save.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
  /// The object's part in its context; the macro's.
  var _$state: _$ModelState { get }
  /// How many persisted properties the class has, inherited ones included; the macro's.
  static var _$propertyCount: Int { get }
  /// Makes an object of a row; the macro's.
  init(_$row: _$RowReader) throws
  /// Takes a row's values anew; the macro's.
  func _$reload(_ row: _$RowReader) throws
  /// Binds one property to a statement; the macro's.
  func _$bind(_ property: Int, to writer: _$ColumnWriter) throws
  /// Lists the class's properties, inherited ones first; the macro's.
  static func _$describe(_ schema: _$SchemaBuilder)
}

extension PersistentModel {
  /// The record's identity: the same before and after the first save, on every replica.
  public var persistentModelID: PersistentIdentifier { _$state.identifier(of: self) }

  /// The record's identity, unless the class declares an `id` of its own.
  public var id: PersistentIdentifier { persistentModelID }

  /// The context that the object was inserted into or fetched by; nil before, and after its record was deleted.
  public var modelContext: ModelContext? { _$state.link?.context }

  /// Whether the object has changes that were not saved.
  public var hasChanges: Bool { _$state.hasChanges }

  /// Whether the object was deleted, saved or not.
  public var isDeleted: Bool {
    _$state.refreshIfStale(self)
    return !_$state.flags.isDisjoint(with: [.deletePending, .deleted])
  }

  /// Objects are equal if they are one object: a context has one for each record.
  public static func == (a: Self, b: Self) -> Bool { a === b }

  /// Hashes which object it is.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
