import SwiftData
import Testing
import TomboloProtocol

@Model final class Moment {
  var at: Date
  var number: Int = 0
  init(at: Date) { self.at = at }
}

/// A seeded generator (SplitMix64), so that a failure repeats.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

@Suite("Values are exact")
struct ExactValueTests {
  // MARK: C20

  @Test("C20: ten thousand random dates come back bit for bit from the file, and nothing counts as changed")
  func dates() throws {
    try StoreFile.run { file in
      var random = SeededGenerator(state: 20)
      var dates: [Date] = [
        .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: -62_135_596_800 - 978_307_200),
        Date(timeIntervalSince1970: -1), Date(timeIntervalSince1970: -0.001), Date(timeIntervalSince1970: 0.0001),
      ]
      while dates.count < 10_000 {
        dates.append(Date(timeIntervalSinceReferenceDate: Double.random(in: -1e11...1e11, using: &random)))
      }
      do {
        let context = ModelContext(try ModelContainer(for: Moment.self, configurations: file.configuration))
        for date in dates { context.insert(Moment(at: date)) }
        try context.save()
      }
      let container = try ModelContainer(for: Moment.self, configurations: file.configuration)
      let context = ModelContext(container)
      let found = try context.fetch(FetchDescriptor<Moment>())
      #expect(found.map(\.at.timeIntervalSinceReferenceDate) == dates.map(\.timeIntervalSinceReferenceDate))
      for date in dates.prefix(100) {
        #expect(try context.fetchCount(FetchDescriptor<Moment>(predicate: #Predicate { $0.at == date })) == 1)
      }
      let sorted = try context.fetch(FetchDescriptor<Moment>(sortBy: [SortDescriptor(\.at)])).map(\.at)
      #expect(sorted == dates.sorted())
      #expect(!context.hasChanges)
      let saves = try StoreCounts(container).saves()
      for moment in found.prefix(100) {
        moment.at = Date(timeIntervalSinceReferenceDate: moment.at.timeIntervalSinceReferenceDate)
      }
      try context.save()
      #expect(try StoreCounts(container).saves() == saves)
    }
  }

  @Test("C107: a very old date leaves the property usable, and ranges and order stay right")
  func oldDates() throws {
    let context = ModelContext(
      try ModelContainer(for: Moment.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let moment = Moment(at: .distantPast)
    context.insert(moment)
    try context.save()
    let now = Date(timeIntervalSince1970: 1_700_000_000.123456)
    moment.at = now
    try context.save()
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Moment>()).map(\.at) == [now])
    let years = [1, 1582, 1900, 1969, 2038, 9999]
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
    let dates = try years.map { year in
      try #require(
        calendar.date(from: DateComponents(year: year, month: 12, day: 31, hour: 23, minute: 59, second: 59)))
    }
    for date in dates.reversed() { context.insert(Moment(at: date)) }
    try context.save()
    let last = dates[3]
    let early = FetchDescriptor<Moment>(predicate: #Predicate { $0.at <= last }, sortBy: [SortDescriptor(\.at)])
    #expect(try ModelContext(context.container).fetch(early).map(\.at) == Array(dates.prefix(4)))
  }

  @Test("C108: an instant is the same whatever the process's time zone")
  func timeZone() throws {
    try StoreFile.run { file in
      let instant = Date(timeIntervalSinceReferenceDate: 1234.5)
      let before = NSTimeZone.default
      defer { NSTimeZone.default = before }
      NSTimeZone.default = try #require(TimeZone(secondsFromGMT: 13 * 3600))
      do {
        let context = ModelContext(try ModelContainer(for: Moment.self, configurations: file.configuration))
        context.insert(Moment(at: instant))
        try context.save()
      }
      NSTimeZone.default = try #require(TimeZone(secondsFromGMT: -8 * 3600))
      let context = ModelContext(try ModelContainer(for: Moment.self, configurations: file.configuration))
      #expect(
        try context.fetch(FetchDescriptor<Moment>(predicate: #Predicate { $0.at == instant })).map(\.at) == [instant])
    }
  }

  // MARK: C87

  @Test("C87: six values stay apart, in the file and in predicates, saved and pending", arguments: [false, true])
  func emptyValues(_ isPending: Bool) throws {
    try StoreFile.run { file in
      let texts: [String?] = [nil, "", "NULL", "null", "nil", "\0"]
      var context = ModelContext(try ModelContainer(for: Sample.self, configurations: file.configuration))
      for (index, text) in texts.enumerated() {
        let sample = Sample()
        sample.int = index
        sample.optionalText = text
        sample.optionalData = text.map { Data($0.utf8) }
        sample.text = text ?? ""
        sample.words = text.map { [$0] } ?? []
        context.insert(sample)
      }
      if !isPending {
        try context.save()
        context = ModelContext(try ModelContainer(for: Sample.self, configurations: file.configuration))
      }
      let found = try context.fetch(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.int)]))
      #expect(found.map(\.optionalText) == texts)
      #expect(found.map(\.optionalData) == texts.map { $0.map { Data($0.utf8) } })
      #expect(found.map(\.words) == texts.map { $0.map { [$0] } ?? [] })
      for (index, text) in texts.enumerated() {
        let equal = FetchDescriptor<Sample>(predicate: #Predicate { $0.optionalText == text })
        #expect(try context.fetch(equal).map(\.int) == [index])
        let data = text.map { Data($0.utf8) }
        let same = FetchDescriptor<Sample>(predicate: #Predicate { $0.optionalData == data })
        #expect(try context.fetch(same).map(\.int) == [index])
      }
      let absent = FetchDescriptor<Sample>(predicate: #Predicate { $0.optionalText == nil })
      #expect(try context.fetchCount(absent) == 1)
      let empty = FetchDescriptor<Sample>(predicate: #Predicate { $0.text == "" })
      #expect(try context.fetchCount(empty) == 2)
    }
  }

  // MARK: C88

  @Test("C88: integers at their limits are found by equality, and sorted")
  func limits() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let values: [Int64] = [.max, 9_007_199_254_740_993, 9_007_199_254_740_992, 0, -9_007_199_254_740_993, .min]
    for value in values {
      let sample = Sample()
      sample.int64 = value
      sample.unsigned = UInt64(value.magnitude > Int64.max ? 0 : value.magnitude)
      context.insert(sample)
    }
    try context.save()
    let other = ModelContext(container)
    for value in values {
      let equal = FetchDescriptor<Sample>(predicate: #Predicate { $0.int64 == value })
      #expect(try other.fetch(equal).map(\.int64) == [value])
      let below = FetchDescriptor<Sample>(predicate: #Predicate { $0.int64 < value })
      #expect(try other.fetchCount(below) == values.filter { $0 < value }.count)
    }
    let sorted = try other.fetch(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.int64)])).map(\.int64)
    #expect(sorted == values.reversed())
    let largest = UInt64.max
    let beyond = FetchDescriptor<Sample>(predicate: #Predicate { $0.unsigned < largest })
    #expect(try other.fetchCount(beyond) == values.count)
  }

  @Test(
    "C88: a stored value that the property's type cannot hold is a thrown error that names it, never a trap",
    arguments: [
      ("int8", "300"), ("int16", "-40000"), ("int32", "9000000000"), ("unsigned", "-1"), ("genre", "'unknown'"),
      ("optionalGenre", "''"), ("measure", "'{'"), ("words", "'{\"a\":1}'"), ("decimal", "'abc'"),
      ("link", "''"), ("identifier", "x'0102'"),
    ])
  func unreadable(_ column: String, _ value: String) throws {
    try StoreFile.run { file in
      let container = try ModelContainer(for: Sample.self, Folder.self, configurations: file.configuration)
      let first = ModelContext(container)
      first.insert(Sample())
      let good = Sample()
      good.text = "good"
      first.insert(good)
      first.insert(Folder(name: "f"))
      try first.save()
      let held = try #require(try first.fetch(FetchDescriptor<Sample>(predicate: #Predicate { $0.text == "" })).first)
      try file.execute("UPDATE Sample SET \"\(column)\" = \(value) WHERE text = ''")
      let context = ModelContext(container)
      let error = #expect(throws: TomboloError.self) { try context.fetch(FetchDescriptor<Sample>()) }
      #expect(error?.code == .undecodableValue)
      #expect(error?.message.contains("Sample." + column) == true)
      // Word by word: the record's identifier, which is in it, may hold the same digits.
      let words = error?.message.split { $0.isWhitespace || $0 == "," } ?? []
      #expect(!words.contains(Substring(value)))
      #expect(try context.fetchCount(FetchDescriptor<Sample>()) == 2)
      #expect(try context.fetch(FetchDescriptor<Folder>()).count == 1)
      let readable = FetchDescriptor<Sample>(predicate: #Predicate { $0.text == "good" })
      #expect(try context.fetch(readable).count == 1)
      // An object from before the damage keeps what it knew.
      _ = try first.fetchCount(FetchDescriptor<Sample>())
      #expect(held.text == "" && held.int8 == 0 && held.words == [])
    }
  }

  @Test("C81: a row whose identity is damaged makes a fetch throw instead of leaving it out")
  func damagedIdentity() throws {
    try StoreFile.run { file in
      let container = try ModelContainer(for: Moment.self, configurations: file.configuration)
      let first = ModelContext(container)
      for _ in 0..<3 { first.insert(Moment(at: .distantPast)) }
      try first.save()
      try file.execute("UPDATE Moment SET _tombolo_id = x'01' WHERE rowid = 2")
      let context = ModelContext(container)
      for read in [
        { _ = try context.fetch(FetchDescriptor<Moment>()) },
        { _ = try context.fetchIdentifiers(FetchDescriptor<Moment>()) },
      ] {
        let error = #expect(throws: TomboloError.self) { try read() }
        #expect(error?.code == .corruptStore)
        #expect(error?.message.contains("Moment") == true)
      }
    }
  }

  // MARK: C19

  @Test("C19: infinity is found by predicates and sorted, and NaN inside a Codable value is refused by name")
  func notANumber() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    for value in [Double.infinity, 1, -Double.infinity] {
      let sample = Sample()
      sample.double = value
      context.insert(sample)
    }
    try context.save()
    let other = ModelContext(container)
    let infinity = Double.infinity
    let equal = FetchDescriptor<Sample>(predicate: #Predicate { $0.double == infinity })
    #expect(try other.fetchCount(equal) == 1)
    let sorted = try other.fetch(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.double)])).map(\.double)
    #expect(sorted == [-Double.infinity, 1, Double.infinity])
    let sample = Sample()
    sample.measure = Measure(width: .nan, height: 1)
    context.insert(sample)
    let error = #expect(throws: TomboloError.self) { try context.save() }
    #expect(error?.message.contains("measure") == true)
    sample.measure = Measure(width: 2, height: 1)
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Sample>()) == 4)
  }

  // MARK: C56, C109

  @Test("C56: arrays of values keep order and duplicates through the file")
  func arrays() throws {
    try StoreFile.run { file in
      do {
        let context = ModelContext(try ModelContainer(for: Sample.self, configurations: file.configuration))
        let sample = Sample()
        sample.words = ["b", "a", "b", "", "b"]
        context.insert(sample)
        try context.save()
        sample.words.insert("z", at: 0)
        sample.words.append("a")
        try context.save()
      }
      let context = ModelContext(try ModelContainer(for: Sample.self, configurations: file.configuration))
      #expect(try context.fetch(FetchDescriptor<Sample>()).map(\.words) == [["z", "b", "a", "b", "", "b", "a"]])
    }
  }

  @Test("C109: a transient value lives as long as its object, through saves, fetches and rollback, and makes no change")
  func transient() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let sample = Sample()
    context.insert(sample)
    try context.save()
    let saves = try StoreCounts(container).saves()
    sample.scratch = 42
    #expect(!context.hasChanges)
    try context.save()
    #expect(try StoreCounts(container).saves() == saves)
    sample.text = "x"
    context.rollback()
    #expect(sample.scratch == 42 && sample.text == "")
    #expect(try context.fetch(FetchDescriptor<Sample>()).first?.scratch == 42)
    #expect(try ModelContext(container).fetch(FetchDescriptor<Sample>()).first?.scratch == 7)
    let error = #expect(throws: TomboloError.self) {
      try context.fetch(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.scratch)]))
    }
    #expect(error?.code == .unsupportedSort)
  }
}
