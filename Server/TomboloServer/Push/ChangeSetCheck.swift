import TomboloProtocol

/// Whether the values of a change set are what their attributes may hold: a faulty client must not poison the others.
///
/// What the schema does not have at all is refused by the merge.
struct ChangeSetCheck {
  let schema: MergeSchema
  let recordBytesMax: Int

  /// The change set with every value in its one form; most often the same.
  /// - Throws: ``TomboloError`` with the reason for which the save is refused.
  func normalized(_ changeSet: ChangeSet) throws -> ChangeSet {
    var result = changeSet
    for (index, change) in changeSet.changes.enumerated() {
      switch change {
      case .create(var create):
        try checkSize(create.fields.reduce(0) { $0 + $1.value.byteCount }, of: create.entity)
        guard let entity = schema.entity(create.entity) else { continue }
        var differs = false
        for place in create.fields.indices {
          let field = create.fields[place]
          // What nobody assigned may be absent where the schema wants a value: an older writer knew no default.
          if field.value.isNull, !field.isAssigned, entity.field(field.name)?.reference == nil { continue }
          guard let normal = try replacement(for: field.value, of: field.name, in: entity) else { continue }
          create.fields[place].value = normal
          differs = true
        }
        if differs { result.changes[index] = .create(create) }
      case .update(var update):
        try checkSize(update.writes.reduce(0) { $0 + $1.value.byteCount }, of: update.entity)
        guard let entity = schema.entity(update.entity) else { continue }
        var differs = false
        for place in update.writes.indices {
          let write = update.writes[place]
          guard let normal = try replacement(for: write.value, of: write.name, in: entity) else { continue }
          update.writes[place].value = normal
          differs = true
        }
        if differs { result.changes[index] = .update(update) }
      case .delete, .link: break
      }
    }
    return result
  }

  private func checkSize(_ bytes: Int, of entity: String) throws {
    guard bytes <= recordBytesMax else {
      throw TomboloError(
        .recordTooLarge, "A record of \(entity) has more than \(recordBytesMax) bytes.",
        remedy: "Keep large values outside of the record.")
    }
  }

  /// The value's one form where it differs from the value.
  private func replacement(for value: Value, of name: String, in entity: MergeSchema.Entity) throws -> Value? {
    guard let field = entity.field(name) else { return nil }
    guard let type = field.type else {
      guard field.isOptional || !value.isNull else {
        throw TomboloError(
          .requiredReference, "\(entity.name).\(name) is required and names no record.",
          remedy: "Give the record \(name.withArticle), and send the save again.")
      }
      return nil
    }
    if value.isNull {
      guard field.isOptional else {
        throw TomboloError(.requiredAttribute, "\(entity.name).\(name) is required and has no value.")
      }
      return nil
    }
    // The common cases cost nothing; a message's name is put together only for a message.
    switch (value, type) {
    case (.text, .string), (.text, .url), (.text, .codable), (.blob, .data), (.integer, .int64): return nil
    default:
      let normal = try ValueRules.normalized(value, as: type, named: "\(entity.name).\(name)")
      return normal == value ? nil : normal
    }
  }
}
