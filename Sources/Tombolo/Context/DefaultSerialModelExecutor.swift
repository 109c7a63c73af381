import Dispatch

/// Runs a ``ModelActor``'s work, one piece after another, on a queue of its own: never on the main thread, and never in
/// the way of other tasks.
///
/// What other contexts, processes and syncs commit is taken over by its context between two pieces of work, so that
/// observers are told without anybody asking; with `autosaveEnabled`, what is pending is saved there as well.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
  // Guarded by the queue: the context is used by the work on it alone.

  /// The context that the executor owns.
  public let modelContext: ModelContext
  private let queue: DispatchQueue
  private static let key = DispatchSpecificKey<ObjectIdentifier>()

  /// Takes over a context, which nobody else may use from now on.
  public init(modelContext: ModelContext) {
    self.modelContext = modelContext
    let queue = DispatchQueue(label: "tombolo.model-executor")
    self.queue = queue
    queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
    modelContext.link.schedule { work in queue.async(execute: work) }
  }

  /// Runs a piece of an actor's work when those before it are done.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Held until it ran: the actor may be gone by then.
    queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  /// The executor as the language passes it around.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Whether the caller is work of this executor.
  public func isIsolatingCurrentContext() -> Bool? {
    DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self)
  }

  /// Stops the program where the caller is not work of this executor.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
