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
  /// The attribute or relationship; nil where the whole record is concerned. A place in an ordered to-many has the name
  /// of the reference to the owner, and no values.
  public let property: String?
  /// The rule by which the write does not stand, as `later_edit`.
  public let rule: String
  /// The value that was written, as text; nil for no value.
  public let lost: String?
  /// The value that stands, as text; nil for no value, or where nothing stands.
  public let standing: String?
  /// The value that was there before, as text; nil for no value, and where this replica no longer has it.
  public let base: String?
  /// When the value that stands was written; nil where nothing stands.
  public let standingAt: Date?
  /// The replica that wrote the value that stands: sixteen hexadecimal digits; nil where nothing stands.
  public let standingReplica: String?
  /// When the write that does not stand was made.
  public let lostAt: Date
  /// Whether the value that stands was written on another replica.
  public let isFromAnotherReplica: Bool
  /// Whether what was lost is there again: the record came back with it, or somebody wrote the same later.
  public let standsAgain: Bool
  /// The whole of it for a person.
  public let sentence: String

  package init(
    _ entry: ConflictEntry, schema: ResolvedSchema, name: String? = nil, base: Value? = nil, standsAgain: Bool
  ) {
    let wording = ConflictWording(entry, schema: schema, name: name, standsAgain: standsAgain)
    self.standsAgain = standsAgain
    id = entry.id.description
    entity = entry.entity
    record = entry.record.description
    property = wording.property
    rule = entry.rule.rawValue
    lost = wording.lost
    standing = wording.standing
    let type = schema.entity(entry.entity)?.attributes.first { $0.name == entry.field }?.type
    self.base =
      schema.order(entry.field, of: entry.entity) == nil ? base.flatMap { ValueText.text($0, type: type) } : nil
    standingAt = entry.standing.map { Self.date($0.stamp) }
    standingReplica = entry.standing?.stamp.replica.description
    lostAt = Self.date(entry.lost.stamp)
    isFromAnotherReplica = entry.standing.map { $0.stamp.replica != entry.replica } ?? true
    sentence = wording.sentence
  }

  private static func date(_ stamp: Stamp) -> Date {
    Date(timeIntervalSince1970: Double(stamp.clock.milliseconds) / 1_000)
  }
}
