import Dispatch
public import Observation
import TomboloProtocol

/// Tells of new transactions of a container's history, as they are committed: saves of any context of this process, and what
/// syncs bring.
///
/// ```swift
/// let observer = HistoryObserver(container)
/// for await transactions in observer {
///   for transaction in transactions where transaction.author == "sync" { print(transaction.changes.count) }
/// }
/// ```
///
/// It may be used from anywhere. What another process saves is told with the next commit of this one, or by ``check()``.
public final class HistoryObserver: Observable, AsyncSequence, Sendable {
  /// New transactions, the oldest first; never empty.
  public typealias Element = [DefaultHistoryTransaction]
  /// It does not end by an error: see ``HistoryObserver/fetchError``.
  public typealias Failure = Never

  private struct State {
    var token: DefaultHistoryToken?
    var failure: (any Error)?
    var observations: [StoreObservation] = []
    var streams: [Int: AsyncStream<Element>.Continuation] = [:]
    var nextStream = 0
  }

  private let container: ModelContainer
  private let state = Guarded(State())
  private let registrar = ObservationRegistrar()
  private let queue = DispatchQueue(label: "tombolo.history")

  /// Begins to look.
  ///
  /// - Parameter token: what was seen already; nil for everything up to now.
  /// - Throws: what ``ModelContext/fetchHistory(_:)`` throws.
  public init(_ container: ModelContainer, after token: DefaultHistoryToken? = nil) throws {
    self.container = container
    let context = ModelContext(container)
    let all = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    state.withLock { $0.token = token ?? all.last?.token }
    let observations = container.core.parts.map { part in
      part.store.observe { [weak self] _ in self?.check() }
    }
    state.withLock { $0.observations = observations }
    if let token, all.contains(where: { $0.token > token }) { check() }
  }

  deinit {
    for (_, stream) in state.withLock({ $0.streams }) { stream.finish() }
  }

  /// The place in the history up to which everything was told; nil before there was anything. Observable.
  public var token: DefaultHistoryToken? {
    registrar.access(self, keyPath: \.token)
    return state.withLock { $0.token }
  }

  /// Why the history could not be read the last time; nil after it could. Observable.
  public var fetchError: (any Error)? {
    registrar.access(self, keyPath: \.fetchError)
    return state.withLock { $0.failure }
  }

  /// Looks for new transactions, in the background.
  public func check() {
    queue.async { [weak self] in self?.look() }
  }

  private func look() {
    let known = state.withLock { $0.token }
    do {
      var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
      if let known { descriptor.predicate = #Predicate { $0.token > known } }
      let found = try ModelContext(container).fetchHistory(descriptor)
      let streams = state.withLock { state -> [AsyncStream<Element>.Continuation] in
        state.failure = nil
        return state.streams.sorted { $0.key < $1.key }.map(\.value)
      }
      guard let last = found.last else { return }
      registrar.withMutation(of: self, keyPath: \.token) { state.withLock { $0.token = last.token } }
      for stream in streams { stream.yield(found) }
    } catch {
      registrar.withMutation(of: self, keyPath: \.fetchError) { state.withLock { $0.failure = error } }
    }
  }

  /// What was found from now on. Each iterator hears of everything; one that is slow keeps the last thousand lots.
  public func makeAsyncIterator() -> AsyncStream<Element>.Iterator {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: .bufferingNewest(1_000))
    let number = state.withLock { state -> Int in
      state.nextStream += 1
      state.streams[state.nextStream] = continuation
      return state.nextStream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
    }
    return stream.makeAsyncIterator()
  }
}
