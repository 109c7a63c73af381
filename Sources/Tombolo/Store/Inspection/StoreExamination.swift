import TomboloProtocol
import TomboloSQLite

/// Looks for everything that can be wrong with a replica's file, and writes nothing.
package struct StoreExamination {
  package private(set) var findings: [Finding] = []
  /// The store, opened to be read; nil where it cannot be.
  package private(set) var store: Store?

  /// - Parameter isQuick: leaves out what compares indexes with tables.
  package init(path: String, options: Store.Options, isQuick: Bool = false) {
    let file = FileExamination(path: path)
    findings = file.findings
    guard file.isReadable else { return }
    var options = options
    options.isReadOnly = true
    let opened: Store
    do {
      opened = try Store(existing: path, options: options)
    } catch let error as TomboloError {
      findings.append(Finding(.problem, .file, error.message, remedy: error.remedy))
      return
    } catch {
      findings.append(Finding(.problem, .file, "The store cannot be opened: \(error)."))
      return
    }
    store = opened
    examine(.integrity) { try opened.read { try Self.integrity($0, isQuick: isQuick) } }
    // In a damaged file the further questions would find its damage again and again.
    if findings.contains(where: { $0.severity == .problem && $0.code == .integrity }) { return }
    examine(.schema) { Self.schema(opened.schema.document) }
    examine(.tables) { try opened.read { try TableExamination($0, schema: opened.schema).findings() } }
    if !findings.contains(where: { $0.severity == .problem && $0.code == .tables }) {
      let companions: [(FindingCode, (CompanionExamination) throws -> [Finding])] = [
        (.search, { isQuick ? [] : try $0.searches() }), (.trees, { try $0.trees() }),
        (.external, { try $0.externals() }),
      ]
      for (code, check) in companions {
        examine(code) { try opened.read { try check(CompanionExamination($0, schema: opened.schema)) } }
      }
    }
    examine(.rules) { try opened.read { try RuleExamination($0, schema: opened.schema).findings() } }
    let wall = options.clock.milliseconds()
    for (code, check) in BookkeepingExamination.checks {
      examine(code) { try opened.read { try check(BookkeepingExamination($0, schema: opened.schema, wall: wall)) } }
    }
  }

  /// A question that cannot be asked is a finding itself.
  private mutating func examine(_ code: FindingCode, _ body: () throws -> [Finding]) {
    do {
      findings += try body()
    } catch let error as TomboloError {
      findings.append(Finding(.problem, code, error.message, remedy: error.remedy))
    } catch {
      findings.append(Finding(.problem, code, "This cannot be examined: \(error)."))
    }
  }

  private static let messagesMax = 20

  private static func integrity(_ connection: Connection, isQuick: Bool) throws -> [Finding] {
    var messages: [String] = []
    try connection.eachRow("PRAGMA \(isQuick ? "quick_check" : "integrity_check")(\(messagesMax))") {
      messages.append($0.string(0))
    }
    if messages == ["ok"] { return [Finding(.fine, .integrity, "SQLite finds the file sound.")] }
    let remedy =
      "Work on a copy: 'sqlite3 FILE .recover' saves what is readable; or clone from the server again. A value that a "
      + "check refuses can be put right with 'tombolo set'."
    return messages.map { Finding(.problem, .integrity, "SQLite says: \($0).", remedy: remedy) }
  }

  private static func schema(_ document: SchemaDocument) -> [Finding] {
    guard document.version != nil else {
      return [
        Finding(
          .warning, .schema, "The schema \(document.name) has no version: this store never syncs.",
          remedy: "tombolo schema adopt STORE --version 1.0.0 gives it one.")
      ]
    }
    let offences = SchemaLint.check(document, rules: .tombolo)
    var findings = offences.map { offence in
      let place = [offence.detail.entity, offence.detail.property].compactMap(\.self).joined(separator: ".")
      return Finding(
        offence.isError ? .problem : .notice, .schema, (place.isEmpty ? "" : "\(place): ") + offence.detail.text,
        remedy: offence.detail.fix)
    }
    if !offences.contains(where: \.isError) {
      findings.insert(Finding(.fine, .schema, "The schema is \(document.title), and may sync."), at: 0)
    }
    return findings
  }
}
