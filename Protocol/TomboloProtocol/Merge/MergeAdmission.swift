/// Whether a change set is taken at all: what it writes must be in the schema, and not hang on what was refused.
struct MergeAdmission {
  let changeSet: ChangeSet
  let schema: MergeSchema

  /// A refusal's code and sentence.
  struct Refusal: Error {
    let code: ErrorCode
    let message: String
  }

  /// Every write must be above its base, else the author's clock is wrong.
  var isAboveItsBases: Bool {
    changeSet.changes.allSatisfy { change in
      guard case .update(let update) = change else { return true }
      return update.writes.allSatisfy { changeSet.stamp > $0.base }
    }
  }

  /// The records that the change set creates.
  var created: [RecordID] {
    changeSet.changes.compactMap { if case .create(let create) = $0 { create.id } else { nil } }
  }

  /// The records that it names without creating them: touched, linked or referred to.
  var named: Set<RecordID> {
    var named: Set<RecordID> = []
    for change in changeSet.changes {
      switch change {
      case .create(let create):
        for field in create.fields { insert(field.value, of: create.entity, field.name, into: &named) }
      case .update(let update):
        named.insert(update.id)
        for write in update.writes { insert(write.value, of: update.entity, write.name, into: &named) }
      case .delete(let delete):
        named.insert(delete.id)
        if let survivor = delete.survivor { named.insert(survivor.id) }
      case .link(let link):
        named.insert(link.link.source)
        named.insert(link.link.target)
      }
    }
    return named
  }

  private func insert(_ value: Value, of entity: String, _ name: String, into named: inout Set<RecordID>) {
    guard let target = value.reference, schema.entity(entity)?.field(name)?.reference != nil else { return }
    named.insert(target)
  }

  /// - Throws: ``Refusal`` for what the schema does not have.
  func validate() throws {
    for change in changeSet.changes {
      switch change {
      case .create(let create):
        let entity = try entity(create.entity)
        for field in create.fields { try check(field.value, for: field.name, of: entity) }
      case .update(let update):
        let entity = try entity(update.entity)
        for write in update.writes { try check(write.value, for: write.name, of: entity) }
        for addition in update.additions where entity.field(addition.name)?.policy != .counter {
          throw Refusal(code: .wrongType, message: "\(entity.name).\(addition.name) is not a counter.")
        }
      case .delete(let delete): _ = try entity(delete.entity)
      case .link(let change):
        guard schema.resolved.links[change.link.relationship] != nil else {
          throw Refusal(
            code: .unknownRelationship, message: "The schema has no relationship \(change.link.relationship).")
        }
      }
    }
  }

  private func entity(_ name: String) throws -> MergeSchema.Entity {
    guard let entity = schema.entity(name) else {
      throw Refusal(code: .unknownEntity, message: "The schema has no entity \(name).")
    }
    return entity
  }

  private func check(_ value: Value, for name: String, of entity: MergeSchema.Entity) throws {
    guard let field = entity.field(name) else {
      throw Refusal(code: .unknownAttribute, message: "The schema has no attribute \(entity.name).\(name).")
    }
    guard field.admits(value) else {
      throw Refusal(code: .wrongType, message: "The value for \(entity.name).\(name) has another type than the schema.")
    }
  }
}

extension MergeSchema.Field {
  /// Whether a value has the storage class of its attribute.
  package func admits(_ value: Value) -> Bool { value.fits(type) }
}

extension Value {
  /// Whether the value has the storage class of a type; nil is a reference's. Nil fits: a consequence may have left nothing
  /// else.
  package func fits(_ type: AttributeType?) -> Bool {
    guard let type else {
      if case .blob(let bytes) = self { return bytes.count == 16 }
      return isNull
    }
    switch (self, type) {
    case (.null, _): return true
    case (.integer, .bool), (.integer, .int8), (.integer, .int16), (.integer, .int32), (.integer, .int64),
      (.integer, .uint8), (.integer, .uint16), (.integer, .uint32), (.integer, .uint64):
      return true
    case (.real, .float), (.real, .double), (.real, .date): return true
    case (.text, .decimal), (.text, .string), (.text, .url), (.text, .codable): return true
    case (.blob, .data), (.blob, .uuid): return true
    default: return false
    }
  }
}
