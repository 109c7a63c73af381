import SwiftData

enum LogV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static let models: [any PersistentModel.Type] = [Workout.self, ExerciseSet.self, Exercise.self]
}

typealias Workout = LogV1.Workout
typealias ExerciseSet = LogV1.ExerciseSet
typealias Exercise = LogV1.Exercise

extension LogV1 {
  @Model
  final class Exercise {
    @Attribute(.unique) var name: String
    var muscle: Muscle?
    @Relationship(deleteRule: .deny, inverse: \ExerciseSet.exercise) private(set) var sets: [ExerciseSet] = []

    init(name: String, muscle: Muscle? = nil) {
      self.name = name
      self.muscle = muscle
    }

    /// The best set of all, by what one could have lifted once.
    var record: ExerciseSet? {
      sets.max { ($0.oneRepMax, $1.date) < ($1.oneRepMax, $0.date) }
    }
  }

  @Model
  final class Workout {
    #Index<Workout>([\.date])

    var date: Date
    var feeling: Feeling = Feeling.fine
    var remark: String = ""
    @Attribute(.externalStorage) var photo: Data?
    @Relationship(deleteRule: .cascade, inverse: \ExerciseSet.workout) private(set) var sets: [ExerciseSet] = []

    init(date: Date = .now) {
      self.date = date
    }

    /// All that was lifted, in kilograms.
    var volume: Double { sets.reduce(0) { $0 + $1.load.kilograms * Double($1.load.repetitions) } }

    func add(_ load: Load, of exercise: Exercise) {
      sets.append(ExerciseSet(load, of: exercise, position: sets.count))
    }
  }

  @Model
  final class ExerciseSet {
    var load: Load
    var position: Int
    /// Computed when it is made, so that the store can sort by it (Epley's formula).
    private(set) var oneRepMax: Double
    var exercise: Exercise?
    var workout: Workout?

    init(_ load: Load, of exercise: Exercise, position: Int) {
      self.load = load
      self.position = position
      oneRepMax = load.repetitions == 1 ? load.kilograms : load.kilograms * (1 + Double(load.repetitions) / 30)
      self.exercise = exercise
    }

    var date: Date { workout?.date ?? .distantFuture }
  }
}

/// What was lifted, and how often in a row.
struct Load: Codable, Hashable, CustomStringConvertible {
  var kilograms: Double
  var repetitions: Int

  var description: String { "\(kilograms.formatted()) kg × \(repetitions)" }
}

enum Muscle: String, Codable, CaseIterable {
  case legs, back, chest, arms, core
}

enum Feeling: Int, Codable, Comparable, CaseIterable {
  case poor = 1
  case fine
  case strong

  static func < (left: Feeling, right: Feeling) -> Bool { left.rawValue < right.rawValue }
}
