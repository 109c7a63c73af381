/// One thing that an examination of a replica found out, good or bad.
package struct Finding: Hashable, Sendable {
  package enum Severity: String, Hashable, Sendable, CaseIterable {
    /// As it should be.
    case fine
    /// Worth knowing; nothing is wrong.
    case notice
    /// Works, and will not for long, or not as somebody expects.
    case warning
    /// Something does not work, or is damaged.
    case problem
  }

  package var severity: Severity
  package var code: FindingCode
  /// One sentence.
  package var text: String
  /// What to do; empty where nothing is to be done.
  package var remedy: String

  package init(_ severity: Severity, _ code: FindingCode, _ text: String, remedy: String = "") {
    self.severity = severity
    self.code = code
    self.text = text
    self.remedy = remedy
  }
}

/// What was looked at. The raw values are stable: scripts use them.
package enum FindingCode: String, Hashable, Sendable, CaseIterable {
  /// The file is there, can be read and written, and is a store of a known format.
  case file
  /// Room on the disk, the log beside the file, pages that hold nothing.
  case space
  /// SQLite's own check of the whole file, constraints included.
  case integrity
  /// The schema document inside, its version, the rules of sync.
  case schema
  /// Tables, columns, indexes and checks are those of the schema.
  case tables
  /// Full-text indexes have the words of the records.
  case search
  /// Trees have every record in its place.
  case trees
  /// Large values outside of their rows belong to a record.
  case external
  /// The triggers that notice what other programs write.
  case triggers
  /// Writes of other programs that no save has recorded so far.
  case shellWrites = "shell_writes"
  /// Each row's stamps can be read.
  case stamps
  /// References, unique keys, one-to-one claims, trees and pairs hold what the schema promises.
  case rules
  /// Aliases lead to one record each.
  case aliases
  /// The queue of saves: numbers, changes, values to send.
  case queue
  /// The cursor, and pages of a pull under way.
  case cursor
  /// Conflicts, parked saves, tombstones and what is set aside can be read.
  case bodies
  /// The kept checksum is that of the rows.
  case checksum
  /// Saves that the server refused.
  case parked
  /// What this schema does not know.
  case aside
  /// Saves that are not sent.
  case unsent
  /// This machine's clock.
  case clock
  /// The remote that the store names.
  case remote
  /// The token's file, and whether the server takes the token.
  case token
  /// Whether the server answers.
  case server
  /// What the token permits.
  case role
  /// The life of the server's store, and its feed.
  case epoch
  /// The schema versions that the server knows.
  case serverSchema = "server_schema"
  /// The server's checksum beside this replica's.
  case serverChecksum = "server_checksum"
}
