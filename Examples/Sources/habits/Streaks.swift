import SwiftData

/// Something that is done again and again.
protocol Recurring {
  var days: Set<Day> { get }
  var schedule: Schedule { get }
}

extension Habit: Recurring {
  var days: Set<Day> { Set(checks.compactMap { Day($0.day) }) }
}

extension Recurring {
  func isDue(on day: Day) -> Bool {
    switch schedule {
    case .daily: return true
    case .weekdays(let weekdays): return weekdays.contains(day.weekday)
    case .timesAWeek(let times): return days.filter { $0.monday == day.monday && $0 < day }.count < times
    }
  }

  /// How often in a row it was kept: days on which it was due, or weeks that had enough of them. Today may still come.
  func streak(on today: Day) -> Int {
    let days = days
    var count = 0
    if case .timesAWeek(let times) = schedule {
      var monday = today.monday
      while true {
        let kept = days.filter { $0.monday == monday }.count >= times
        if kept { count += 1 } else if monday != today.monday { return count }
        monday = monday - 7
      }
    }
    let due: Set<Int>
    if case .weekdays(let weekdays) = schedule { due = weekdays } else { due = Set(1...7) }
    guard !due.isDisjoint(with: 1...7) else { return 0 }
    var day = today
    while true {
      if days.contains(day) { count += 1 } else if due.contains(day.weekday), day != today { return count }
      day = day - 1
    }
  }
}
