package import Observation
package import Synchronization
package import TomboloProtocol

/// An object's part in its context: identity, what was changed, its relationships' cells, its observers. One object a model.
public final class _$ModelState: @unchecked Sendable {
  // Guarded by the context: a model and its context are used by one task at a time.

  package struct Flags: OptionSet {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    /// In a context, and not saved yet.
    package static let inserted = Flags(rawValue: 1)
    /// In the context's list of changed objects.
    package static let listed = Flags(rawValue: 2)
    package static let deletePending = Flags(rawValue: 4)
    package static let deleted = Flags(rawValue: 8)
    /// Another context or process has written the record: the row is read again before the next access.
    package static let stale = Flags(rawValue: 16)
    /// The initial values of the relationships have been taken over, and their inverses set.
    package static let absorbed = Flags(rawValue: 32)
    /// Some relationship was changed from either side.
    package static let relationsTouched = Flags(rawValue: 64)
    /// The record is in the store.
    package static let stored = Flags(rawValue: 128)
    /// Made to learn which properties a key path reads: see ``KeyPathProbe``.
    package static let probe = Flags(rawValue: 256)
    /// Some required reference was cleared once: ask its cell before its slot is taken at its word.
    package static let hasCleared = Flags(rawValue: 512)
    /// Some attribute was not read with the row: see ``_$ModelState/missing``.
    package static let partial = Flags(rawValue: 1024)
  }

  package var record: RecordID?
  package var link: ContextLink?
  package var classDescription: ClassDescription?
  /// How the class lies in the store of ``link``.
  package var plan: ModelPlan?
  package var flags: Flags = []
  /// The place in the context's list of pending objects; -1 for none.
  package var pendingIndex = -1
  /// Properties assigned since the last save, by their place in the class.
  package var changed = ColumnSet()
  /// What counters showed before they were assigned first since the last save, by their place in the class: a save adds
  /// the difference, whatever others have added meanwhile. Nil for none.
  package var counterBases: [Int: Value]?
  package var cells: [RelationCell] = []
  package var registrar: ObservationRegistrar?
  /// What was not read with the row; nil for nothing.
  package var missing: MissingProperties?
  private var runningObservers: [String] = []

  /// The state of an object that nobody has inserted.
  public init() {}

  package var hasChanges: Bool { !flags.isDisjoint(with: [.inserted, .deletePending, .listed]) }

  package func description(of model: some PersistentModel) -> ClassDescription {
    if let plan { return plan.description }
    if let classDescription { return classDescription }
    let description = ClassDescription.of(type(of: model))
    classDescription = description
    return description
  }

  package func recordID() -> RecordID {
    if let record { return record }
    let made = IdentifierSource.next()
    record = made
    return made
  }

  /// Whether a required reference leads nowhere, although its slot shows an object.
  package func isCleared(_ relationship: RelationshipDescription) -> Bool {
    flags.contains(.hasCleared) && cells.indices.contains(relationship.cell) && cells[relationship.cell].isCleared
  }

  package func identifier(of model: some PersistentModel) -> PersistentIdentifier {
    PersistentIdentifier(
      record: recordID(), entityName: description(of: model).name,
      storeIdentifier: flags.contains(.stored) ? plan?.part?.storeIdentifier : nil,
      isTemporary: !flags.contains(.stored))
  }

  /// Takes the place of a fetched row's object in its context.
  public func _$adopt(_ row: _$RowReader) {
    record = row.record
    link = row.link
    plan = row.plan
    flags = [.stored, .absorbed]
    cells = row.cells
    if row.mayMiss { noteMissing(row) }
  }

  /// Whether an observer (`didSet`, `willSet`) of that property may run: not inside itself.
  public func _$beginObserver(_ property: String) -> Bool {
    if runningObservers.contains(property) { return false }
    runningObservers.append(property)
    return true
  }
  /// Ends what ``_$beginObserver(_:)`` began.
  public func _$endObserver(_ property: String) { runningObservers.removeAll { $0 == property } }
}

/// The thread from objects to their context, which may be gone before them.
package final class ContextLink: @unchecked Sendable {
  // Guarded by the context, but for `isStale`, which is atomic: other contexts set it.
  /// The context; nil once it has gone. Every access of a property asks for it, and a weak reference would cost each of
  /// them more than the access.
  package var context: ModelContext? { current }
  private unowned(unsafe) var current: ModelContext?
  /// The same for work that runs later, when another thread may be giving the context up.
  private(set) weak var laterContext: ModelContext?
  /// Of what the context was made: an object that outlives it still finds its relationships. Nil for placeholders.
  let core: ContainerCore?
  /// Whether the context has an undo manager.
  var recordsUndo = false
  /// Commits of others wait to be taken over.
  package let isStale = Atomic<Bool>(false)
  /// Runs work where the context is used, when that place is free; nil where the program alone decides.
  private let scheduler = Guarded<(@Sendable (@escaping @Sendable () -> Void) -> Void)?>(nil)

  init(core: ContainerCore?) { self.core = core }
  func bind(_ context: ModelContext) {
    current = context
    laterContext = context
  }
  /// Called by the context as it goes.
  func unbind() { current = nil }

  /// Says how work is run where the context is used.
  func schedule(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    scheduler.withLock { $0 = run }
  }

  /// Has work run where the context is used.
  ///
  /// - Returns: false where there is no such place; the work is dropped then.
  @discardableResult
  func later(_ work: @escaping @Sendable () -> Void) -> Bool {
    guard let run = scheduler.withLock({ $0 }) else { return false }
    run(work)
    return true
  }
}
