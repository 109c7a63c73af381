/// The arguments of one call, sorted into operands and options by a declaration.
package struct ParsedArguments: Sendable {
  private var operands: [String: [String]] = [:]
  private var options: [String: [String]] = [:]
  package private(set) var wantsHelp = false

  /// Options may stand anywhere; `--name=value` and `--name value` are the same; after `--` everything is an operand.
  ///
  /// - Throws: ``UsageError``, with the nearest name for an unknown option.
  package init(_ arguments: [String], for declaration: CommandDeclaration) throws {
    func failure(_ message: String) -> UsageError { UsageError(message, command: declaration.name) }
    var words: [String] = []
    var index = 0
    while index < arguments.count {
      let argument = arguments[index]
      index += 1
      if argument == "--" {
        words += arguments[index...]
        break
      }
      if argument == "-h" || argument == "--help" {
        wantsHelp = true
        continue
      }
      guard argument.hasPrefix("-"), argument != "-" else {
        words.append(argument)
        continue
      }
      let body = argument.drop { $0 == "-" }
      let name = String(body.prefix { $0 != "=" })
      let attached = body.count > name.count ? String(body.dropFirst(name.count + 1)) : nil
      guard argument.hasPrefix("--"), let option = declaration.options.first(where: { $0.name == name }) else {
        let names = declaration.options.map(\.name) + ["help"]
        let hint = NearestName.suggestion(for: name, among: names, prefix: "--")
        throw failure("unknown option '\(argument.prefix { $0 != "=" })'\(hint)")
      }
      guard option.isRepeated || options[name] == nil else { throw failure("--\(name) is given twice") }
      guard option.placeholder != nil else {
        guard attached == nil else { throw failure("--\(name) takes no value") }
        options[name] = [""]
        continue
      }
      if let attached {
        options[name, default: []].append(attached)
      } else {
        guard index < arguments.count else { throw failure("--\(name) needs a value: \(option.placeholder ?? "")") }
        options[name, default: []].append(arguments[index])
        index += 1
      }
    }
    if wantsHelp { return }
    try take(words, declaration.operands, failure)
    for option in declaration.options where option.isRequired && options[option.name] == nil {
      throw failure("--\(option.name) \(option.placeholder ?? "") is missing")
    }
  }

  private mutating func take(
    _ words: [String], _ declared: [OperandDeclaration], _ failure: (String) -> UsageError
  ) throws {
    var words = words[...]
    for operand in declared {
      guard let first = words.first else {
        if operand.arity == .optional { continue }
        throw failure("\(operand.name) is missing: \(operand.help)")
      }
      // An empty path is what an unset variable of a script leaves; SQLite would open a store that nobody finds again.
      guard !first.isEmpty else { throw failure("\(operand.name) is empty: \(operand.help)") }
      switch operand.arity {
      case .one, .optional:
        operands[operand.name] = [first]
        words = words.dropFirst()
      case .some:
        operands[operand.name] = Array(words)
        words = []
      }
    }
    if let extra = words.first { throw failure("'\(extra)' is one operand too many") }
  }

  /// An operand of which there is one; empty for an optional one that was left out.
  package subscript(_ operand: String) -> String { operands[operand]?.first ?? "" }
  package func all(_ operand: String) -> [String] { operands[operand] ?? [] }

  package func value<Result>(_ option: CommandOption<Result>) throws -> Result {
    try option.read(options[option.declaration.name] ?? [])
  }
}
