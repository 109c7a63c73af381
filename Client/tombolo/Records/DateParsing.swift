package import TomboloClient

extension DateText {
  /// Seconds since 2001 of a date in the form of ISO 8601: a day, or a day and a time with `Z` or an offset (none means
  /// UTC); or a plain number of seconds since 2001. Nil for anything else, and for days that do not exist.
  package static func seconds(of text: String) -> Double? {
    if let number = Double(text), number.isFinite, !text.lowercased().contains("x") {
      // `20240531` is more likely a day without hyphens than a moment in 2001.
      return text.utf8.count == 8 && !text.contains(".") ? nil : number
    }
    let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "T" || $0 == "t" || $0 == " " }
    guard let day = parts.first.flatMap({ days(of: $0) }) else { return nil }
    guard parts.count > 1 else { return Double(day * 86_400 - referenceSeconds) }
    guard let (whole, fraction, offset) = time(of: parts[1]) else { return nil }
    return Double(day * 86_400 - referenceSeconds + whole - offset) + fraction
  }

  /// Days since 1970.
  private static func days(of text: Substring) -> Int64? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].count == 4, parts[1].count == 2, parts[2].count == 2,
      let year = number(parts[0]), let month = number(parts[1]), let day = number(parts[2]),
      (1...12).contains(month), day >= 1, day <= length(of: month, in: year)
    else { return nil }
    // H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func length(of month: Int64, in year: Int64) -> Int64 {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    switch month {
    case 2: return isLeap ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  private static func time(of text: Substring) -> (whole: Int64, fraction: Double, offset: Int64)? {
    var clock = text
    var offset: Int64 = 0
    if text.hasSuffix("Z") || text.hasSuffix("z") {
      clock = text.dropLast()
    } else if let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }) {
      let zone = text[text.index(after: sign)...].filter { $0 != ":" }
      guard zone.count == 4, let hours = number(zone.prefix(2)), let minutes = number(zone.suffix(2)), hours <= 23,
        minutes <= 59
      else { return nil }
      offset = (text[sign] == "-" ? -1 : 1) * (hours * 3_600 + minutes * 60)
      clock = text[..<sign]
    }
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), parts[0].count == 2, parts[1].count == 2, let hours = number(parts[0]),
      let minutes = number(parts[1]), hours <= 23, minutes <= 59
    else { return nil }
    guard parts.count == 3 else { return (hours * 3_600 + minutes * 60, 0, offset) }
    let second = parts[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard second[0].count == 2, let seconds = number(second[0]), seconds <= 59 else { return nil }
    var fraction = 0.0
    if second.count == 2 {
      guard !second[1].isEmpty, number(second[1].prefix(18)) != nil, let part = Double("0.\(second[1])") else { return nil }
      fraction = part
    }
    return (hours * 3_600 + minutes * 60 + seconds, fraction, offset)
  }

  private static func number(_ text: some StringProtocol) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text)
  }
}
