import Testing
import TomboloProtocol

@Suite("What a value may be")
struct ValueRuleTests {
  private func normalized(_ value: Value, _ type: AttributeType) throws -> Value {
    try ValueRules.normalized(value, as: type, named: "E.a")
  }

  static let valid: [(Value, AttributeType, Value)] = [
    (.integer(0), .bool, .integer(0)), (.integer(1), .bool, .integer(1)), (.integer(-128), .int8, .integer(-128)),
    (.integer(127), .int8, .integer(127)), (.integer(255), .uint8, .integer(255)),
    (.integer(65_535), .uint16, .integer(65_535)), (.integer(4_294_967_295), .uint32, .integer(4_294_967_295)),
    (.integer(.max), .uint64, .integer(.max)), (.integer(.min), .int64, .integer(.min)),
    (.real(-0.0), .double, .real(0)),
    (.real(.infinity), .double, .real(.infinity)), (.real(0.1), .float, .real(Double(Float(0.1)))),
    (.real(-.infinity), .float, .real(-.infinity)), (.integer(3), .double, .real(3)), (.integer(3), .date, .real(3)),
    (.text("+012.3400"), .decimal, .text("12.34")), (.text("1e3"), .decimal, .text("1000")),
    (.text("-0.00"), .decimal, .text("0")), (.text("1.5E-3"), .decimal, .text("0.0015")),
    (.text(""), .string, .text("")), (.null, .uuid, .null),
    (.blob([UInt8](repeating: 1, count: 16)), .uuid, .blob([UInt8](repeating: 1, count: 16))),
    (.blob([]), .data, .blob([])), (.text("{}"), .codable, .text("{}")),
  ]

