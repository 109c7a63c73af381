import SwiftData

/// The view model of the log.
@MainActor @Observable
final class TrainingLog {
  private(set) var workouts: [Workout] = []
  private(set) var streak = 0

  private let context: ModelContext
  private let calendar: Calendar

  init(container: ModelContainer) throws {
    context = container.mainContext
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = .gmt
    self.calendar = calendar
    try load()
  }

  func load() throws {
    workouts = try context.fetch(FetchDescriptor<Workout>(sortBy: [SortDescriptor(\.date, order: .reverse)]))
    streak = weeksInARow()
  }

  /// Logs sets of an exercise in the workout of a day, which begins with the first of them.
  ///
  /// - Returns: whether one of them is a personal record.
  func log(_ loads: [Load], of name: String, on day: Date) throws -> Bool {
    let exercise = try exercise(name) ?? Exercise(name: name)
    let before = exercise.record?.oneRepMax ?? 0
    let workout = try workout(on: day) ?? Workout(date: day)
    context.insert(workout)
    for load in loads { workout.add(load, of: exercise) }
    try context.save()
    try load()
    return before > 0 && workout.sets.contains { $0.exercise == exercise && $0.oneRepMax > before }
  }

  func feel(_ feeling: Feeling, on day: Date, remark: String?) throws {
    guard let workout = try workout(on: day) else { throw LogError.noWorkout }
    workout.feeling = feeling
    if let remark { workout.remark = remark }
    try context.save()
  }

  func remove(on day: Date) throws {
    guard let workout = try workout(on: day) else { throw LogError.noWorkout }
    context.delete(workout)
    try context.save()
    try load()
  }

  /// The best set of each exercise.
  func records() throws -> [(exercise: Exercise, set: ExerciseSet)] {
    try context.fetch(FetchDescriptor<Exercise>(sortBy: [SortDescriptor(\.name)]))
      .compactMap { exercise in exercise.record.map { (exercise, $0) } }
  }

  /// Removes an exercise from the list; one that has sets stays, since its rule is to deny that.
  func forget(_ name: String) throws {
    guard let exercise = try exercise(name) else { throw LogError.noExercise(name) }
    context.delete(exercise)
    do {
      try context.save()
    } catch {
      context.rollback()
      throw error
    }
  }

  private func exercise(_ name: String) throws -> Exercise? {
    try context.fetch(FetchDescriptor<Exercise>(predicate: #Predicate { $0.name == name })).first
  }

  private func workout(on day: Date) throws -> Workout? {
    let start = calendar.startOfDay(for: day)
    let end = start.addingTimeInterval(86_400)
    var descriptor = FetchDescriptor<Workout>(predicate: #Predicate { $0.date >= start && $0.date < end })
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first
  }

  /// Weeks with a workout, back from the latest one.
  private func weeksInARow() -> Int {
    let weeks = Set(workouts.compactMap { calendar.dateInterval(of: .weekOfYear, for: $0.date)?.start })
    guard var week = weeks.max() else { return 0 }
    var count = 0
    while weeks.contains(week) {
      count += 1
      guard let before = calendar.date(byAdding: .weekOfYear, value: -1, to: week) else { break }
      week = before
    }
    return count
  }
}

enum LogError: LocalizedError {
  case noWorkout
  case noExercise(String)

  var errorDescription: String? {
    switch self {
    case .noWorkout: "There was no workout on that day."
    case .noExercise(let name): "There is no exercise “\(name)”."
    }
  }
}
