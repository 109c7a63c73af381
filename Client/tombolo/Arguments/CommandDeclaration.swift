/// What a command is called, takes and does: `--help` and the parser both work from it.
package struct CommandDeclaration: Sendable {
  /// The words that call it, as `schema show`.
  package var name: String
  /// One line, without a full stop.
  package var summary: String
  package var discussion: String
  package var operands: [OperandDeclaration]
  package var options: [OptionDeclaration]

  package init(
    _ name: String, summary: String, discussion: String = "", operands: [OperandDeclaration] = [],
    options: [OptionDeclaration] = []
  ) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.operands = operands
    self.options = options
  }

  package var usage: String {
    var parts = ["tombolo", name]
    parts += operands.map { operand in
      switch operand.arity {
      case .one: operand.name
      case .some: "\(operand.name)…"
      case .optional: "[\(operand.name)]"
      }
    }
    parts += options.map { option in
      let form = option.placeholder.map { "--\(option.name) \($0)" } ?? "--\(option.name)"
      if option.isRequired { return form }
      return option.isRepeated ? "[\(form)]…" : "[\(form)]"
    }
    return parts.joined(separator: " ")
  }

  package var help: String {
    var text = "\(summary).\n\nUsage: \(usage)\n"
    if !discussion.isEmpty { text += "\n\(discussion)\n" }
    let rows = operands.map { ($0.name, $0.help) }
    if !rows.isEmpty { text += "\nOperands:\n" + Self.columns(rows) }
    let all = options.map { (($0.placeholder.map { "--\($0)" }, $0), $0.help) }
      .map { (option, help) in
        (option.1.placeholder.map { "--\(option.1.name) \($0)" } ?? "--\(option.1.name)", help)
      }
    return text + "\nOptions:\n" + Self.columns(all + [("--help", "Show this help.")])
  }

  static func columns(_ rows: [(String, String)]) -> String {
    let width = min(28, rows.map(\.0.count).max() ?? 0)
    return rows.map { name, help in
      let indent = String(repeating: " ", count: width + 4)
      let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
      let rest = lines.dropFirst().map { "\n\(indent)\($0)" }.joined()
      let first = lines.first ?? ""
      let gap = name.count > width ? "\n\(indent)" : String(repeating: " ", count: width - name.count + 2)
      return "  \(name)\(gap)\(first)\(rest)\n"
    }.joined()
  }
}

package struct OperandDeclaration: Sendable {
  package enum Arity: Sendable {
    case one, some
    /// May be left out; only the last ones are.
    case optional
  }
  package var name: String
  package var arity: Arity
  package var help: String
  package init(_ name: String, _ arity: Arity = .one, help: String) {
    self.name = name
    self.arity = arity
    self.help = help
  }
}

package struct OptionDeclaration: Sendable {
  package var name: String
  /// What stands for its value in the help; nil for a switch.
  package var placeholder: String?
  package var isRepeated: Bool
  package var isRequired: Bool
  package var help: String
}

/// A declared option together with the type of what it gives.
package struct CommandOption<Result: Sendable>: Sendable {
  package var declaration: OptionDeclaration
  /// Makes the result of the texts that were given, in order.
  package var read: @Sendable (_ texts: [String]) throws -> Result
}

extension CommandOption where Result == Bool {
  package static func flag(_ name: String, help: String) -> Self {
    CommandOption(
      declaration: OptionDeclaration(name: name, placeholder: nil, isRepeated: false, isRequired: false, help: help)
    ) { !$0.isEmpty }
  }
}

extension CommandOption where Result == String? {
  package static func text(_ name: String, _ placeholder: String, help: String) -> Self {
    CommandOption(
      declaration: OptionDeclaration(
        name: name, placeholder: placeholder, isRepeated: false, isRequired: false, help: help)
    ) { $0.first }
  }
}

extension CommandOption where Result == String {
  package static func required(_ name: String, _ placeholder: String, help: String) -> Self {
    CommandOption(
      declaration: OptionDeclaration(
        name: name, placeholder: placeholder, isRepeated: false, isRequired: true, help: help)
    ) { texts in
      guard let text = texts.first else { throw UsageError("--\(name) \(placeholder) is missing") }
      return text
    }
  }
}

extension CommandOption where Result == [String] {
  package static func list(_ name: String, _ placeholder: String, help: String) -> Self {
    CommandOption(
      declaration: OptionDeclaration(
        name: name, placeholder: placeholder, isRepeated: true, isRequired: false, help: help)
    ) { $0 }
  }
}

extension CommandOption where Result == Int? {
  package static func number(_ name: String, _ placeholder: String, in range: ClosedRange<Int>, help: String) -> Self {
    CommandOption(
      declaration: OptionDeclaration(
        name: name, placeholder: placeholder, isRepeated: false, isRequired: false, help: help)
    ) { texts in
      guard let text = texts.first else { return nil }
      guard let number = Int(text), range.contains(number) else {
        throw UsageError("--\(name) takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
      }
      return number
    }
  }
}

extension CommandOption {
  /// One of a few words.
  package static func choice<Choice: RawRepresentable & CaseIterable & Sendable>(
    _ name: String, of type: Choice.Type, help: String
  ) -> Self where Choice.RawValue == String, Result == Choice? {
    let words = type.allCases.map(\.rawValue)
    return CommandOption(
      declaration: OptionDeclaration(
        name: name, placeholder: words.joined(separator: "|"), isRepeated: false, isRequired: false, help: help)
    ) { texts in
      guard let text = texts.first else { return nil }
      guard let choice = Choice(rawValue: text) else {
        throw UsageError("--\(name) takes \(words.joined(separator: " or ")), not '\(text)'")
      }
      return choice
    }
  }
}
