import Testing
import TomboloProtocol

/// A seeded generator (SplitMix64), so that a failure is found again.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}

@Suite("Damaged messages")
struct DamagedMessageTests {
  /// Decodes; what is thrown must be a typed refusal. Returns whether it was refused.
  private func isRefused(_ bytes: [UInt8], as sample: Sample, _ format: WireFormat) -> Bool {
    do {
      _ = try sample.decode(bytes, format)
      return false
    } catch let error as TomboloError {
      if error.code != .malformedMessage, error.code != .unknownMessageKind { Issue.record("\(error)") }
      return true
    } catch {
      Issue.record("An untyped error: \(error)")
      return true
    }
  }

  /// JSON is several times longer, and most of it is text where one place is like the next.
  private static func step(_ format: WireFormat) -> Int { format == .cbor ? 1 : 5 }

  @Test("A message that was cut off anywhere is refused", arguments: SampleMessages.all, WireFormat.allCases)
  func truncations(sample: Sample, format: WireFormat) {
    let bytes = sample.message.encoded(as: format)
    let taken = stride(from: 0, to: bytes.count, by: Self.step(format)).filter {
      !isRefused(Array(bytes[..<$0]), as: sample, format)
    }
    #expect(taken.isEmpty)
  }

  @Test("A flipped byte is refused or read, and never traps", arguments: SampleMessages.all, WireFormat.allCases)
  func flips(sample: Sample, format: WireFormat) {
    let bytes = sample.message.encoded(as: format)
    var refused = 0
    for index in stride(from: 0, to: bytes.count, by: Self.step(format)) {
      let masks: [UInt8] = format == .cbor ? [0x01, 0x20, 0x80, 0xFF] : [1 << UInt8(index % 8)]
      for mask in masks {
        var damaged = bytes
        damaged[index] ^= mask
        if isRefused(damaged, as: sample, format) { refused += 1 }
      }
    }
    #expect(refused > 0)
  }

