import Synchronization
import Foundation
import TomboloProtocol

/// The unit of work: objects that were fetched or inserted, and what was changed of them since the last save.
///
/// A context has one object for each record, and keeps every object that it handed out until it goes: for bulk work, use
/// a context of its own. It is used by one task at a time.
///
/// Work is saved by ``save()`` and ``transaction(block:)``, and with ``autosaveEnabled`` at the points that are listed there.
/// What was not saved is gone with the context.
public final class ModelContext {
  /// The container that it was made of.
  public var container: ModelContainer { strongContainer ?? weakContainer ?? ModelContainer(core: core) }
  /// Written into the history of each save.
  public var author: String?
  /// Whether what is pending is saved by itself; true for a container's main context only, unless it is set.
  ///
  /// The points are: when the main actor is free after a change (the main context), or the executor of a ``ModelActor`` is
  /// (its context); and ``processPendingChanges()`` (any context). A program that ends before saves nothing.
  /// A save that fails leaves everything pending, and the error in ``autosaveFailure``.
  public var autosaveEnabled: Bool {
    didSet { if autosaveEnabled, hasChanges { scheduleAutosave() } }
  }
  /// Why the last save by itself failed; nil after one that did not. Beyond SwiftData.
  public internal(set) var autosaveFailure: (any Error)?
  var isAutosaveScheduled = false
  /// Where the context's changes are registered to be undone; nil, as at first, for nowhere.
  ///
  /// What is changed until the context saves, processes its changes, or its actor is free, is undone at once. Attributes,
  /// relationships, insertions and deletions come back, saved or not; ``rollback()`` forgets what was registered.
  public var undoManager: UndoManager? {
    didSet {
      if oldValue !== undoManager { forgetUndo(in: oldValue) }
      link.recordsUndo = undoManager != nil
    }
  }
  var isUndoEventScheduled = false
  /// Since the last save, objects were forgotten that lists and references may still show: a new one that was deleted, or
  /// one whose record others have deleted.
  var hasForgotten = false
  /// How many blocks of ``transaction(block:)`` are running.
  var transactionDepth = 0
  /// What the first block inside the outermost one threw.
  var transactionFailure: (any Error)?

  let core: ContainerCore
  private let strongContainer: ModelContainer?
  private weak var weakContainer: ModelContainer?
  let link: ContextLink
  let inbox: CommitInbox
  private let observations: [StoreObservation]
  let source = ModelSource()
  /// Tells contexts apart.
  let identity = IdentifierSource.next()
  private var usingThread: UInt = 0
  private var useDepth = 0

  /// One object for each record.
  var registry: [RecordID: any PersistentModel] = [:]
  /// Inserted, changed and deleted objects in the order of their first change; gaps where one was forgotten.
  var pending: [(any PersistentModel)?] = []
  var insertedCount = 0
  var changedCount = 0
  var deletedCount = 0
  /// Objects with a to-many that was changed from either side.
  var touched: [any PersistentModel] = []
  /// To-many and far-side slots that hold what the store said: emptied when others commit.
  var loadedSlots: [(model: any PersistentModel, relationship: RelationshipDescription)] = []
  /// What could not be thrown where it happened; the next save throws the first of it.
  var deferredFaults: [TomboloError] = []
  /// Live results of this context.
  var results: [WeakResults] = []
  var isUpdatingResults = false
  var isResultsUpdateScheduled = false
  /// By store: what it said when it was last looked at.
  var knownDataVersions: [Int64?]
  /// Whether the fetch under way has met an object that the context had already.
  var metKnownObjects = false
  /// Whether the fetch under way has every object show its row, since somebody has committed meanwhile.
  var refreshesKnownObjects = false
  /// Objects of the fetch under way that are to be read when its statement is over.
  var unreadOfFetch: [any PersistentModel] = []

  var plans: ModelPlans { core.plans }

  /// The store of a model's records.
  func store(of plan: ModelPlan) -> Store { (plan.part ?? core.parts[0]).store }

  /// A context of its own, for the task that makes it.
  public convenience init(_ container: ModelContainer) { self.init(container, isMain: false) }

  init(_ container: ModelContainer, isMain: Bool) {
    core = container.core
    // The container holds its main context: that one holds only what the container is made of.
    strongContainer = isMain ? nil : container
    weakContainer = container
    let link = ContextLink(core: container.core)
    let inbox = CommitInbox()
    self.link = link
    self.inbox = inbox
    autosaveEnabled = isMain
    if isMain { link.schedule { work in Task { @MainActor in work() } } }
    observations = container.core.parts.map { part in
      part.store.observe { summary in
        guard inbox.take(summary) else { return }
        link.isStale.store(true, ordering: .releasing)
        link.later { link.laterContext?.takeCommitsOfOthers() }
      }
    }
    // What others commit from now on is news.
    knownDataVersions = container.core.parts.map { part in
      if case .file = part.store.location { try? part.store.dataVersion() } else { nil }
    }
    link.bind(self)
  }

