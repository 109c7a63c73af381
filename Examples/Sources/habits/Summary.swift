import SwiftData

/// Counts in the background, as a widget would.
@ModelActor
actor Summary {
  struct Figures: Sendable {
    var habits = 0
    var checks = 0
    var firstDay: String?
  }

  func figures() throws -> Figures {
    var figures = Figures()
    figures.habits = try modelContext.fetchCount(FetchDescriptor<Habit>())
    try modelContext.enumerate(FetchDescriptor<Check>(sortBy: [SortDescriptor(\.day)])) { check in
      if figures.firstDay == nil { figures.firstDay = check.day }
      figures.checks += 1
    }
    return figures
  }
}
