/// Reads the members of one JSON object of a message; errors name the path to what is wrong, never its content.
package struct JSONFields {
  let object: JSONObject
  /// As `changeSets[2].changes[0]`.
  let path: String

  init(_ json: JSONValue, _ path: String) throws {
    guard case .object(let object) = json else { throw Self.malformed("\(path) is not an object") }
    self.object = object
    self.path = path
  }

  static func malformed(_ reason: String) -> TomboloError {
    TomboloError(.malformedMessage, "The message cannot be read: \(reason).")
  }

  func malformed(_ key: String, _ reason: String) -> TomboloError { Self.malformed("\(place(key)) \(reason)") }

  private func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  func has(_ key: String) -> Bool { object[key] != nil }

  func json(_ key: String) throws -> JSONValue {
    guard let json = object[key] else { throw malformed(key, "is missing") }
    return json
  }

  func text(_ key: String) throws -> String {
    guard case .string(let text) = try json(key) else { throw malformed(key, "is not a string") }
    return text
  }

  func optionalText(_ key: String) throws -> String? { isAbsent(key) ? nil : try text(key) }

  func bool(_ key: String, default value: Bool) throws -> Bool {
    guard let json = object[key] else { return value }
    guard case .bool(let bool) = json else { throw malformed(key, "is neither true nor false") }
    return bool
  }

  func integer(_ key: String) throws -> Int64 {
    guard case .integer(let integer) = try json(key) else { throw malformed(key, "is not a whole number") }
    return integer
  }

  /// A number that is not negative; above 63 bits it is a string of digits.
  func unsigned(_ key: String) throws -> UInt64 {
    try Self.unsigned(try json(key), orThrow: malformed(key, "is not a number, or is negative"))
  }

  static func unsigned(_ json: JSONValue, orThrow error: @autoclosure () -> TomboloError) throws -> UInt64 {
    switch json {
    case .integer(let integer) where integer >= 0: return UInt64(integer)
    case .string(let text):
      guard let number = UInt64(text), text.utf8.first != 0x2B else { throw error() }
      return number
    default: throw error()
    }
  }

  func small(_ key: String) throws -> UInt32 {
    guard let number = UInt32(exactly: try unsigned(key)) else { throw malformed(key, "is too large") }
    return number
  }

  /// Sixteen hexadecimal digits.
  func hexadecimal(_ key: String) throws -> UInt64 {
    guard let number = Self.hexadecimal(try text(key)) else {
      throw malformed(key, "is not sixteen hexadecimal digits")
    }
    return number
  }

  static func hexadecimal(_ text: String) -> UInt64? {
    guard text.utf8.count == 16, text.utf8.first != 0x2B, text.utf8.first != 0x2D else { return nil }
    return UInt64(text, radix: 16)
  }

  func record(_ key: String) throws -> RecordID {
    guard let record = RecordID(try text(key)) else { throw malformed(key, "is not a UUID") }
    return record
  }

  func stamp(_ key: String) throws -> Stamp {
    guard let stamp = Stamp(text: try text(key)) else { throw malformed(key, "is not a stamp") }
    return stamp
  }

  func schemaVersion(_ key: String) throws -> SchemaVersion {
    guard let version = SchemaVersion(try text(key)) else { throw malformed(key, "is not a version such as 1.0.0") }
    return version
  }

  func bytes(_ key: String) throws -> [UInt8] {
    guard let bytes = Base64URL.bytes(of: try text(key)) else { throw malformed(key, "is not base64url") }
    return bytes
  }

  func value(_ key: String) throws -> Value {
    guard let value = Value(wire: try json(key)) else { throw malformed(key, "is not a value") }
    return value
  }

  func fields(_ key: String) throws -> JSONFields { try JSONFields(try json(key), place(key)) }

  func optionalFields(_ key: String) throws -> JSONFields? { isAbsent(key) ? nil : try fields(key) }

  func list<Element>(_ key: String, _ read: (JSONFields) throws -> Element) throws -> [Element] {
    guard case .array(let elements) = try json(key) else { throw malformed(key, "is not a list") }
    return try elements.enumerated().map { try read(JSONFields($1, "\(place(key))[\($0)]")) }
  }

  /// Absent and null mean the same where there is nothing that null could be.
  func isAbsent(_ key: String) -> Bool { (object[key] ?? .null) == .null }
}

extension JSONValue {
  static func unsigned(_ number: UInt64) -> JSONValue {
    Int64(exactly: number).map { .integer($0) } ?? .string(String(number))
  }

  static func hexadecimal(_ number: UInt64) -> JSONValue { .string(ReplicaID(number).description) }
  static func stamp(_ stamp: Stamp) -> JSONValue { .string(stamp.text) }
  static func list<Element>(_ elements: [Element], _ json: (Element) -> JSONValue) -> JSONValue {
    .array(elements.map(json))
  }
}

extension Stamp {
  /// `MILLISECONDS.COUNTER@REPLICA`, with `+DERIVED` for a consequence; `0` for the zero stamp.
  package var text: String {
    if self == .zero { return "0" }
    return "\(clock.milliseconds).\(clock.counter)@\(replica)" + (derived == 0 ? "" : "+\(derived)")
  }

  /// Nil for what ``text`` does not write.
  package init?(text: some StringProtocol) {
    if text == "0" {
      self = .zero
      return
    }
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let clock = halves[0].split(separator: ".", omittingEmptySubsequences: false)
    let author = halves[1].split(separator: "+", omittingEmptySubsequences: false)
    guard clock.count == 2, (1...2).contains(author.count), halves[0].utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2D }),
      let milliseconds = UInt64(clock[0]), milliseconds < 1 << 48, let counter = UInt16(clock[1]),
      let replica = JSONFields.hexadecimal(String(author[0]))
    else { return nil }
    var derived: UInt32 = 0
    if author.count == 2 {
      guard let number = UInt32(author[1]) else { return nil }
      derived = number
    }
    self.init(
      clock: ClockReading(milliseconds: milliseconds, counter: counter), replica: ReplicaID(replica), derived: derived)
  }
}

extension Value {
  /// A value in JSON: text is a string, a whole number an integer, a real a number with a point or an exponent;
  /// bytes are `{"bytes":"…"}` in base64url, infinities `{"real":"inf"}` and `{"real":"-inf"}`.
  package var wireJSON: JSONValue {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .real(let real):
      real.isFinite ? .real(real) : .object(["real": .string(real > 0 ? "inf" : "-inf")])
    case .text(let text): .string(text)
    case .blob(let bytes): .object(["bytes": .string(Base64URL.text(of: bytes))])
    }
  }

  package init?(wire json: JSONValue) {
    switch json {
    case .null: self = .null
    case .integer(let integer): self = .integer(integer)
    case .real(let real): self = .real(real)
    case .string(let text): self = .text(text)
    case .object(let object) where object.members.count == 1:
      switch (object["bytes"], object["real"]) {
      case (.string(let text)?, nil):
        guard let bytes = Base64URL.bytes(of: text) else { return nil }
        self = .blob(bytes)
      case (nil, .string("inf")?): self = .real(.infinity)
      case (nil, .string("-inf")?): self = .real(-.infinity)
      default: return nil
      }
    default: return nil
    }
  }
}
