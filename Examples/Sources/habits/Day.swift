import Foundation

/// A day of the calendar, which is the same day in every time zone: `2025-03-09`.
struct Day: Hashable, Comparable, CustomStringConvertible, LosslessStringConvertible {
  /// Days since 1 January 1970.
  private let number: Int

  private static var calendar: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "UTC") ?? .current
    return calendar
  }()

  static var today: Day {
    let parts = Calendar.current.dateComponents([.year, .month, .day], from: Date())
    return Day(parts) ?? Day(number: 0)
  }

  init?(_ description: String) {
    let parts = description.split(separator: "-").map { Int($0) }
    guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2] else { return nil }
    self.init(DateComponents(year: year, month: month, day: day))
    guard self.description == description else { return nil }
  }

  private init?(_ parts: DateComponents) {
    guard let date = Day.calendar.date(from: parts) else { return nil }
    number = Int((date.timeIntervalSince1970 / 86_400).rounded(.down))
  }

  private init(number: Int) { self.number = number }

  private var date: Date { Date(timeIntervalSince1970: Double(number) * 86_400) }
  /// 1 for Monday, 7 for Sunday.
  var weekday: Int { (Day.calendar.component(.weekday, from: date) + 5) % 7 + 1 }
  var monday: Day { self - (weekday - 1) }

  var description: String {
    let parts = Day.calendar.dateComponents([.year, .month, .day], from: date)
    return String(format: "%04d-%02d-%02d", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
  }

  static func < (left: Day, right: Day) -> Bool { left.number < right.number }
  static func - (day: Day, days: Int) -> Day { Day(number: day.number - days) }
}
