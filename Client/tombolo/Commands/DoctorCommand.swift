import Tombolo
import TomboloProtocol

/// `tombolo doctor STORE`
package struct DoctorCommand: Command {
  static let offline = CommandOption.flag("offline", help: "Ask the server nothing.")
  static let quick = CommandOption.flag("quick", help: "Leave out what takes long: comparing indexes with tables.")
  static let tokenFile = CommandOption.text(
    "token-file", "FILE", help: "Another token than the one that was named with the remote.")

  static let bundle = CommandOption.text(
    "bundle", "FILE",
    help: "Also write a trace that others may see and replay. Values are replaced by placeholders;\n"
      + "it never holds a token, a host or a path.")
  static let withValues = CommandOption.flag("with-values", help: "Keep the values of the records in the trace.")

  package static let declaration = CommandDeclaration(
    "doctor", summary: "Look for everything that can be wrong with a replica and its connection",
    discussion:
      "Each line is what was looked at, and what was found; what to do stands below it. Nothing is written, and of the\n"
      + "server only questions are asked. Exit status 1 when there is a problem; warnings alone leave it 0.\n"
      + "'tombolo simulate --replay FILE' replays what --bundle writes.",
    operands: [Shared.store],
    options: [
      offline.declaration, quick.declaration, tokenFile.declaration, bundle.declaration, withValues.declaration,
      Shared.json.declaration,
    ])

  let store: String
  let isOffline: Bool
  let isQuick: Bool
  let tokenFile: String?
  let bundle: String?
  let hasValues: Bool
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    bundle = try arguments.value(Self.bundle)
    hasValues = try arguments.value(Self.withValues)
    if hasValues, bundle == nil { throw UsageError("--with-values is about a --bundle", command: "doctor") }
    isOffline = try arguments.value(Self.offline)
    isQuick = try arguments.value(Self.quick)
    tokenFile = try arguments.value(Self.tokenFile)
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let findings = Self.findings(
      of: store, isQuick: isQuick, isOffline: isOffline, tokenFile: tokenFile, context: context)
    if isJSON {
      context.output.json(Self.json(findings))
    } else {
      Self.show(findings, in: context.output)
    }
    if let bundle {
      try BundleWriting(store: store, file: bundle, hasValues: hasValues).run(findings, in: context)
    }
    if findings.contains(where: { $0.severity == .problem }) { throw CommandStatus.negative }
  }

  /// Everything that can be found out about a store, in the order in which it was looked at.
  static func findings(
    of path: String, isQuick: Bool, isOffline: Bool, tokenFile: String?, context: CommandContext
  ) -> [Finding] {
    let file = StoreExamination(path: path, options: context.storeOptions, isQuick: isQuick)
    guard let store = file.store else { return file.findings }
    let connection = ConnectionExamination(
      store, path: path, tokenFile: tokenFile, isOffline: isOffline, context: context)
    return file.findings + connection.findings
  }

  private static func show(_ findings: [Finding], in output: Output) {
    let words: [Finding.Severity: String] = [.fine: "ok", .notice: "note", .warning: "warning", .problem: "PROBLEM"]
    for finding in findings {
      let word = (words[finding.severity] ?? "").padded(to: 7)
      output.line("\(word)  \(finding.code.rawValue.padded(to: 15))  \(finding.text)")
      if !finding.remedy.isEmpty { output.line("         " + "→ \(finding.remedy)") }
    }
    let problems = findings.filter { $0.severity == .problem }.count
    let warnings = findings.filter { $0.severity == .warning }.count
    output.line()
    output.line(
      problems + warnings == 0
        ? "Nothing is wrong."
        : "\(problems) problem\(problems == 1 ? "" : "s"), \(warnings) warning\(warnings == 1 ? "" : "s").")
  }

  static func json(_ findings: [Finding]) -> JSONText {
    let hasProblem = findings.contains { $0.severity == .problem }
    return .object([
      ("status", .string(hasProblem ? "problem" : "fine")),
      (
        "findings",
        .array(
          findings.map { finding in
            .object([
              ("severity", .string(finding.severity.rawValue)), ("code", .string(finding.code.rawValue)),
              ("text", .string(finding.text)), ("remedy", .string(finding.remedy)),
            ])
          })
      ),
    ])
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }
}
