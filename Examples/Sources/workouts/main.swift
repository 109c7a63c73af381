import SwiftData
import Terminal

let program = Program(
  "workouts", "What you lifted, your records, and the weeks in a row.", schema: LogV1.self,
  app: { container in try Gym(container) },
  commands: [
    .init("log", "EXERCISE SET… [--day 2025-03-09]", "sets of an exercise, each as 80x5: kilograms, times in a row") {
      gym, arguments in
      let day = try arguments.option("day").map(day) ?? .now
      let exercise = try arguments.next("EXERCISE")
      let loads = try arguments.rest().map(load)
      guard !loads.isEmpty else { throw UsageError("SET is missing.") }
      if try gym.log.log(loads, of: exercise, on: day) { print("A personal record!") }
    },
    .init("feel", "poor|fine|strong [--day DAY] [--remark TEXT]", "how the workout of a day was") { gym, arguments in
      let day = try arguments.option("day").map(day) ?? .now
      let remark = try arguments.option("remark")
      let word = try arguments.next("FEELING")
      guard let feeling = Feeling.allCases.first(where: { "\($0)" == word }) else {
        throw UsageError("A workout can be poor, fine or strong.")
      }
      try gym.log.feel(feeling, on: day, remark: remark)
    },
    .init("list", "", "the workouts, the latest first") { gym, _ in
      for workout in gym.log.workouts { print(text(workout)) }
      print("\(gym.log.streak) weeks in a row")
    },
    .init("records", "", "the best set of each exercise") { gym, _ in
      for (exercise, set) in try gym.log.records() {
        print("\(exercise.name): \(set.load) on \(set.date.formatted(.iso8601.year().month().day()))")
      }
    },
    .init("remove", "DAY", "the workout of a day") { gym, arguments in
      try gym.log.remove(on: day(arguments.next("DAY")))
    },
    .init("forget", "EXERCISE", "an exercise without sets") { gym, arguments in
      try gym.log.forget(arguments.next("EXERCISE"))
    },
    .init("figures", "", "how many workouts, how much was lifted, how many changes this store has recorded") {
      gym, _ in
      let figures = try await gym.statistics.figures()
      let changes = try await gym.statistics.changes(since: nil)
      print("\(figures.workouts) workouts, \(figures.kilograms.formatted()) kg, \(changes.count) changes")
    },
  ])

/// What the commands work with.
@MainActor
final class Gym {
  let log: TrainingLog
  let statistics: Statistics

  init(_ container: ModelContainer) throws {
    log = try TrainingLog(container: container)
    statistics = Statistics(modelContainer: container)
  }
}

func day(_ text: String) throws -> Date {
  do {
    return try Date(text, strategy: .iso8601.year().month().day())
  } catch {
    throw UsageError("'\(text)' is no day; write 2025-03-09.")
  }
}

func load(_ text: String) throws -> Load {
  let parts = text.split(separator: "x")
  guard parts.count == 2, let kilograms = Double(parts[0]), let times = Int(parts[1]), kilograms >= 0, times > 0 else {
    throw UsageError("'\(text)' is no set; write 80x5 for five times 80 kilograms.")
  }
  return Load(kilograms: kilograms, repetitions: times)
}

func text(_ workout: Workout) -> String {
  let sets = workout.sets.sorted { $0.position < $1.position }.map { "\($0.exercise?.name ?? "?") \($0.load)" }
  return "\(workout.date.formatted(.iso8601.year().month().day())) \(workout.feeling): \(sets.joined(separator: ", "))"
    + (workout.remark.isEmpty ? "" : " (\(workout.remark))")
}

await program.main()
