import TomboloProtocol

/// Options of the form `--name value` or `--name=value`, flags, and what is left.
struct Arguments {
  private(set) var values: [String: String] = [:]
  private(set) var flags: Set<String> = []
  private(set) var rest: [String] = []

  /// - Throws: `usage`, for an option that is not known, or given twice, or without its value.
  init(_ words: [String], options: Set<String>, flags known: Set<String> = []) throws {
    var index = 0
    while index < words.count {
      let word = words[index]
      index += 1
      guard word.hasPrefix("--"), word != "--" else {
        if word == "-h" { flags.insert("help") } else if word != "--" { rest.append(word) }
        continue
      }
      let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      if name == "help" || known.contains(name) {
        flags.insert(name)
      } else if options.contains(name) {
        guard values[name] == nil else {
          throw TomboloError(.usage, "The option --\(name) is given twice.", remedy: "Give it once.")
        }
        if parts.count == 2 {
          values[name] = String(parts[1])
        } else {
          guard index < words.count else {
            throw TomboloError(.usage, "The option --\(name) needs a value.", remedy: "See '--help'.")
          }
          values[name] = words[index]
          index += 1
        }
      } else {
        throw TomboloError(.usage, "There is no option --\(name).", remedy: "See '--help'.")
      }
    }
  }

  var asksForHelp: Bool { flags.contains("help") }

  /// - Throws: `usage`.
  func required(_ name: String) throws -> String {
    guard let value = values[name], !value.isEmpty else {
      throw TomboloError(.usage, "The option --\(name) is missing.", remedy: "See '--help'.")
    }
    return value
  }

  func requireNothingElse(count: Int = 0) throws {
    guard rest.count == count else {
      throw TomboloError(
        .usage, rest.count > count ? "The argument '\(rest[count])' is one too many." : "An argument is missing.",
        remedy: "See '--help'.")
    }
  }
}
