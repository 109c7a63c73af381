/// Somebody called a program or a command wrongly; the text says what is missing or too much.
public struct UsageError: Error {
  public let text: String
  public init(_ text: String) { self.text = text }
}

/// The words after a command's name. Take the options first, then the operands.
public struct Arguments {
  private var words: [String]
  /// What follows `--` is no option, whatever it looks like.
  private var literals: [String] = []

  public init(_ words: [String]) {
    self.words = words
    if let end = words.firstIndex(of: "--") {
      self.words = Array(words[..<end])
      literals = Array(words[(end + 1)...])
    }
  }

  /// Whether `--name` was given.
  public mutating func flag(_ name: String) -> Bool {
    guard let index = words.firstIndex(of: "--\(name)") else { return false }
    words.remove(at: index)
    return true
  }

  /// The word after `--name`.
  public mutating func option(_ name: String) throws -> String? {
    guard let index = words.firstIndex(of: "--\(name)") else { return nil }
    guard index + 1 < words.count, !words[index + 1].hasPrefix("--") else {
      throw UsageError("--\(name) needs a value after it.")
    }
    defer { words.removeSubrange(index...(index + 1)) }
    return words[index + 1]
  }

  /// The word after `--name`, as one of the cases of an enum or a number.
  public mutating func option<Value: LosslessStringConvertible>(_ name: String, as type: Value.Type) throws -> Value? {
    guard let text = try option(name) else { return nil }
    guard let value = Value(text) else { throw UsageError("--\(name) cannot be '\(text)'.") }
    return value
  }

  /// The word after `--name`, as one of the cases of an enum.
  public mutating func option<Value: RawRepresentable & CaseIterable>(
    _ name: String, as type: Value.Type
  ) throws -> Value? where Value.RawValue == String {
    guard let text = try option(name) else { return nil }
    guard let value = Value(rawValue: text) else {
      let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--\(name) cannot be '\(text)'; it is one of \(known).")
    }
    return value
  }

  /// The next operand.
  public mutating func next(_ name: String) throws -> String {
    guard let word = try nextIfAny() else { throw UsageError("\(name) is missing.") }
    return word
  }

  /// The next operand, if there is one.
  public mutating func nextIfAny() throws -> String? {
    if let unknown = words.first(where: { $0.hasPrefix("--") }) { throw UsageError("There is no option \(unknown).") }
    if !words.isEmpty { return words.removeFirst() }
    return literals.isEmpty ? nil : literals.removeFirst()
  }

  /// All operands that are left.
  public mutating func rest() throws -> [String] {
    var all: [String] = []
    while let word = try nextIfAny() { all.append(word) }
    return all
  }

  /// The first word that is no option: the command. Its options may stand before it.
  mutating func command() throws -> String {
    guard let index = words.firstIndex(where: { !$0.hasPrefix("--") }) else { throw UsageError("Which command?") }
    return words.remove(at: index)
  }

  func finish() throws {
    var copy = self
    if let word = try copy.nextIfAny() {
      throw UsageError("'\(word)' is one word too many; quote what belongs together.")
    }
  }
}
