import Tombolo
import TomboloProtocol

extension RecordExplanation {
  func show(in output: Output) {
    output.line("\(facts.entity ?? entity.name) \(name.map { "“\(TextTable.shown($0))” " } ?? "")\(facts.id)")
    for sentence in sentences { output.line(sentence) }
    if !facts.fields.isEmpty {
      output.line()
      // The reason is a sentence: a table would cut it.
      let width = facts.fields.map(\.name.count).max() ?? 0
      for field in facts.fields {
        let gap = String(repeating: " ", count: width - field.name.count + 2)
        let value = text(field.value, of: field.name).map(TextTable.shown) ?? "—"
        output.line("  \(field.name)\(gap)\(value)  (\(reason(field)))")
      }
    }
    for place in facts.places {
      output.line("\(place.list) \(place.owner): place \(place.number) of \(place.count)  (\(reason(place)))")
    }
    for pair in facts.pairs {
      let when = stamps.text(pair.stamp) ?? "before there was a server"
      output.line("\(pair.relationship) \(pair.other): \(pair.isPresent ? "linked" : "parted") \(when)")
    }
  }

  var json: JSONText {
    .object([
      ("entity", .optional(facts.entity)), ("id", .string(facts.id.description)), ("fate", .string(fate.rawValue)),
      ("standing", .string(facts.standing.description)), ("isShown", .bool(facts.isShown)),
      ("aliases", .array(facts.aliases.map { .string($0.description) })),
      ("created", facts.incarnation.map(stamps.json) ?? .null), ("sentences", .array(sentences.map { .string($0) })),
      ("fields", .array(facts.fields.map(fieldJSON))), ("places", .array(facts.places.map(placeJSON))),
      ("pairs", .array(facts.pairs.map(pairJSON))),
      ("pending", .array(facts.pending.map(partJSON))),
      ("parked", .array(facts.parked.map { ParkedCommand.json($0, among: facts.parked, schema.resolved) })),
      ("conflicts", .array(facts.conflicts.map(entryJSON))), ("aside", .array(facts.aside.map(asideJSON))),
      ("deletion", facts.tombstone.map(tombstoneJSON) ?? .null), ("server", serverJSON),
    ])
  }

  private func fieldJSON(_ field: RecordFacts.Field) -> JSONText {
    .object([
      ("name", .string(field.name)), ("value", valueJSON(field.value, of: field.name)),
      ("state", .string(Self.state(field, hasRemote: facts.hasRemote))), ("stamp", stamps.json(field.stamp)),
      ("confirmed", field.confirmed.map { versionJSON($0, of: field.name) } ?? .null),
      ("kept", field.kept.map { versionJSON($0, of: field.name) } ?? .null), ("why", .string(reason(field))),
    ])
  }

  private func versionJSON(_ version: FieldMerge.Version, of name: String) -> JSONText {
    .object([("value", valueJSON(version.value, of: name)), ("stamp", stamps.json(version.stamp))])
  }

  private func valueJSON(_ value: Value, of name: String) -> JSONText {
    guard let column = (facts.entity.flatMap(schema.entity) ?? entity).column(name) else {
      return .optional(text(value, of: name))
    }
    return RecordRow.json(value, column)
  }

  private func placeJSON(_ place: RecordFacts.Place) -> JSONText {
    .object([
      ("list", .string(place.list)), ("owner", .string(place.owner.description)), ("place", .number(place.number)),
      ("count", .number(place.count)), ("isPending", .bool(place.isPending)), ("stamp", stamps.json(place.stamp)),
      ("why", .string(reason(place))),
    ])
  }

  private func pairJSON(_ pair: RecordFacts.Pair) -> JSONText {
    .object([
      ("relationship", .string(pair.relationship)), ("other", .string(pair.other.description)),
      ("isPresent", .bool(pair.isPresent)), ("stamp", stamps.json(pair.stamp)),
    ])
  }

  private func partJSON(_ part: RecordFacts.PendingPart) -> JSONText {
    .object([
      ("save", .integer(Int64(clamping: part.save.rawValue))), ("state", .string(part.state.rawValue)),
      ("kind", .string("\(part.kind)")), ("properties", .array(part.properties.map { .string($0) })),
      ("fallen", .array(part.fallen.map { .string($0) })), ("fellWhole", .bool(part.fellWhole)),
      ("isHidden", .bool(part.isHidden)), ("root", .optional(part.root?.description)),
    ])
  }

  private func entryJSON(_ entry: ConflictEntry) -> JSONText {
    .object([
      ("id", .string(entry.id.description)), ("rule", .string(entry.rule.rawValue)),
      ("property", .optional(entry.field)),
      ("lost", .optional(entry.field.flatMap { text(entry.lost.value, of: $0) })),
      ("lostStamp", stamps.json(entry.lost.stamp)),
      ("standing", .optional(entry.field.flatMap { name in entry.standing.flatMap { text($0.value, of: name) } })),
      ("standingStamp", entry.standing.map { stamps.json($0.stamp) } ?? .null),
    ])
  }

  private func asideJSON(_ field: FieldState) -> JSONText {
    .object([("name", .string(field.name)), ("stamp", stamps.json(field.stamp))])
  }

  private func tombstoneJSON(_ tombstone: Tombstone) -> JSONText {
    .object([
      ("survivor", .optional(tombstone.survivor?.id.description)), ("stamp", stamps.json(tombstone.stamp)),
      (
        "causes",
        .array(
          tombstone.causes.map {
            .object([("root", .string($0.root.description)), ("stamp", stamps.json($0.stamp))])
          })
      ),
    ])
  }

  private var serverJSON: JSONText {
    switch server?.record {
    case nil: return .null
    case .failure(let error):
      return .object([("state", .string("unreachable")), ("code", .string(error.code.rawValue))])
    case .success(.unknown): return .object([("state", .string("unknown"))])
    case .success(.tombstone(let tombstone)):
      return .object([("state", .string("deleted")), ("deletion", tombstoneJSON(tombstone))])
    case .success(.record(let state)):
      return .object([
        ("state", .string("living")),
        (
          "fields",
          .array(
            state.fields.map { field in
              .object([
                ("name", .string(field.name)), ("value", valueJSON(field.value, of: field.name)),
                ("stamp", stamps.json(field.stamp)),
              ])
            })
        ),
      ])
    }
  }
}
