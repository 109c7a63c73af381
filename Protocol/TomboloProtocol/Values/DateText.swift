/// Dates as text: ISO 8601, in UTC; the value is seconds since 2001-01-01, as Foundation's `Date` keeps it.
package enum DateText {
  /// Days from 1970-01-01 to 2001-01-01.
  private static let referenceDay = 11_323

  /// Reads `2026-11-30`, `2026-11-30T16:12`, `2026-11-30 16:12:43.25`, each with `Z`, `+01:00`, `+0100` or nothing (UTC).
  ///
  /// - Returns: nil for anything else, and for a day or time that does not exist.
  package static func seconds(_ text: some StringProtocol) -> Double? {
    var scanner = Scanner(rest: text.utf8.map { $0 }[...])
    let isEarly = scanner.take(0x2D)
    let isExpanded = isEarly || scanner.take(0x2B)
    guard var year = scanner.digits(isExpanded ? 6 : 4), scanner.take(0x2D), let month = scanner.digits(2),
      scanner.take(0x2D), let day = scanner.digits(2), (1...12).contains(month)
    else { return nil }
    if isEarly { year = -year }
    guard (1...daysIn(month: month, year: year)).contains(day) else { return nil }
    var seconds = Double((dayNumber(year: year, month: month, day: day) - referenceDay) * 86_400)
    if scanner.take(0x54) || scanner.take(0x74) || scanner.take(0x20) {
      guard let hour = scanner.digits(2), hour < 24, scanner.take(0x3A), let minute = scanner.digits(2), minute < 60
      else { return nil }
      seconds += Double(hour * 3600 + minute * 60)
      if scanner.take(0x3A) {
        guard let second = scanner.secondWithFraction() else { return nil }
        seconds += second
      }
      guard let offset = scanner.zone() else { return nil }
      seconds -= Double(offset)
    }
    return scanner.rest.isEmpty ? seconds : nil
  }

  /// The shortest text that reads as the same number of seconds, down to a tenth of a microsecond.
  package static func text(seconds: Double) -> String {
    guard abs(seconds) < 3e13 else { return seconds.description }
    for places in 0...7 {
      let text = text(seconds: seconds, places: places)
      if Self.seconds(text) == seconds { return text }
    }
    return text(seconds: seconds, places: 7)
  }

  private static func text(seconds: Double, places: Int) -> String {
    var scale: Int64 = 1
    for _ in 0..<places { scale *= 10 }
    var whole = Int64(seconds.rounded(.down))
    var fraction = Int64(((seconds - seconds.rounded(.down)) * Double(scale)).rounded())
    if fraction >= scale {
      fraction -= scale
      whole += 1
    }
    let second = Int(((whole % 86_400) + 86_400) % 86_400)
    let (year, month, day) = civil(dayNumber: Int((whole - Int64(second)) / 86_400) + referenceDay)
    var text = (0...9999).contains(year) ? padded(year, 4) : (year < 0 ? "-" : "+") + padded(abs(year), 6)
    text += "-\(padded(month, 2))-\(padded(day, 2))T"
    text += "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
    if places > 0 { text += "." + padded(Int(fraction), places) }
    return text + "Z"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// Days since 1970-01-01 in the Gregorian calendar, which is carried back beyond its introduction.
  private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
    // Years that begin in March end with the day that leap years add.
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(dayNumber: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = dayNumber + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func daysIn(month: Int, year: Int) -> Int {
    switch month {
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private struct Scanner {
    var rest: ArraySlice<UInt8>

    mutating func take(_ byte: UInt8) -> Bool {
      guard rest.first == byte else { return false }
      rest.removeFirst()
      return true
    }

    mutating func digits(_ count: Int) -> Int? {
      let digits = rest.prefix(count)
      guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      rest = rest.dropFirst(count)
      return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    mutating func secondWithFraction() -> Double? {
      guard let second = digits(2), second < 60 else { return nil }
      guard take(0x2E) || take(0x2C) else { return Double(second) }
      let fraction = rest.prefix { (0x30...0x39).contains($0) }
      guard (1...18).contains(fraction.count) else { return nil }
      rest = rest.dropFirst(fraction.count)
      return Double("\(second).\(String(decoding: fraction, as: UTF8.self))")
    }

    /// Seconds east of UTC.
    mutating func zone() -> Int? {
      if rest.isEmpty || take(0x5A) || take(0x7A) { return 0 }
      let isWest = take(0x2D)
      guard isWest || take(0x2B), let hours = digits(2), hours < 24 else { return nil }
      _ = take(0x3A)
      let minutes = rest.isEmpty ? 0 : digits(2)
      guard let minutes, minutes < 60 else { return nil }
      return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
    }
  }
}