  deinit {
    link.unbind()
    // Objects may outlive the context: their slots hold each other, so they are emptied.
    for (_, model) in registry { Self.release(model) }
  }

  private static func release(_ model: any PersistentModel) {
    let state = model._$state
    guard !state.cells.isEmpty else { return }
    for relationship in state.description(of: model).relationships {
      let cell = state.cells[relationship.cell]
      if state.flags.contains(.stored), cell.isLoaded, !cell.hasDelta, !state.changed.contains(relationship.property) {
        // What is asked for later is read again: see `RelationshipMaintenance.load`.
        if state.plan?.isReference(relationship) == false {
          state.cells[relationship.cell].content = .unloaded
        } else if let target = relationship.one(model) {
          state.cells[relationship.cell].content = .identifier(target._$state.recordID())
        }
      }
      relationship.clear(model)
    }
  }

  /// Asserts that no other thread is inside the context.
  func use<Result>(_ body: () throws -> Result) rethrows -> Result {
    let thread = UInt(bitPattern: Int(truncatingIfNeeded: pthread_self()))
    precondition(
      useDepth == 0 || usingThread == thread,
      "A ModelContext is used by two threads at once: make a context for each task, and hand over persistentModelIDs.")
    usingThread = thread
    useDepth += 1
    defer { useDepth -= 1 }
    return try body()
  }

  // MARK: What is pending

  /// Whether there is anything to save.
  public var hasChanges: Bool { insertedCount + changedCount + deletedCount > 0 }
  /// Objects that were inserted since the last save, in order.
  public var insertedModelsArray: [any PersistentModel] { pendingModels(.inserted) }
  /// Objects that were changed since the last save, in order.
  public var changedModelsArray: [any PersistentModel] {
    pending.compactMap { $0 }.filter {
      $0._$state.flags.contains(.listed) && $0._$state.flags.isDisjoint(with: [.inserted, .deletePending])
    }
  }
  /// Objects that were deleted since the last save, in order.
  public var deletedModelsArray: [any PersistentModel] { pendingModels(.deletePending) }

  private func pendingModels(_ flag: _$ModelState.Flags) -> [any PersistentModel] {
    pending.compactMap { $0 }.filter { $0._$state.flags.contains(flag) }
  }

  /// Takes over what others have committed, as every call of the context does; with ``autosaveEnabled``, saves.
  public func processPendingChanges() {
    use {
      takeCommitsOfOthers()
      endUndoEvent()
      autosave()
      updateResults()
    }
  }

  func noteChanged(_ model: any PersistentModel) {
    let state = model._$state
    guard state.flags.isDisjoint(with: [.listed, .inserted]) else { return }
    state.flags.insert(.listed)
    if state.flags.contains(.deletePending) { return }
    changedCount += 1
    append(model)
  }

  func noteTouched(_ model: any PersistentModel) {
    if !model._$state.flags.contains(.relationsTouched) {
      model._$state.flags.insert(.relationsTouched)
      touched.append(model)
    }
    noteChanged(model)
  }

  func append(_ model: any PersistentModel) {
    let state = model._$state
    guard state.pendingIndex < 0 else { return }
    state.pendingIndex = pending.count
    pending.append(model)
    if autosaveEnabled, !isAutosaveScheduled { scheduleAutosave() }
    if !results.isEmpty { scheduleResults() }
  }

  func forget(_ model: any PersistentModel) {
    let state = model._$state
    if pending.indices.contains(state.pendingIndex) { pending[state.pendingIndex] = nil }
    state.pendingIndex = -1
  }
}

extension ModelContext: Equatable {
  /// Equal, if they are one context.
  public static func == (a: ModelContext, b: ModelContext) -> Bool { a === b }
}

/// Commits of others that a context has not taken over yet.
final class CommitInbox: Sendable {
  private struct State {
    var commits: [CommitSummary] = []
    /// The thread that is saving for the context: its commits are its own.
    var ownThread: UInt?
  }
  private let state = Guarded(State())

  /// Returns false for the context's own commit.
  func take(_ summary: CommitSummary) -> Bool {
    state.withLock { state in
      if state.ownThread == Self.thread { return false }
      state.commits.append(summary)
      return true
    }
  }
  func drain() -> [CommitSummary] {
    state.withLock { state in
      defer { state.commits = [] }
      return state.commits
    }
  }
  func passingOverOwn<Result>(_ body: () throws -> Result) rethrows -> Result {
    state.withLock { $0.ownThread = Self.thread }
    defer { state.withLock { $0.ownThread = nil } }
    return try body()
  }
  private static var thread: UInt { UInt(bitPattern: Int(truncatingIfNeeded: pthread_self())) }
}
