package import TomboloProtocol

/// A conflict entry in plain words.
package struct ConflictWording: Sendable {
  /// The value that was written, as a person reads it; nil for no value.
  package let lost: String?
  package let standing: String?
  package let sentence: String

  /// - Parameter name: what a person calls the record, where it has something to be recognised by.
  package init(_ entry: ConflictEntry, schema: ResolvedSchema, name: String? = nil) {
    let number = entry.record.description.prefix(13)
    let record =
      name.map { "\(entry.entity) \(Self.quoted($0)) (\(number))" } ?? "\(entry.entity) \(number)"
    self.init(entry, schema: schema, record: record)
  }

  /// - Parameter record: what the sentence calls the record.
  package init(_ entry: ConflictEntry, schema: ResolvedSchema, record: String) {
    let attribute = entry.field.flatMap { Self.attribute($0, of: entry.entity, in: schema) }
    let type = attribute?.type
    let lost = ValueText.text(entry.lost.value, type: type)
    let standing = entry.standing.flatMap { ValueText.text($0.value, type: type) }
    self.lost = lost
    self.standing = standing
    if attribute?.merge == .counter, case .integer(let delta) = entry.lost.value {
      sentence = Self.addition(delta, entry, record: record)
      return
    }
    sentence = Self.sentence(entry, record: record, lost: Self.quoted(lost), standing: Self.quoted(standing))
  }

  private static func attribute(_ name: String, of entity: String, in schema: ResolvedSchema) -> SchemaAttribute? {
    schema.entity(entity)?.attributes.first { $0.name == name }
  }

  /// Long values are cut: the sentence is for reading, the JSON has the whole.
  private static func quoted(_ text: String?) -> String {
    guard let text else { return "no value" }
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    return "“" + (line.count > 60 ? line.prefix(59) + "…" : line[...]) + "”"
  }

  /// What a counter lost is what somebody added, not what it then was.
  private static func addition(_ delta: Int64, _ entry: ConflictEntry, record: String) -> String {
    let change = "Your change of \(entry.field ?? "a counter") of \(record) by \(delta < 0 ? "" : "+")\(delta)"
    switch entry.rule {
    case .recordDeleted:
      return "\(change) was lost: the record had been deleted elsewhere by somebody who had not seen it."
    case .recordGone:
      return "\(change) was lost: the server no longer knows this record, or knows a later one with its identity."
    case .parentDeleted: return "\(change) was lost: the record that it belongs to was deleted elsewhere."
    default: return "\(change) does not stand (\(entry.rule.rawValue))."
    }
  }

  private static func sentence(_ entry: ConflictEntry, record: String, lost: String, standing: String) -> String {
    let place = entry.field.map { "\($0) of \(record)" } ?? record
    let yours = entry.field.map { "Your \($0) \(lost) of \(record)" } ?? "Your change of \(record)"
    switch entry.rule {
    case .laterEdit:
      return "\(yours) gave way to \(standing), which was written later elsewhere."
    case .extremum:
      return "\(yours) gave way to \(standing): the attribute is declared to keep the extreme value."
    case .firstWriter:
      return "\(yours) gave way to \(standing): the attribute is declared to keep the first value."
    case .recordDeleted:
      return "\(yours) was lost: the record had been deleted elsewhere by somebody who had not seen it."
    case .recordGone:
      return "\(yours) was lost: the server no longer knows this record, or knows a later one with its identity."
    case .overwrittenIncarnation:
      return "\(yours) was lost: the record was deleted and created again elsewhere."
    case .parentDeleted:
      return "\(yours) was lost: the record that it belongs to was deleted elsewhere."
    case .targetDeleted:
      return "Your \(entry.field ?? "reference") of \(record) is empty: the record that it named was deleted elsewhere."
    case .deny:
      return "Your deletion of \(record) was undone: another record refers to it, and the rule is to deny that."
    case .editWins:
      return "Your deletion of \(record) was undone: somebody had edited it, and edits win in this entity."
    case .mergeUnseen:
      return "Your deletion of \(record) was undone: it had been merged with another record that you had not seen."
    case .uniqueMerge:
      return "\(yours) gave way to \(standing): two records had the same unique value and became one."
    case .oneToOne:
      return "Your \(place) is empty: another record claimed the same partner later."
    case .cycle:
      return "Your move of \(record) was undone: together with a move made elsewhere it closed a cycle."
    case .reupload:
      return "\(yours) gave way to \(standing), which was written after the server had been restored."
    case .repaired:
      let value = "The \(entry.field ?? "value") \(lost) of \(record)"
      return entry.standing == nil
        ? "\(value) was taken out in a repair: the server did not have it."
        : "\(value) gave way to \(standing) in a repair: this replica differed from the server."
    default:
      return "\(yours) does not stand (\(entry.rule.rawValue)); what stands is \(standing)."
    }
  }
}
