import Foundation
import TomboloProtocol
import TomboloSimulation

/// `tombolo simulate --replay FILE`
struct BundleReplaying {
  let file: String

  /// - Throws: `file_unreadable`, `damaged_bundle`, `limit_exceeded`; ``CommandStatus`` where the replay ends otherwise.
  func run(in context: CommandContext) throws {
    guard let handle = FileHandle(forReadingAtPath: file) else { throw CommandFailure.unreadable(file) }
    defer { try? handle.close() }
    guard let data = try? handle.read(upToCount: TraceBundle.bytesMax) ?? Data() else {
      throw CommandFailure.unreadable(file)
    }
    let output = context.output
    let bundle = try TraceBundle(decoding: [UInt8](data))
    output.line("schema    \(bundle.schema.title)")
    output.line("values    \(bundle.hasValues ? "kept" : "placeholders")")
    output.line(
      "trace     \(bundle.confirmed.count) confirmed records and pairs, \(bundle.pending.count) waiting and \(bundle.parked.count) refused "
        + "saves, \(bundle.conflicts.count) conflicts")
    for note in bundle.findings where note.severity != "fine" {
      output.line("finding   \(note.severity) \(note.code): \(note.text)")
    }
    do {
      var replay = try TraceReplay(bundle)
      let outcome = try replay.run()
      for sentence in outcome.story { output.line(sentence) }
      guard let difference = outcome.difference else {
        return output.line("The replay ends as the replica was: \(outcome.compared) records and pairs are the same.")
      }
      output.line("The replay ends otherwise: \(difference).")
      throw CommandStatus.negative
    } catch let failure as SimulationFailure {
      output.line("The replay breaks \(failure.invariant.rawValue) (\(failure.invariant)): \(failure.reason)")
      throw CommandStatus.negative
    }
  }
}
