import SwiftData

/// Figures over the whole log, off the main actor.
@ModelActor
actor Statistics {
  struct Figures: Sendable {
    var workouts = 0
    var kilograms = 0.0
    var heaviestSet: PersistentIdentifier?
  }

  func figures() throws -> Figures {
    var figures = Figures()
    figures.workouts = try modelContext.fetchCount(FetchDescriptor<Workout>())
    try modelContext.enumerate(FetchDescriptor<Workout>(), batchSize: 100) { figures.kilograms += $0.volume }
    var heaviest = FetchDescriptor<ExerciseSet>(sortBy: [SortDescriptor(\.oneRepMax, order: .reverse)])
    heaviest.fetchLimit = 1
    figures.heaviestSet = try modelContext.fetchIdentifiers(heaviest).first
    return figures
  }

  /// What was saved since a token, author by author: what a widget would refresh by.
  func changes(since token: DefaultHistoryToken?) throws -> (count: Int, token: DefaultHistoryToken?) {
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    if let token { descriptor.predicate = #Predicate { $0.token > token } }
    let transactions = try modelContext.fetchHistory(descriptor)
    return (transactions.reduce(0) { $0 + $1.changes.count }, transactions.last?.token ?? token)
  }
}
