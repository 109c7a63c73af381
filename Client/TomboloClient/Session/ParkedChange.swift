public import Foundation
package import Tombolo
public import TomboloProtocol

/// A save that the server refused for good. What it wrote is kept here and is no longer shown.
public struct ParkedChange: Hashable, Sendable, Identifiable {
  /// The save's number, as `tombolo parked` shows it.
  public let id: UInt64
  /// Why it was refused.
  public let code: ErrorCode
  /// The server's sentence.
  public let message: String
  /// The author that the context gave it, if any.
  public let author: String?
  /// When it was saved.
  public let savedAt: Date
  /// What it did, in order.
  public let edits: [Edit]
  /// The numbers of the refused saves that touch what this one made: they are to be retried, or discarded, after it.
  public let dependents: [UInt64]

  /// One record's or one link's part in the save.
  public struct Edit: Hashable, Sendable {
    /// What was done.
    public enum Kind: String, Hashable, Sendable {
      /// A record was made.
      case insert
      /// Values of a record were changed.
      case update
      /// A record was deleted.
      case delete
      /// Two records were linked.
      case link
      /// Two records were parted.
      case unlink
    }
    /// What was done.
    public let kind: Kind
    /// The record's entity; for a link its relationship, as `Note.tags`.
    public let entity: String
    /// The record's identifier.
    public let record: String
    /// What was written, in order.
    public let values: [Written]
  }

  /// A value that was written.
  public struct Written: Hashable, Sendable {
    /// The attribute or relationship.
    public let name: String
    /// The value as text, a counter's change with its sign; nil for no value.
    public let value: String?
  }

  package init(_ save: ParkedSave, among saves: [ParkedSave], schema: ResolvedSchema) {
    id = save.changeSet.number.rawValue
    code = save.code
    message = save.message
    author = save.changeSet.author
    savedAt = Date(timeIntervalSince1970: Double(save.changeSet.stamp.clock.milliseconds) / 1_000)
    edits = save.changeSet.changes.map { Edit($0, schema) }
    dependents = saves.dependents(of: save).map(\.changeSet.number.rawValue)
  }
}

extension ParkedChange.Edit {
  init(_ change: Change, _ schema: ResolvedSchema) {
    entity = change.entity
    func written(_ name: String, _ value: Value) -> ParkedChange.Written {
      let type = schema.entity(change.entity)?.attributes.first { $0.name == name }?.type
      if schema.order(name, of: change.entity) != nil {
        return ParkedChange.Written(name: schema.title(of: name, in: change.entity), value: nil)
      }
      return ParkedChange.Written(name: name, value: ValueText.text(value, type: type))
    }
    switch change {
    case .create(let create):
      kind = .insert
      record = create.id.description
      values = create.fields.filter(\.isAssigned).map { written($0.name, $0.value) }
    case .update(let update):
      kind = .update
      record = update.id.description
      values =
        update.writes.map { written($0.name, $0.value) }
        + update.additions.map { .init(name: $0.name, value: ($0.delta < 0 ? "" : "+") + String($0.delta)) }
    case .delete(let delete):
      kind = .delete
      record = delete.id.description
      values = []
    case .link(let link):
      kind = link.isPresent ? .link : .unlink
      record = link.link.source.description
      values = [.init(name: "target", value: link.link.target.description)]
    }
  }
}
