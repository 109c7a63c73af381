public import Observation
import TomboloProtocol

/// The results of a fetch that stay what they should be: this platform's `@Query`.
///
/// ```swift
/// let shelf = try ResultsObserver(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]), in: container.mainContext)
/// for await books in Observations({ shelf.identifiers }) { print(books.count) }
/// ```
///
/// The results are fetched again when the context saves, rolls back, takes over what other contexts, processes and syncs have
/// committed, or processes its changes; in the main context and that of a ``ModelActor`` also when its executor is free after
/// a change. Each time costs the fetch. Observers hear of it only if other objects are among the results, or in another order:
/// the objects themselves tell of their attributes.
///
/// It belongs to its context, and is used where that is.
public final class ResultsObserver<Model: PersistentModel>: Observable, ObservedResults {
  private let registrar = ObservationRegistrar()
  private weak var context: ModelContext?
  private var current: [Model] = []
  private var failure: (any Error)?
  private let section: ((Model) -> String)?

  /// What is fetched. Setting it fetches at once.
  public var descriptor: FetchDescriptor<Model> {
    didSet { update() }
  }

  /// Fetches, and goes on to do so as long as the observer is there.
  ///
  /// - Parameter sectionBy: what an object's section is called; nil for results without sections. Sections come in the order in which their
  ///   first objects stand among the results: sort by what makes the name.
  /// - Throws: what ``ModelContext/fetch(_:)`` throws.
  public init(
    _ descriptor: FetchDescriptor<Model> = FetchDescriptor(), in context: ModelContext,
    sectionBy section: ((Model) -> String)? = nil
  ) throws {
    self.descriptor = descriptor
    self.context = context
    self.section = section
    current = try context.fetch(descriptor)
    context.results.append(WeakResults(self))
  }

  /// The objects, in the descriptor's order. Observable.
  public var results: [Model] {
    registrar.access(self, keyPath: \.results)
    return current
  }

  /// The identities of the objects, which may be handed to other tasks. Observable.
  public var identifiers: [PersistentIdentifier] { results.map(\.persistentModelID) }

  /// Why the last fetch failed; nil after one that did not. The results are those of the last one that did not. Observable.
  public var fetchError: (any Error)? {
    registrar.access(self, keyPath: \.fetchError)
    return failure
  }

  /// The objects by section; one section without a name where none was asked for. Observable.
  public var sections: [ResultsSection<Model>] {
    guard let section else { return [ResultsSection(id: "", elements: results)] }
    var names: [String] = []
    var elements: [String: [Model]] = [:]
    for model in results {
      let name = section(model)
      if elements[name] == nil { names.append(name) }
      elements[name, default: []].append(model)
    }
    return names.map { ResultsSection(id: $0, elements: elements[$0] ?? []) }
  }

  /// Fetches again now.
  public func update() {
    guard let context else { return }
    do {
      let found = try context.fetch(descriptor)
      if failure != nil { registrar.withMutation(of: self, keyPath: \.fetchError) { failure = nil } }
      let isSame = found.count == current.count && zip(found, current).allSatisfy { $0 === $1 }
      if !isSame { registrar.withMutation(of: self, keyPath: \.results) { current = found } }
    } catch {
      registrar.withMutation(of: self, keyPath: \.fetchError) { failure = error }
    }
  }
}

/// Some of a fetch's results, under a name.
public struct ResultsSection<Model: PersistentModel>: Identifiable, RandomAccessCollection {
  /// The section's name.
  public let id: String
  /// Its objects, in the order of the results.
  public let elements: [Model]
  /// The first position, which is 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { elements.count }
  /// The object at a position.
  public subscript(position: Int) -> Model { elements[position] }
}

/// Results that a context keeps up to date.
protocol ObservedResults: AnyObject {
  func update()
}

/// Holds results as long as somebody else does.
struct WeakResults {
  private(set) weak var results: (any ObservedResults)?
  init(_ results: any ObservedResults) { self.results = results }
}

extension ModelContext {
  /// Has live results fetched again, where there are any.
  func updateResults() {
    guard !results.isEmpty, !isUpdatingResults else { return }
    isUpdatingResults = true
    defer { isUpdatingResults = false }
    results.removeAll { $0.results == nil }
    for observed in results { observed.results?.update() }
  }

  /// Has them fetched again when the context's executor is free, once.
  func scheduleResults() {
    guard !results.isEmpty, !isResultsUpdateScheduled else { return }
    let link = link
    isResultsUpdateScheduled = link.later {
      link.laterContext?.isResultsUpdateScheduled = false
      link.laterContext?.updateResults()
    }
  }
}
