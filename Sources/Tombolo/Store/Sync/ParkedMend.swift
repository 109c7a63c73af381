package import TomboloProtocol

/// Other values for one record in a save that the server refused.
package struct ParkedMend: Sendable {
  package var record: RecordID
  package var values: [String: Value]

  package init(record: RecordID, values: [String: Value]) {
    self.record = record
    self.values = values
  }

  /// The changes of the save with the new values in the place of those that it wrote.
  ///
  /// - Throws: `unknown_record`, if the save neither made nor edited the record; `unknown_attribute`.
  func applied(to changes: [Change], _ schema: StoreSchema) throws -> [Change] {
    var changes = changes
    var isFound = false
    for index in changes.indices {
      switch changes[index] {
      case .create(var create) where create.id == record:
        isFound = true
        for (name, value) in try checked(create.entity, schema) {
          create.fields.removeAll { $0.name == name }
          create.fields.append(Change.InitialField(name: name, value: value, isAssigned: true))
        }
        changes[index] = .create(create)
      case .update(var update) where update.id == record:
        isFound = true
        for (name, value) in try checked(update.entity, schema) {
          update.additions.removeAll { $0.name == name }
          if let place = update.writes.firstIndex(where: { $0.name == name }) {
            update.writes[place].value = value
          } else {
            update.writes.append(Change.FieldWrite(name: name, value: value, base: .zero))
          }
        }
        changes[index] = .update(update)
      default: continue
      }
    }
    guard isFound else {
      throw TomboloError(
        .unknownRecord, "The save neither made nor edited the record \(record).",
        remedy: "'tombolo parked STORE' lists what it did.")
    }
    return changes
  }

  private func checked(_ entity: String, _ schema: StoreSchema) throws -> [(String, Value)] {
    for name in values.keys.sorted() where schema.entity(entity)?.column(name) == nil {
      throw TomboloError(
        .unknownAttribute, "\(entity) has no attribute or reference \(name).",
        remedy: "Name a property as the schema spells it.")
    }
    return values.sorted { $0.key < $1.key }
  }
}

extension [ParkedSave] {
  /// The later saves among these that hang on one: they touch a record that it made, or one that such a save made in turn.
  package func dependents(of save: ParkedSave) -> [ParkedSave] {
    guard let place = firstIndex(where: { $0.changeSet.id == save.changeSet.id }) else { return [] }
    var made = Set(save.changeSet.changes.compactMap(\.created))
    var dependents: [ParkedSave] = []
    for later in self[index(after: place)...] {
      guard later.changeSet.changes.contains(where: { $0.names(anyOf: made) }) else { continue }
      dependents.append(later)
      made.formUnion(later.changeSet.changes.compactMap(\.created))
    }
    return dependents
  }
}
