public import Foundation
package import TomboloProtocol

/// A write that somebody made on this replica and that does not stand.
public struct Conflict: Hashable, Sendable, Identifiable {
  /// Names the entry, here and on the server.
  public let id: String
  /// The record's entity.
  public let entity: String
  /// The record's identifier.
  public let record: String
  /// The attribute or relationship; nil where the whole record is concerned.
  public let property: String?
  /// The rule by which the write does not stand, as `later_edit`.
  public let rule: String
  /// The value that was written, as text; nil for no value.
  public let lost: String?
  /// The value that stands, as text; nil for no value, or where nothing stands.
  public let standing: String?
  /// When the write that does not stand was made.
  public let lostAt: Date
  /// Whether the value that stands was written on another replica.
  public let isFromAnotherReplica: Bool
  /// The whole of it for a person.
  public let sentence: String

  package init(_ entry: ConflictEntry, schema: ResolvedSchema, name: String? = nil) {
    let wording = ConflictWording(entry, schema: schema, name: name)
    id = entry.id.description
    entity = entry.entity
    record = entry.record.description
    property = entry.field
    rule = entry.rule.rawValue
    lost = wording.lost
    standing = wording.standing
    lostAt = Date(timeIntervalSince1970: Double(entry.lost.stamp.clock.milliseconds) / 1_000)
    isFromAnotherReplica = entry.standing.map { $0.stamp.replica != entry.replica } ?? true
    sentence = wording.sentence
  }
}
