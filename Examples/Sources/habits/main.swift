import SwiftData
import Terminal

let program = Program(
  "habits", "Habits, the days on which you kept them, and how long without a break.", schema: HabitsV2.self,
  migrationPlan: HabitsMigration.self,
  app: { container in Today(container) },
  commands: [
    .init(
      "add", "NAME [--on 1,3,5 | --weekly N]", "a habit: daily, on days of the week (1 is Monday), or so often a week"
    ) { today, arguments in
      var schedule = Schedule.daily
      if let days = try arguments.option("on") {
        schedule = .weekdays(Set(days.split(separator: ",").compactMap { Int($0) }.filter((1...7).contains)))
      }
      if let times = try arguments.option("weekly", as: Int.self) { schedule = .timesAWeek(max(1, times)) }
      try today.list.add(arguments.next("NAME"), schedule: schedule)
    },
    .init("list", "[--archived]", "the habits: [x] kept today, [ ] due, the current streak") { today, arguments in
      today.list.showsArchived = arguments.flag("archived")
      for habit in try today.list.habits { print(line(habit, today.list.today)) }
    },
    .init("check", "NAME [--day 2025-03-09] [--remark TEXT]", "you kept it; once more takes it back") {
      today, arguments in
      let day = try arguments.option("day", as: Day.self) ?? today.list.today
      let remark = try arguments.option("remark")
      let habit = try today.list.habit(arguments.next("NAME"))
      let isKept = try today.list.toggle(habit, on: day, remark: remark)
      print(isKept ? "kept on \(day), \(habit.streak(on: today.list.today)) in a row" : "not kept on \(day)")
    },
    .init("archive", "NAME", "keep its days, and show it no more") { today, arguments in
      try today.list.archive(today.list.habit(arguments.next("NAME")))
    },
    .init("figures", "", "how many habits and kept days there are") { today, _ in
      let figures = try await today.summary.figures()
      print("\(figures.habits) habits, kept on \(figures.checks) days, the first \(figures.firstDay ?? "to come")")
    },
  ])

/// What the commands work with.
@MainActor
class Today {
  let list: HabitList
  let summary: Summary

  init(_ container: ModelContainer) {
    list = HabitList(container: container)
    summary = Summary(modelContainer: container)
  }
}

func line(_ habit: Habit, _ today: Day) -> String {
  let mark = habit.days.contains(today) ? "[x]" : habit.isDue(on: today) ? "[ ]" : " - "
  let streak = habit.streak(on: today)
  return "\(mark) \(habit.name)" + (streak > 0 ? ", \(streak) in a row" : "")
}

await program.main()
