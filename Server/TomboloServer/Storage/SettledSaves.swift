package import TomboloProtocol
import TomboloSQLite

/// What a store's file of a server says about saves, read beside a daemon or after its end, and without changing anything.
package struct SettledSaves {
  private let connection: Connection

  /// - Throws: SQLite's error where there is no such file.
  package init(directory: String, store: String) throws {
    try StoreName.validate(store)
    var options = Connection.Options()
    options.isReadOnly = true
    connection = try Connection(path: "\(directory)/stores/\(store).sqlite", options: options)
  }

  /// The verdict on a save and the stamp under which it was given; nil for one that never came, or that was forgotten.
  package func verdict(on save: SaveID) throws -> (verdict: PushAnswer.Verdict, stamp: Stamp)? {
    let query = try connection.cached("SELECT verdict, stamp FROM save WHERE id = ?1")
    query.bind(save.record, at: 1)
    defer { query.reset() }
    guard try query.step() else { return nil }
    return (try VerdictCoding.verdict(query.bytes(0)), try VerdictCoding.stamp(query.bytes(1)))
  }

  /// What SQLite's own check of the whole file finds; empty for a sound one.
  package func faults() throws -> [String] {
    let check = try connection.prepare("PRAGMA integrity_check")
    var faults: [String] = []
    while try check.step() { faults.append(check.string(0)) }
    return faults == ["ok"] ? [] : faults
  }
}
