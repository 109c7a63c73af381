package import Tombolo
package import TomboloProtocol

/// What ``Synchronizer/restore(_:)`` did: which values are back, and which could not be brought back.
public struct RestoredConflict: Hashable, Sendable {
  /// A value, reference or pair of the record.
  public struct Part: Hashable, Sendable {
    /// The attribute or relationship.
    public let property: String
    /// The value as text; the identifier for what a relationship names; nil for no value.
    public let value: String?
    /// Why it could not be restored; nil for one that was.
    public let reason: String?
  }

  /// The record's entity.
  public let entity: String
  /// The record's identifier.
  public let record: String
  /// Whether the record was gone, and is back.
  public let isMadeAnew: Bool
  /// What was written again; for a record that was made anew, everything that it has.
  public let restored: [Part]
  /// What was known and could not be brought back: what a relationship names is not there any more.
  public let notRestored: [Part]
  /// The conflicts that are settled by this and have left the list.
  public let settled: [Conflict.ID]
  /// The whole of it for a person, a line for each thing.
  public let sentences: [String]

  package init(_ restoration: ConflictRestoration, schema: ResolvedSchema) {
    entity = restoration.entity
    record = restoration.record.description
    isMadeAnew = restoration.act == .madeAnew
    restored = restoration.restored.compactMap { Self.part($0, of: restoration.entity, schema) }
    notRestored = restoration.missing.compactMap { Self.part($0, of: restoration.entity, schema) }
    settled = restoration.settled.map(\.description)
    sentences = Self.sentences(restoration, restored, notRestored)
  }

  private static func part(
    _ part: ConflictRestoration.Part, of entity: String, _ schema: ResolvedSchema
  ) -> Part? {
    guard let property = part.property else { return nil }
    if schema.order(property, of: entity) != nil {
      return Part(property: schema.title(of: property, in: entity), value: nil, reason: nil)
    }
    let type = schema.entity(entity)?.attributes.first { $0.name == property }?.type
    return Part(
      property: property, value: ValueText.text(part.value, type: type),
      reason: part.absent.map { "the \($0.entity) \($0.id) is not there" })
  }

  private static func sentences(
    _ restoration: ConflictRestoration, _ restored: [Part], _ missing: [Part]
  ) -> [String] {
    let record = "\(restoration.entity) \(restoration.record)"
    let values = zip(restored, restoration.restored.filter { $0.property != nil }).map { part, raw in
      if part.property != raw.property { return "its \(part.property)" }
      return "\(part.property) \(part.value.map { "“\($0)”" } ?? "no value")"
    }.joined(separator: ", ")
    var lines: [String]
    switch restoration.act {
    case .written: lines = ["Written again in \(record): \(values)."]
    case .stoodAlready: lines = ["\(record) has it already: \(values). Nothing was written."]
    case .madeAnew: lines = ["\(record) is back" + (values.isEmpty ? "." : ": \(values).")]
    case .deleted: lines = ["\(record) is deleted again."]
    case .goneAlready: lines = ["\(record) is not there any more: there was nothing left to delete."]
    }
    for part in missing {
      lines.append("Not restored: \(part.property) “\(part.value ?? "")”, since \(part.reason ?? "it is not there").")
    }
    return lines
  }
}
