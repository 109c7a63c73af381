import SwiftData

// The first release knew no schedules. The second adds them, with a default: existing stores are opened as they are.

enum HabitsV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Habit.self, Check.self] }

  @Model
  final class Habit {
    @Attribute(.unique) var name: String
    var createdAt: Date = Date()
    @Relationship(deleteRule: .cascade, inverse: \Check.habit) var checks: [Check] = []

    init(name: String) {
      self.name = name
    }
  }

  @Model
  final class Check {
    @Attribute(.unique) var key: String
    var day: String
    var habit: Habit?

    init(day: String, habit: Habit) {
      key = "\(habit.name) \(day)"
      self.day = day
      self.habit = habit
    }
  }
}

enum HabitsV2: VersionedSchema {
  static var versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Habit.self, Check.self] }

  @Model
  final class Habit {
    @Attribute(.unique) var name: String
    var createdAt: Date = Date()
    var schedule: Schedule = Schedule.daily
    var isArchived: Bool = false
    @Relationship(deleteRule: .cascade, inverse: \Check.habit) var checks: [Check] = []
    /// Not stored: whether the list has it unfolded.
    @Transient var isUnfolded = false

    init(name: String, schedule: Schedule = .daily) {
      self.name = name
      self.schedule = schedule
    }
  }

  /// A habit kept on a day. The key makes two checks of one day on two devices the same.
  @Model
  final class Check {
    @Attribute(.unique) private(set) var key: String
    private(set) var day: String
    var remark: String?
    var habit: Habit?

    init(day: Day, habit: Habit) {
      key = "\(habit.name) \(day)"
      self.day = day.description
      self.habit = habit
    }
  }
}

enum HabitsMigration: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [HabitsV1.self, HabitsV2.self] }
  static var stages: [MigrationStage] {
    [MigrationStage.lightweight(fromVersion: HabitsV1.self, toVersion: HabitsV2.self)]
  }
}

typealias Habit = HabitsV2.Habit
typealias Check = HabitsV2.Check

/// When a habit is due.
enum Schedule: Codable, Hashable {
  case daily
  case weekdays(Set<Int>)
  case timesAWeek(Int)
}
