import Foundation
import Glibc
import Tombolo
import TomboloProtocol
import TomboloSimulation

/// `tombolo doctor STORE --bundle FILE`: the captured trace, as a file that others may see.
struct BundleWriting {
  let store: String
  let file: String
  let hasValues: Bool

  /// - Parameter findings: what the examination has found.
  /// - Throws: `no_remote`, `file_unwritable`, `limit_exceeded`, and what opening a store throws.
  func run(_ findings: [Finding], in context: CommandContext) throws {
    let opened = try context.open(store, readOnly: true)
    let state = try opened.replicaState()
    let capture = try StoreCapture(of: opened, itemsMax: TraceBundle.itemsMax, savesMax: TraceBundle.savesMax)
    var bundle = try TraceBundle(
      capture, schema: opened.schema.document, environment: environment(context), hasValues: hasValues)
    bundle.findings = findings.map { finding in
      TraceBundle.Note(
        severity: finding.severity.rawValue, code: finding.code.rawValue,
        text: hiding(finding.text, state?.remoteURL, state?.tokenFile))
    }
    let bytes = try bundle.encoded()
    try write(bytes)
    context.output.note(
      "\(file) has the trace, \(bytes.count) bytes"
        + (hasValues ? ", WITH the values of the records." : "; values are placeholders.")
        + (bundle.isTooLarge ? " The replica is too large for its records to be in it." : ""))
  }

  private func environment(_ context: CommandContext) -> [String: String] {
    var system = utsname()
    uname(&system)
    func text<Tuple>(_ tuple: Tuple) -> String {
      withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
    func size(_ path: String) -> String {
      let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
      return size.map(String.init) ?? ""
    }
    let process = ProcessInfo.processInfo
    return [
      "program": ProgramVersion.text, "protocol": "\(ProgramVersion.protocolVersion)",
      "written": TimeText.text(context.clock.milliseconds()), "system": process.operatingSystemVersionString,
      "kernel": text(system.release), "architecture": text(system.machine),
      "processors": "\(process.activeProcessorCount)", "memory": "\(process.physicalMemory)",
      "storeBytes": size(store), "logBytes": size(store + "-wal"),
    ]
  }

  /// A sentence without the names that this machine and its server have.
  private func hiding(_ text: String, _ url: String?, _ tokenFile: String?) -> String {
    var text = text
    let absolute = URL(fileURLWithPath: store).path
    let folder = URL(fileURLWithPath: absolute).deletingLastPathComponent().path
    let host = url.flatMap { URL(string: $0)?.host }
    for (name, word) in [
      (tokenFile, "TOKEN-FILE"), (url, "URL"), (absolute, "STORE"), (store, "STORE"), (folder, "FOLDER"),
      (host, "HOST"),
    ] {
      if let name, name.count > 1 { text = text.replacing(name, with: word) }
    }
    return text
  }

  /// A file that is there keeps what it holds.
  private func write(_ bytes: [UInt8]) throws {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      guard errno == EEXIST else { throw CommandFailure.unwritable(file) }
      throw TomboloError(
        .fileUnwritable, "There is a file at \(file) already.", remedy: "Name another, or move that one away.")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try handle.write(contentsOf: Data(bytes))
    } catch {
      try? FileManager.default.removeItem(atPath: file)
      throw CommandFailure.unwritable(file)
    }
  }
}