  @Test("A value has one form", arguments: valid.indices)
  func oneForm(index: Int) throws {
    let (value, type, expected) = Self.valid[index]
    let result = try normalized(value, type)
    #expect(result == expected)
    #expect(try normalized(result, type) == result)
    if case .real(let real) = result { #expect(real.sign == .plus || real < 0) }
  }

  static let invalid: [(Value, AttributeType, ErrorCode)] = [
    (.integer(2), .bool, .integerOutOfRange), (.integer(128), .int8, .integerOutOfRange),
    (.integer(-32_769), .int16, .integerOutOfRange), (.integer(2_147_483_648), .int32, .integerOutOfRange),
    (.integer(-1), .uint8, .integerOutOfRange), (.integer(65_536), .uint16, .integerOutOfRange),
    (.integer(4_294_967_296), .uint32, .integerOutOfRange), (.integer(-1), .uint64, .integerOutOfRange),
    (.real(.nan), .double, .notANumber), (.real(.nan), .date, .notANumber), (.real(-.nan), .float, .notANumber),
    (.real(1e39), .float, .floatOutOfRange), (.real(1), .int64, .wrongType), (.text("1"), .int64, .wrongType),
    (.integer(1), .string, .wrongType), (.blob([1]), .string, .wrongType), (.text("x"), .data, .wrongType),
    (.blob([1]), .uuid, .wrongType), (.text("twelve"), .decimal, .wrongType), (.real(1), .decimal, .wrongType),
    (.text("123456789012345678901234567890123456789"), .decimal, .decimalOutOfRange),
    (.text("1e500"), .decimal, .decimalOutOfRange),
  ]

  @Test("What does not fit its type is refused, without the value in the message", arguments: invalid.indices)
  func refused(index: Int) {
    let (value, type, code) = Self.invalid[index]
    let error = #expect(throws: TomboloError.self) { try normalized(value, type) }
    #expect(error?.code == code)
    if case .text(let text) = value { #expect(error?.description.contains(text) == false) }
  }

  @Test("Nil is refused where a value is required")
  func required() throws {
    let required = SchemaAttribute(name: "a", type: .string)
    let error = #expect(throws: TomboloError.self) { try ValueRules.normalized(.null, for: required, of: "E") }
    #expect(error?.code == .requiredAttribute)
    let optional = SchemaAttribute(name: "a", type: .string, isOptional: true)
    #expect(try ValueRules.normalized(.null, for: optional, of: "E") == .null)
  }

  static let readable: [(String, AttributeType, Value)] = [
    ("true", .bool, .integer(1)), ("No", .bool, .integer(0)), ("-12", .int8, .integer(-12)),
    ("1e3", .double, .real(1000)),
    ("-0", .double, .real(0)), ("inf", .double, .real(.infinity)), ("-Infinity", .double, .real(-.infinity)),
    (".5", .double, .real(0.5)), ("12.50", .decimal, .text("12.5")), (" x ", .string, .text(" x ")),
    ("2001-01-01", .date, .real(0)), ("2001-01-01T00:00:00Z", .date, .real(0)),
    ("2001-01-01T01:00:00.5+01:00", .date, .real(0.5)), ("2000-12-31 23:59:59", .date, .real(-1)),
    ("2024-02-29", .date, .real(730_857_600)), ("1970-01-01T00:00Z", .date, .real(-978_307_200)),
    ("0001-01-01", .date, .real(-63_113_904_000)), ("9999-12-31T23:59:59Z", .date, .real(252_423_993_599)),
    ("AP8=", .data, .blob([0, 255])), ("AP8", .data, .blob([0, 255])), ("-_8", .data, .blob([0xFB, 0xFF])),
    ("+/8=", .data, .blob([0xFB, 0xFF])),
    ("00000000-0000-0000-0000-000000000001", .uuid, .blob([UInt8](repeating: 0, count: 15) + [1])),
    ("https://example.org/", .url, .text("https://example.org/")), ("[1, 2]", .codable, .text("[1, 2]")),
  ]

  @Test("A text is read by its attribute's type, and what is written is read again", arguments: readable.indices)
  func parsed(index: Int) throws {
    let (text, type, expected) = Self.readable[index]
    let value = try ValueRules.value(parsing: text, as: type, named: "E.a")
    #expect(value == expected)
    #expect(try ValueRules.value(parsing: ValueRules.text(of: value, as: type), as: type, named: "E.a") == value)
  }

  static let unreadable: [(String, AttributeType)] = [
    ("maybe", .bool), ("", .bool), ("1.0", .int64), ("", .int64), ("-", .int64), ("0x10", .int64), ("1 000", .int64),
    ("300", .uint8), ("99999999999999999999", .int64), ("nan", .double), ("0x1p3", .double), ("1,5", .double),
    ("1e999", .double),
    (" 1", .double), ("1,5", .decimal), ("", .decimal), (".", .decimal), ("1e", .decimal), ("2026-02-29", .date),
    ("2026-13-01", .date),
    ("2026-1-1", .date), ("30.11.2026", .date), ("2026-11-30T24:00", .date), ("2026-11-30T10:00:60Z", .date),
    ("2026-11-30T10", .date), ("2026-11-30Z", .date), ("A", .data), ("AP9=", .data), ("=AP8", .data), ("A P8", .data),
    ("1234", .uuid), ("", .url), ("a b", .url), ("{a:1}", .codable),
  ]

  @Test("A text that is not of its attribute's type is refused", arguments: unreadable.indices)
  func unparsed(index: Int) {
    let (text, type) = Self.unreadable[index]
    let error = #expect(throws: TomboloError.self) { try ValueRules.value(parsing: text, as: type, named: "E.a") }
    #expect(error?.remedy.isEmpty == false)
  }

  @Test(
    "A whole number too long for 64 bits is told from what is no number",
    arguments: [("9223372036854775808", ErrorCode.integerOutOfRange), ("--5", .invalidText), ("5-", .invalidText)])
  func longIntegers(text: String, code: ErrorCode) {
    let error = #expect(throws: TomboloError.self) { try ValueRules.value(parsing: text, as: .int64, named: "E.a") }
    #expect(error?.code == code)
  }

  @Test("Dates are written with as many places as they have")
  func dateText() {
    #expect(ValueRules.text(of: .real(0), as: .date) == "2001-01-01T00:00:00Z")
    #expect(ValueRules.text(of: .real(-0.25), as: .date) == "2000-12-31T23:59:59.75Z")
    #expect(ValueRules.text(of: .real(0.1), as: .date) == "2001-01-01T00:00:00.1Z")
  }

  @Test("Any date of ten thousand years is read as it was written")
  func dateRoundTrip() {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<2000 {
      let seconds = Double(Int64.random(in: -63_113_904_000...252_423_993_599, using: &generator))
      #expect(DateText.seconds(DateText.text(seconds: seconds)) == seconds)
    }
  }

  @Test(
    "Decimals are compared as numbers",
    arguments: [
      ("2", "10", -1), ("-2", "-10", 1), ("-1", "1", -1), ("0.5", "0.25", 1), ("1.25", "1.3", -1), ("1.2", "1.25", -1),
      ("0", "-0.1", 1),
      ("12.5", "12.5", 0), ("-0.1", "-0.12", 1),
    ])
  func decimalOrder(a: String, b: String, order: Int) {
    #expect(DecimalForm.compare(a, b) == order)
    #expect(DecimalForm.compare(b, a) == -order)
  }

  @Test("Text in composed form is told from text that is not")
  func composedForm() {
    #expect(ValueRules.isComposed("plain"))
    #expect(ValueRules.isComposed("\u{E9}"))
    #expect(!ValueRules.isComposed("e\u{301}"))
    #expect(!ValueRules.isComposed("\u{212B}"))
    #expect(ValueRules.isComposed("\u{65E5}\u{672C}"))
    #expect(ValueRules.composed("e\u{301}").utf8.elementsEqual("\u{E9}".utf8))
  }
}
