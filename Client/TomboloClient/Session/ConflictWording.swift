package import TomboloProtocol

/// A conflict entry in plain words.
package struct ConflictWording: Sendable {
  /// The value that was written, as a person reads it; nil for no value.
  package let lost: String?
  package let standing: String?
  package let sentence: String
  /// The attribute or relationship; of a place in a list the reference to the owner.
  package let property: String?

  /// - Parameters:
  ///   - name: what a person calls the record, where it has something to be recognised by.
  ///   - standsAgain: whether what was lost is there again, which the sentence says.
  package init(_ entry: ConflictEntry, schema: ResolvedSchema, name: String? = nil, standsAgain: Bool = false) {
    let number = entry.record.description.prefix(13)
    let record =
      name.map { "\(entry.entity) \(Self.quoted($0)) (\(number))" } ?? "\(entry.entity) \(number)"
    self.init(entry, schema: schema, record: record, standsAgain: standsAgain)
  }

  /// - Parameters:
  ///   - record: what the sentence calls the record.
  ///   - isDated: whether the sentence says by which replica and when its write was overridden.
  ///   - standsAgain: whether what was lost is there again.
  package init(
    _ entry: ConflictEntry, schema: ResolvedSchema, record: String, isDated: Bool = true, standsAgain: Bool = false
  ) {
    let property = ConflictProperty(entry, in: schema)
    // The bytes of a position tell a person nothing.
    let isPlace = property.place != nil
    lost = isPlace ? nil : ValueText.text(entry.lost.value, type: property.type)
    standing = isPlace ? nil : entry.standing.flatMap { ValueText.text($0.value, type: property.type) }
    self.property = entry.property(in: schema)
    let by = isDated ? Self.author(entry) : nil
    let words = ConflictSentence(
      entry: entry, property: property, record: record, lost: Self.shown(entry.lost.value, property),
      standing: Self.shown(entry.standing?.value ?? .null, property), by: by ?? "elsewhere")
    sentence = words.text + (standsAgain ? " It stands again." : "")
  }

  /// Long values are cut: the sentence is for reading, the JSON has the whole.
  private static func quoted(_ text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    return "“" + (line.count > 60 ? line.prefix(59) + "…" : line[...]) + "”"
  }

  private static func shown(_ value: Value, _ property: ConflictProperty) -> String {
    if property.place != nil { return "another place" }
    if let destination = property.destination {
      return value.reference.map { "\(destination) \($0.description.prefix(13))" } ?? "none"
    }
    return ValueText.text(value, type: property.type).map(quoted) ?? "no value"
  }

  /// `by replica 0123456789abcdef (2026-11-30T16:12:43Z)`; nil where nobody is known.
  private static func author(_ entry: ConflictEntry) -> String? {
    guard let stamp = entry.standing?.stamp, !stamp.isZero else { return nil }
    let seconds = (Double(stamp.clock.milliseconds) / 1_000).rounded(.down) - 978_307_200
    let who = stamp.replica == entry.replica ? "here" : "by replica \(stamp.replica)"
    return "\(who) (\(DateText.text(seconds: seconds)))"
  }
}

extension ConflictEntry {
  /// The attribute or relationship that it is about, as its class declares it.
  package func property(in schema: ResolvedSchema) -> String? {
    schema.order(field, of: entity)?.reference ?? field
  }
}

/// What the schema says of the property that an entry names.
struct ConflictProperty {
  let name: String?
  let type: AttributeType?
  let isCounter: Bool
  /// What a reference or a pair names.
  let destination: String?
  let isPair: Bool
  /// For a position in an ordered list: the list, as `Folder.notes`.
  let place: String?

  init(_ entry: ConflictEntry, in schema: ResolvedSchema) {
    let entity = schema.entity(entry.entity)
    let attribute = entity?.attributes.first { $0.name == entry.field }
    let link = entity?.links.first { $0.name == entry.field }
    name = entry.field
    type = attribute?.type
    isCounter = attribute?.merge == .counter
    isPair = link != nil
    place = schema.order(entry.field, of: entry.entity).map { "\($0.owner).\($0.list)" }
    destination =
      link.flatMap { link in schema.links[link.key].map { link.isSource ? $0.target : $0.source } }
      ?? entity?.references.first { $0.name == entry.field }?.destination
  }
}
