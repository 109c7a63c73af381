import TomboloProtocol

/// Tells what happens in sentences, with a short name for each record: "Note 2" is the second note that was mentioned.
struct Narrator {
  private var names: [RecordID: String] = [:]
  private var counts: [String: Int] = [:]

  mutating func name(_ id: RecordID, _ entity: String) -> String {
    if let known = names[id] { return known }
    let number = counts[entity, default: 0] + 1
    counts[entity] = number
    let name = "\(entity) \(number)"
    names[id] = name
    return name
  }

  func known(_ id: RecordID) -> String { names[id] ?? id.short }

  mutating func sentence(_ operation: Operation) -> String {
    switch operation {
    case .insert(let entity, let id, let values):
      let list = list(values, separator: ": ")
      return "inserts \(name(id, entity))" + (list.isEmpty ? "" : " (\(list))")
    case .update(let entity, let id, let values):
      let name = name(id, entity)
      return values.sorted { $0.key < $1.key }
        .map { "sets \(name).\($0.key) to \(text($0.value))" }.joined(separator: ", ")
    case .delete(let entity, let id): return "deletes \(name(id, entity))"
    case .link(let key): return "links \(known(key.source)) and \(known(key.target)) (\(key.relationship))"
    case .unlink(let key): return "unlinks \(known(key.source)) and \(known(key.target)) (\(key.relationship))"
    }
  }

  private func list(_ values: [String: Value], separator: String) -> String {
    values.sorted { $0.key < $1.key }.map { "\($0.key)\(separator)\(text($0.value))" }.joined(separator: ", ")
  }

  func text(_ value: Value) -> String {
    switch value {
    case .null: "nil"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value): "“\(value)”"
    case .blob(let bytes): value.reference.map(known) ?? "\(bytes.count) bytes"
    }
  }

  /// Puts the short names in the place of the identifiers that a checker names.
  func retold(_ text: String) -> String {
    var text = text
    for (id, name) in names.sorted(by: { $0.key < $1.key }) {
      let entity = name.prefix { $0 != " " }
      text = text.replacing("\(entity) \(id.short)", with: name).replacing(id.short, with: name)
    }
    return text
  }

  static func list(_ parts: [String]) -> String {
    parts.count < 2 ? parts.joined() : parts.dropLast().joined(separator: ", ") + " and " + parts[parts.count - 1]
  }
}
