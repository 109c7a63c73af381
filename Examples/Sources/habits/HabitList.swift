import SwiftData

/// The view model of the list of habits.
@MainActor @Observable
class HabitList {
  let today: Day
  var showsArchived = false
  private let context: ModelContext

  init(container: ModelContainer, today: Day = .today) {
    context = container.mainContext
    context.undoManager = UndoManager()
    self.today = today
  }

  /// Those that are shown, by name.
  var habits: [Habit] {
    get throws {
      let showsArchived = self.showsArchived
      var descriptor = FetchDescriptor<Habit>(
        predicate: #Predicate { showsArchived || !$0.isArchived }, sortBy: [SortDescriptor(\.name)])
      descriptor.relationshipKeyPathsForPrefetching = [\.checks]
      return try context.fetch(descriptor)
    }
  }

  func habit(_ name: String) throws -> Habit {
    let found = try context.fetch(FetchDescriptor<Habit>(predicate: #Predicate { $0.name == name }))
    guard let habit = found.first else { throw HabitError.unknown(name) }
    return habit
  }

  func add(_ name: String, schedule: Schedule) throws {
    guard try context.fetchCount(FetchDescriptor<Habit>(predicate: #Predicate { $0.name == name })) == 0 else {
      throw HabitError.exists(name)
    }
    context.insert(Habit(name: name, schedule: schedule))
    try context.save()
  }

  /// Marks a day as kept, or takes the mark back if it is there.
  ///
  /// - Returns: whether the day is kept now.
  func toggle(_ habit: Habit, on day: Day, remark: String? = nil) throws -> Bool {
    let text = day.description
    if let check = habit.checks.first(where: { $0.day == text }) {
      context.delete(check)
    } else {
      let check = Check(day: day, habit: habit)
      check.remark = remark
      context.insert(check)
    }
    try context.save()
    return habit.days.contains(day)
  }

  func archive(_ habit: Habit) throws {
    habit.isArchived = true
    try context.save()
  }
}

enum HabitError: LocalizedError {
  case unknown(String)
  case exists(String)

  var errorDescription: String? {
    switch self {
    case .unknown(let name): return "There is no habit “\(name)”."
    case .exists(let name): return "There is a habit “\(name)” already."
    }
  }
}
