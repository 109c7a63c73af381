import Foundation
import Testing
import Tombolo
import TomboloProtocol

/// A predicate with what it is called in a failure.
struct PredicateCase<Model>: Sendable, CustomTestStringConvertible {
  let name: String
  let predicate: Predicate<Model>
  init(_ name: String, _ predicate: Predicate<Model>) {
    self.name = name
    self.predicate = predicate
  }
  var testDescription: String { name }
}

/// What the predicates capture.
enum Captured {
  static let text = "b"
  static let cafe = "café"
  static let decomposed = "cafe\u{301}"
  static let kind = Kind.fancy
  static let kinds: [Kind] = [.plain, .café]
  static let none: String? = nil
  static let noInteger: Int? = nil
  static let some: Int? = 3
  static let nilList: [String?] = ["b", nil]
  static let list = ["a", "café", "", "%"]
  static let integers: Set<Int> = [1, 5, .max]
  static let reals = [1.5, .infinity, .nan, -0.0]
  static let nan = Double.nan
  static let date = Date(timeIntervalSinceReferenceDate: 0.1 * 4)
  static let uuid = UUID(uuid: (3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
  static let range = 1..<4
  static let closed = -1...2
  static let from = 3...
  static let same = ComparisonResult.orderedSame
  static let ascending = ComparisonResult.orderedAscending
  static let price = Decimal(string: "12.5") ?? 0
  static let filter = Filter(minimum: 2, name: "abc", nested: nil)
  static let level = Level.high
  static let link = URL(string: "https://example.org/3")
  static let table = ["a": 1, "b": 2]
  static let data = Data([1])

  struct Filter: Codable, Sendable {
    var minimum: Int
    var name: String
    var nested: String?
  }
}

// Inside a predicate only a plain name is a captured value.
private let capturedClosed = Captured.closed
private let capturedFrom = Captured.from
private let capturedInfinity = Captured.infinity
private let capturedMax = Captured.max
private let capturedPrice = Captured.price
private let capturedRange = Captured.range
private let capturedTable = Captured.table
private let capturedThird = Captured.third

typealias ItemCase = PredicateCase<Item>

enum AgreementCases {
  static let all = equality + comparison + text + optionals + arithmetic + lists + relationships + toMany + enums

  static var equality: [ItemCase] {
    let (text, cafe, decomposed, none, noInteger) =
      (Captured.text, Captured.cafe, Captured.decomposed, Captured.none, Captured.noInteger)
    let (notANumber, uuid, date, price, link, data) =
      (Captured.nan, Captured.uuid, Captured.date, Captured.price, Captured.link, Captured.data)
    return [
      ItemCase("name == captured", #Predicate { $0.name == text }),
      ItemCase("name != captured", #Predicate { $0.name != text }),
      ItemCase("name == composed", #Predicate { $0.name == cafe }),
      ItemCase("name == decomposed", #Predicate { $0.name == decomposed }),
      ItemCase("name != decomposed", #Predicate { $0.name != decomposed }),
      ItemCase("name is empty text", #Predicate { $0.name == "" }),
      ItemCase("nick == b", #Predicate { $0.nick == "b" }),
      ItemCase("nick != b keeps nil", #Predicate { $0.nick != "b" }),
      ItemCase("not nick == b keeps nil", #Predicate { !($0.nick == "b") }),
      ItemCase("not nick != b", #Predicate { !($0.nick != "b") }),
      ItemCase("nick == nil", #Predicate { $0.nick == nil }),
      ItemCase("nick != nil", #Predicate { $0.nick != nil }),
      ItemCase("nick == captured nil", #Predicate { $0.nick == none }),
      ItemCase("nick != captured nil", #Predicate { $0.nick != none }),
      ItemCase("count == captured nil", #Predicate { $0.optionalCount == noInteger }),
      ItemCase("nick == name", #Predicate { item in item.nick.flatMap { $0 == item.name } == true }),
      ItemCase("nick != name", #Predicate { item in item.nick.flatMap { $0 != item.name } ?? true }),
      ItemCase("name == name", #Predicate { $0.name == $0.name }),
      ItemCase("count == 1", #Predicate { $0.count == 1 }),
      ItemCase("count == max", #Predicate { $0.count == capturedMax }),
      ItemCase("score == 0 finds -0", #Predicate { $0.score == 0 }),
      ItemCase("score == NaN", #Predicate { $0.score == notANumber }),
      ItemCase("score != NaN", #Predicate { $0.score != notANumber }),
      ItemCase("score == infinity", #Predicate { $0.score == capturedInfinity }),
      ItemCase("optional score == 1.5", #Predicate { $0.optionalScore == 1.5 }),
      ItemCase("optional score != 1.5", #Predicate { $0.optionalScore != 1.5 }),
      ItemCase("flag", #Predicate { $0.flag }),
      ItemCase("not flag", #Predicate { !$0.flag }),
      ItemCase("flag == true", #Predicate { $0.flag == true }),
      ItemCase("flag == false", #Predicate { $0.flag == false }),
      ItemCase("flag != true", #Predicate { $0.flag != true }),
      ItemCase("optional flag == true", #Predicate { $0.optionalFlag == true }),
      ItemCase("optional flag != true", #Predicate { $0.optionalFlag != true }),
      ItemCase("optional flag == nil", #Predicate { $0.optionalFlag == nil }),
      ItemCase("flag == optional flag", #Predicate { $0.flag == ($0.optionalFlag ?? false) }),
      ItemCase("uuid", #Predicate { $0.uuid == uuid }),
      ItemCase("date", #Predicate { $0.date == date }),
      ItemCase("optional date != date", #Predicate { item in item.optionalDate.flatMap { $0 < item.date } != true }),
      ItemCase("price", #Predicate { $0.price == price }),
      ItemCase("optional price != price", #Predicate { $0.optionalPrice != price }),
      ItemCase("link", #Predicate { $0.link == link }),
      ItemCase("link != link", #Predicate { $0.link != link }),
      ItemCase("data", #Predicate { $0.data == data }),
      ItemCase("keyword column", #Predicate { $0.order == "1" }),
      ItemCase("constant true", #Predicate { _ in true }),
      ItemCase("constant false", #Predicate { _ in false }),
    ]
  }

  static var comparison: [ItemCase] {
    let (notANumber, date, price, cafe, decomposed) =
      (Captured.nan, Captured.date, Captured.price, Captured.cafe, Captured.decomposed)
    return [
      ItemCase("count > 1", #Predicate { $0.count > 1 }),
      ItemCase("not count > 1", #Predicate { !($0.count > 1) }),
      ItemCase("count <= -1", #Predicate { $0.count <= -1 }),
      ItemCase("count < max", #Predicate { $0.count < capturedMax }),
      ItemCase("small >= 0", #Predicate { $0.small >= 0 }),
      ItemCase("unsigned > 30000", #Predicate { $0.unsigned > 30_000 }),
      ItemCase("score < NaN", #Predicate { $0.score < notANumber }),
      ItemCase("not score < NaN", #Predicate { !($0.score < notANumber) }),
      ItemCase("score > 0", #Predicate { $0.score > 0 }),
      ItemCase("score < infinity", #Predicate { $0.score < capturedInfinity }),
      ItemCase("ratio > 1/3", #Predicate { $0.ratio > capturedThird }),
      ItemCase("date > date", #Predicate { $0.date > date }),
      ItemCase("date <= date", #Predicate { $0.date <= date }),
      ItemCase("price < price", #Predicate { $0.price < price }),
      ItemCase("price >= price", #Predicate { $0.price >= price }),
      ItemCase("name < cafe", #Predicate { $0.name < cafe }),
      ItemCase("name >= decomposed", #Predicate { $0.name >= decomposed }),
      ItemCase("name > private use", #Predicate { $0.name > "\u{E000}" }),
      ItemCase("name > order", #Predicate { $0.name > $0.order }),
      ItemCase("range", #Predicate { capturedRange.contains($0.count) }),
      ItemCase("closed range", #Predicate { capturedClosed.contains($0.count) }),
      ItemCase("partial range", #Predicate { capturedFrom.contains($0.count) }),
      ItemCase("range inside", #Predicate { (1..<4).contains($0.count) }),
      ItemCase("closed range of reals", #Predicate { (-1.0...2.0).contains($0.score) }),
      ItemCase("text range", #Predicate { ("a"..."c").contains($0.name) }),
    ]
  }

  static var text: [ItemCase] {
    let (cafe, decomposed, empty, same, ascending) =
      (Captured.cafe, Captured.decomposed, "", Captured.same, Captured.ascending)
    return [
      ItemCase("contains %", #Predicate { $0.name.contains("%") }),
      ItemCase("contains _", #Predicate { $0.name.contains("_") }),
      ItemCase("contains backslash", #Predicate { $0.name.contains("\\") }),
      ItemCase("contains empty", #Predicate { $0.name.contains("") }),
      ItemCase("not contains empty", #Predicate { !$0.name.contains(empty) }),
      ItemCase("contains e", #Predicate { $0.name.contains("e") }),
      ItemCase("contains é", #Predicate { $0.name.contains("é") }),
      ItemCase("contains decomposed", #Predicate { $0.name.contains(decomposed) }),
      ItemCase("contains an accent", #Predicate { $0.name.contains("\u{301}") }),
      ItemCase("contains man", #Predicate { $0.name.contains("👨") }),
      ItemCase("contains return", #Predicate { $0.name.contains("\r") }),
      ItemCase("contains newline pair", #Predicate { $0.name.contains("\r\n") }),
      ItemCase("contains NUL", #Predicate { $0.name.contains("\u{0}") }),
      ItemCase("contains after NUL", #Predicate { $0.name.contains("inside") }),
      ItemCase("contains quote", #Predicate { $0.name.contains("'") }),
      ItemCase("contains another column", #Predicate { $0.name.contains($0.order) }),
      ItemCase("starts with a", #Predicate { $0.name.starts(with: "a") }),
      ItemCase("starts with cafe", #Predicate { $0.name.starts(with: "cafe") }),
      ItemCase("starts with café", #Predicate { $0.name.starts(with: cafe) }),
      ItemCase("starts with empty", #Predicate { $0.name.starts(with: "") }),
      ItemCase("starts with the last scalar", #Predicate { $0.name.starts(with: "\u{10FFFF}") }),
      ItemCase("not starts with A", #Predicate { !$0.name.starts(with: "A") }),
      ItemCase("standard contains cafe", #Predicate { $0.name.localizedStandardContains("cafe") }),
      ItemCase("standard contains über", #Predicate { $0.name.localizedStandardContains("über") }),
      ItemCase("standard contains strasse", #Predicate { $0.name.localizedStandardContains("strasse") }),
      ItemCase("standard contains istanbul", #Predicate { $0.name.localizedStandardContains("istanbul") }),
      ItemCase("standard contains валя", #Predicate { $0.name.localizedStandardContains("валя") }),
      ItemCase("standard contains empty", #Predicate { $0.name.localizedStandardContains("") }),
      ItemCase("not standard contains a", #Predicate { !$0.name.localizedStandardContains("a") }),
      ItemCase("compare ignoring case", #Predicate { $0.name.caseInsensitiveCompare("CAFÉ") == same }),
      ItemCase("compare ignoring case, order", #Predicate { $0.name.caseInsensitiveCompare("b") == ascending }),
      ItemCase("compare localized", #Predicate { $0.name.localizedCompare("b") == ascending }),
      ItemCase("name is empty", #Predicate { $0.name.isEmpty }),
      ItemCase("name is not empty", #Predicate { $0.name.isEmpty == false }),
      ItemCase("name count", #Predicate { $0.name.count > 3 }),
      ItemCase("data is empty", #Predicate { $0.data.isEmpty }),
      ItemCase("data count", #Predicate { $0.data.count == 2 }),
      ItemCase("optional contains", #Predicate { $0.nick?.contains("b") == true }),
      ItemCase("optional contains ?? false", #Predicate { $0.nick?.contains("a") ?? false }),
      ItemCase("optional contains ?? true", #Predicate { $0.nick?.contains("a") ?? true }),
      ItemCase("optional contains empty ?? false", #Predicate { $0.nick?.contains("") ?? false }),
      ItemCase("optional starts", #Predicate { $0.nick?.starts(with: "c") ?? false }),
      ItemCase("optional standard contains", #Predicate { $0.nick?.localizedStandardContains("CAFE") ?? false }),
      ItemCase("optional is empty", #Predicate { $0.nick?.isEmpty ?? true }),
    ]
  }

  // `!` inside a predicate is what is tested here.
  // swift-format-ignore: NeverForceUnwrap
  static var optionals: [ItemCase] {
    let (some, filter, isOn) = (Captured.some, Captured.filter, true)
    return [
      ItemCase("?? then compare", #Predicate { ($0.optionalCount ?? 0) > 3 }),
      ItemCase("?? then equal", #Predicate { ($0.nick ?? "") == "" }),
      ItemCase("not ??", #Predicate { !(($0.optionalCount ?? 100) > 3) }),
      ItemCase("?? column", #Predicate { ($0.nick ?? $0.name) == $0.name }),
      ItemCase("optional flag ?? true", #Predicate { $0.optionalFlag ?? true }),
      ItemCase("not optional flag ?? false", #Predicate { !($0.optionalFlag ?? false) }),
      ItemCase("flatMap", #Predicate { $0.optionalCount.flatMap { $0 > 3 } == true }),
      ItemCase("flatMap != true", #Predicate { $0.optionalCount.flatMap { $0 > 3 } != true }),
      ItemCase("flatMap == nil", #Predicate { $0.optionalCount.flatMap { $0 > 3 } == nil }),
      ItemCase("flatMap of equality", #Predicate { $0.nick.flatMap { $0 == "b" } ?? true }),
      ItemCase(
        "if let",
        #Predicate {
          if let count = $0.optionalCount { count > 3 } else { false }
        }),
      ItemCase(
        "if let else flag",
        #Predicate { item in
          if let count = item.optionalCount { count > 3 } else { item.flag }
        }),
      ItemCase(
        "if let else true, negated",
        #Predicate { item in
          !(item.optionalCount.flatMap { $0 > 3 } ?? true)
        }),
      ItemCase("guarded unwrap, and", #Predicate { $0.optionalCount != nil && $0.optionalCount! > 3 }),
      ItemCase("guarded unwrap, or", #Predicate { $0.optionalCount == nil || $0.optionalCount! > 3 }),
      ItemCase(
        "guarded unwrap, nested",
        #Predicate { $0.flag && ($0.optionalCount == nil || ($0.optionalCount! > 3 && $0.flag)) }),
      ItemCase("ternary", #Predicate { ($0.flag ? $0.count : 7) == 7 }),
      ItemCase("ternary of conditions", #Predicate { $0.flag ? $0.count > 2 : $0.name == "a" }),
      ItemCase("ternary of optionals", #Predicate { ($0.flag ? $0.nick : nil) == nil }),
      ItemCase("captured optional", #Predicate { $0.optionalCount == some }),
      ItemCase("captured struct member", #Predicate { $0.count >= filter.minimum && $0.name != filter.name }),
      ItemCase("captured nil member", #Predicate { $0.nick == filter.nested }),
      ItemCase("captured flag switches", #Predicate { isOn || $0.count > 3 }),
      ItemCase("captured flag guards", #Predicate { isOn && $0.count > 3 }),
      ItemCase("captured dictionary", #Predicate { $0.optionalCount == capturedTable["a"] }),
      ItemCase("captured dictionary, default", #Predicate { capturedTable["z", default: 5] == $0.count }),
    ]
  }

  static var arithmetic: [ItemCase] {
    let (two, zero) = (2.0, 0.0)
    return [
      ItemCase("integer sum", #Predicate { ($0.optionalCount ?? 0) + 1 == 4 }),
      ItemCase("integer product", #Predicate { ($0.optionalCount ?? 0) * -2 < -6 }),
      ItemCase("integer division", #Predicate { $0.count / 2 == 1 }),
      ItemCase("integer remainder", #Predicate { $0.count % 2 == -1 }),
      ItemCase("unsigned remainder", #Predicate { $0.unsigned % 7 == 1 }),
      ItemCase("minus", #Predicate { -($0.optionalCount ?? 0) < -3 }),
      ItemCase("real sum", #Predicate { $0.score + 1.0 > two }),
      ItemCase("real difference that is NaN", #Predicate { $0.score - $0.score == zero }),
      ItemCase("NaN differs", #Predicate { $0.score - $0.score != zero }),
      ItemCase("not NaN less", #Predicate { !($0.score - $0.score < two) }),
      ItemCase("real division by zero", #Predicate { $0.score / zero > two }),
      ItemCase("real minus", #Predicate { -$0.score > two }),
      ItemCase("float product", #Predicate { $0.ratio * $0.ratio > capturedThird }),
      ItemCase("decimal sum", #Predicate { $0.price + capturedPrice > 10 }),
      ItemCase("decimal minus", #Predicate { -$0.price > 10 }),
      ItemCase("arithmetic in flatMap", #Predicate { $0.optionalCount.flatMap { $0 * 2 } == 6 }),
      ItemCase("seconds", #Predicate { $0.date.timeIntervalSinceReferenceDate > two }),
      ItemCase("seconds since 1970", #Predicate { $0.date.timeIntervalSince1970 < two }),
    ]
  }

  static var lists: [ItemCase] {
    let (list, nilList, integers, reals) = (Captured.list, Captured.nilList, Captured.integers, Captured.reals)
    let (none, manyTexts, manyIntegers) = ([String](), Captured.manyTexts, Captured.manyIntegers)
    let (manyReals, manyIDs, dates) = (Captured.manyReals, Captured.manyIDs, Captured.manyDates)
    return [
      ItemCase("list", #Predicate { list.contains($0.name) }),
      ItemCase("not list", #Predicate { !list.contains($0.name) }),
      ItemCase("empty list", #Predicate { none.contains($0.name) }),
      ItemCase("not empty list", #Predicate { !none.contains($0.name) }),
      ItemCase("list with nil", #Predicate { nilList.contains($0.nick) }),
      ItemCase("not list with nil", #Predicate { !nilList.contains($0.nick) }),
      ItemCase("set", #Predicate { integers.contains($0.count) }),
      ItemCase("reals", #Predicate { reals.contains($0.score) }),
      ItemCase("not reals", #Predicate { !reals.contains($0.score) }),
      ItemCase("many texts", #Predicate { manyTexts.contains($0.name) }),
      ItemCase("many integers", #Predicate { manyIntegers.contains($0.count) }),
      ItemCase("not many integers", #Predicate { !manyIntegers.contains($0.count) }),
      ItemCase("many reals", #Predicate { manyReals.contains($0.score) }),
      ItemCase("many dates", #Predicate { dates.contains($0.date) }),
      ItemCase("many keys", #Predicate { manyIDs.contains($0.modelID) }),
      ItemCase("not many keys", #Predicate { !manyIDs.contains($0.modelID) }),
      ItemCase("optional in list", #Predicate { $0.nick.flatMap { list.contains($0) } ?? false }),
      ItemCase("test over a list", #Predicate { item in list.contains { $0 == item.name } }),
      ItemCase("all of a list", #Predicate { item in list.allSatisfy { $0 != item.name } }),
      ItemCase("all of nothing", #Predicate { item in none.allSatisfy { $0 == item.name } }),
      ItemCase("text in text", #Predicate { "xa café".contains($0.name) }),
      ItemCase("stored words", #Predicate { $0.words.contains("w1") }),
      ItemCase("stored words, composed", #Predicate { $0.words.contains("café") }),
      ItemCase("stored numbers", #Predicate { $0.numbers.contains(1) }),
      ItemCase("stored count", #Predicate { $0.numbers.count > 1 }),
      ItemCase("stored is empty", #Predicate { $0.words.isEmpty }),
      ItemCase("stored == captured", #Predicate { $0.numbers == [0, 1] }),
      ItemCase("stored words, test", #Predicate { $0.words.contains { $0.contains("1") } }),
      ItemCase("stored words, test of equality", #Predicate { $0.words.contains { $0 == "café" } }),
      ItemCase("stored words, all", #Predicate { $0.words.allSatisfy { $0.starts(with: "w") } }),
      ItemCase(
        "stored words, test with a column", #Predicate { item in item.words.contains { $0.contains(item.order) } }),
      ItemCase("stored words, test in a list", #Predicate { $0.words.contains { list.contains($0) } }),
      ItemCase("stored numbers, test", #Predicate { $0.numbers.contains { $0 * 2 > 3 } }),
      ItemCase("stored numbers, filtered count", #Predicate { $0.numbers.filter { $0 > 0 }.count > 1 }),
      ItemCase("stored words, filtered is empty", #Predicate { $0.words.filter { $0.isEmpty }.isEmpty }),
      ItemCase("stored numbers, filtered contains", #Predicate { $0.numbers.filter { $0 > 1 }.contains(2) }),
      ItemCase("stored numbers, greatest", #Predicate { $0.numbers.max() == 2 }),
      ItemCase("stored numbers, greatest differs", #Predicate { $0.numbers.max() != 2 }),
      ItemCase("stored numbers, least ?? ", #Predicate { ($0.numbers.min() ?? 7) > 3 }),
      ItemCase("stored words, greatest", #Predicate { ($0.words.max() ?? "") < "w2" }),
      ItemCase("captured greatest", #Predicate { $0.optionalCount == integers.max() }),
    ]
  }

  static var enums: [ItemCase] {
    let (kind, kinds, level) = (Captured.kind, Captured.kinds, Captured.level)
    return [
      ItemCase("enum", #Predicate { $0.kind == kind }),
      ItemCase("not enum", #Predicate { $0.kind != kind }),
      ItemCase("optional enum", #Predicate { $0.optionalKind == kind }),
      ItemCase("optional enum differs", #Predicate { $0.optionalKind != kind }),
      ItemCase("optional enum nil", #Predicate { $0.optionalKind == nil }),
      ItemCase("enum raw value", #Predicate { $0.kind.rawValue == "café" }),
      ItemCase("optional enum raw value", #Predicate { $0.optionalKind?.rawValue == "fancy" }),
      ItemCase("enum list", #Predicate { kinds.contains($0.kind) }),
      ItemCase("integer enum", #Predicate { $0.level == level }),
      ItemCase("integer enum order", #Predicate { $0.level < level }),
      ItemCase("integer enum raw value", #Predicate { $0.level.rawValue > 5 }),
    ]
  }
}

extension Captured {
  static let max = Int.max
  static let infinity = Double.infinity
  static let third = Float(1) / 3
  static let manyTexts = (0..<900).map { "t\($0)" } + ["a", "café", "nul\u{0}inside", "\"", "\\"]
  static let manyIntegers = Array(2..<1_500) + [Int.min, Int.max]
  static let manyReals = (0..<100).map { Double($0) / 10 } + [.infinity, 1e300]
  static let manyDates = (0..<100).map { Date(timeIntervalSinceReferenceDate: 0.1 * Double($0)) }
  static let manyIDs = (0..<5_000).map { TestID(RecordID(high: 7, low: $0 * 2)) }
}