  @Test("Random bytes are refused", arguments: WireFormat.allCases)
  func noise(format: WireFormat) {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      for sample in [SampleMessages.all[0], SampleMessages.all[3]] where !isRefused(bytes, as: sample, format) {
        Issue.record("\(bytes) was read as a \(sample.name)")
      }
    }
  }

  @Test("A head that promises more than there is costs nothing", arguments: [UInt8(0x40), 0x60, 0x80, 0xA0])
  func lyingCounts(major: UInt8) {
    // {0: 1, 1: [a string, list or map of 2^62 things]}
    let bytes: [UInt8] = [0xA2, 0x00, 0x01, 0x01, 0x81, major | 27, 0x40, 0, 0, 0, 0, 0, 0, 0]
    #expect(isRefused(bytes, as: SampleMessages.all[0], .cbor))
  }

  @Test("Deep nesting is refused, not followed", arguments: [10_000])
  func nesting(depth: Int) {
    let unknownKey: [UInt8] = [0xA2, 0x00, 0x01, 0x18, 0x63] + [UInt8](repeating: 0x81, count: depth) + [0x00]
    #expect(isRefused(unknownKey, as: SampleMessages.all[0], .cbor))
    let json = [UInt8](repeating: 0x5B, count: depth) + [UInt8](repeating: 0x5D, count: depth)
    #expect(isRefused(json, as: SampleMessages.all[0], .json))
  }

  @Test("Something after the message is refused", arguments: SampleMessages.all, WireFormat.allCases)
  func trailing(sample: Sample, format: WireFormat) {
    #expect(isRefused(sample.message.encoded(as: format) + [0x31], as: sample, format))
  }

  @Test("A message of one kind is not read as another", arguments: WireFormat.allCases)
  func otherKind(format: WireFormat) throws {
    let page = SampleMessages.page.encoded(as: format)
    let error = #expect(throws: TomboloError.self) { try PushRequest(decoding: page, as: format) }
    #expect(error?.message.contains("push_request was expected") == true)
  }

  @Test("An unknown kind of message is refused as such")
  func unknownKind() {
    let error = #expect(throws: TomboloError.self) { try Page(decoding: [0xA1, 0x00, 0x18, 0x63], as: .cbor) }
    #expect(error?.code == .unknownMessageKind)
    let json = #expect(throws: TomboloError.self) { try Page(decoding: Array("{\"kind\":\"rumour\"}".utf8), as: .json) }
    #expect(json?.code == .unknownMessageKind)
  }

  @Test("An unknown kind of change is refused as such")
  func unknownChange() throws {
    let json = """
      {"changeSet":{"id":"00000000-0000-0000-0000-000000000000","number":1,"stamp":"0","schemaVersion":"1.0.0","base":0,
      "changes":[{"change":"increment"}]}}
      """
    let error = #expect(throws: TomboloError.self) { try ChangeSet(decoding: Array(json.utf8), as: .json) }
    #expect(error?.code == .unknownMessageKind)
  }

  @Test("Unknown fields are passed over")
  func unknownFields() throws {
    // The error message of five fields, its map made one longer, with key 99 and something nested at the end.
    var bytes = SampleMessages.shortError.encoded(as: .cbor)
    bytes[0] += 1
    bytes += [0x18, 0x63, 0x82, 0xA1, 0x01, 0xF6, 0x61, 0x78]
    #expect(try WireError(decoding: bytes, as: .cbor) == SampleMessages.shortError)
    let json = "{\"error\":{\"code\":\"busy\",\"message\":\"m\",\"mood\":[1,{\"a\":null}]},\"more\":true}"
    #expect(try WireError(decoding: Array(json.utf8), as: .json).error.code == .busy)
  }

  @Test(
    "What JSON would leave open is refused",
    arguments: [
      "{\"error\":{\"code\":\"a\",\"code\":\"b\",\"message\":\"\"}}", "{\"error\":{\"code\":1,\"message\":\"\"}}",
      "{\"error\":{\"code\":\"\\ud800\",\"message\":\"\"}}", "{'error':{}}", "{\"error\":{\"code\":\"a\",}}", "",
      "{\"error\":{\"code\":\"a\"}}", "{\"error\":null}", "[]", "{\"error\":{\"code\":\"a\",\"message\":\"\t\"}}",
      "{\"error\":{\"code\":\"a\",\"message\":\"\",\"x\":01}}",
      "{\"error\":{\"code\":\"a\",\"message\":\"\",\"x\":1.}}",
      "{\"error\":{\"code\":\"a\",\"message\":\"\",\"x\":9223372036854775808}}",
      "{\"error\":{\"code\":\"a\",\"message\":\"\",\"x\":1e999}}",
    ])
  func ambiguousJSON(text: String) {
    #expect(throws: TomboloError.self) { try WireError(decoding: Array(text.utf8), as: .json) }
  }

  @Test(
    "A value in JSON has one meaning",
    arguments: [
      ("1", Value.integer(1)), ("1.0", .real(1)), ("1e2", .real(100)), ("-0.0", .real(0)), ("\"1\"", .text("1")),
      ("null", .null), ("{\"bytes\":\"AP8\"}", .blob([0, 255])), ("{\"real\":\"-inf\"}", .real(-.infinity)),
    ])
  func jsonValues(text: String, value: Value) throws {
    #expect(Value(wire: try JSONValue(parsing: Array(text.utf8))) == value)
  }

  @Test(
    "What is no value in JSON is refused",
    arguments: [
      "true", "[]", "{}", "{\"bytes\":\"A\"}", "{\"bytes\":\"AP9\"}", "{\"real\":\"nan\"}", "{\"real\":1}",
      "{\"bytes\":\"\",\"real\":\"inf\"}",
    ])
  func notValues(text: String) throws {
    #expect(Value(wire: try JSONValue(parsing: Array(text.utf8))) == nil)
  }

  @Test("NaN is refused on the wire")
  func notANumber() {
    var writer = CBORWriter()
    writer.float(.nan)
    var reader = CBORReader(writer.bytes)
    #expect(throws: CBORReader.Malformed.self) { try reader.value() }
  }

  @Test(
    "A stamp's text is read again", arguments: ["0", "1764519163000.0@ada0000000000001", "5.65535@ffffffffffffffff+4"])
  func stampText(text: String) { #expect(Stamp(text: text)?.text == text) }

  @Test(
    "What is no stamp's text is refused",
    arguments: [
      "", "1", "1.0", "1.0@", "1.0@1", "1.65536@ada0000000000001", "-1.0@ada0000000000001", "1.0@ada0000000000001+",
    ])
  func notStampText(text: String) { #expect(Stamp(text: text) == nil) }

  @Test("A cursor's text is read again, and a damaged one refused")
  func cursorText() throws {
    let text = SampleMessages.cursor.text
    #expect(try Cursor(text: text) == SampleMessages.cursor)
    #expect(text.utf8.allSatisfy { $0 == 0x2D || $0 == 0x5F || ($0 >= 0x30 && $0 <= 0x7A) })
    for damaged in ["", String(text.dropLast()), text + "A", text + "=", "!" + text, "AAAA"] {
      #expect(throws: TomboloError.self) { try Cursor(text: damaged) }
    }
  }

  @Test(
    "An introduction travels in headers too",
    arguments: [SampleMessages.introduction, SampleMessages.shortIntroduction])
  func headers(introduction: Introduction) throws {
    #expect(try Introduction(headers: introduction.headers) == introduction)
  }

  @Test(
    "A header that is missing or no number is named",
    arguments: [
      ("tombolo-replica", nil), ("tombolo-schema", nil), ("tombolo-highest-save", nil), ("tombolo-replica", "xyz"),
      ("tombolo-highest-save", "-1"), ("tombolo-highest-save", "+1"), ("tombolo-schema", "one"),
      ("tombolo-holds", "0x4"),
      ("tombolo-epoch", ""),
    ])
  func badHeaders(name: String, value: String?) {
    var headers = SampleMessages.introduction.headers
    headers[name] = value
    let error = #expect(throws: TomboloError.self) { try Introduction(headers: headers) }
    #expect(error?.message.contains(name) == true)
  }

  @Test(
    "A media type is found among parameters and others",
    arguments: [
      ("application/json; charset=utf-8", WireFormat.json), ("application/cbor", .cbor), ("Application/JSON", .json),
      ("text/html, application/json;q=0.9", .json), ("*/*", .cbor),
    ])
  func mediaTypes(header: String, format: WireFormat) { #expect(WireFormat(mediaType: header) == format) }

  @Test("Another media type is none of ours", arguments: ["", "text/plain", "application/jsonl", "json"])
  func otherMediaTypes(header: String) { #expect(WireFormat(mediaType: header) == nil) }
}
