import EventModels
import SwiftData

/// Clears out what is long over, in the background.
@ModelActor
actor Cleaner {
  /// - Returns: how many events went.
  func removeEvents(before day: Date) throws -> Int {
    let past = #Predicate<Event> { $0.end <= day }
    let count = try modelContext.fetchCount(FetchDescriptor(predicate: past))
    try modelContext.delete(model: Event.self, where: past)
    try modelContext.save()
    return count
  }
}
