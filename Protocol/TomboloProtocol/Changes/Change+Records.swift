extension Change {
  /// Whether one of the records is what it is about, or is referred to by a value that it writes.
  package func names(anyOf records: Set<RecordID>) -> Bool {
    let values: [Value]
    switch self {
    case .create(let create): values = create.fields.map(\.value)
    case .update(let update): values = update.writes.map(\.value)
    case .delete: values = []
    case .link(let change): return records.contains(change.link.source) || records.contains(change.link.target)
    }
    return record.map(records.contains) == true || values.contains { $0.reference.map(records.contains) == true }
  }

  /// The record it is about; nil for a link.
  package var record: RecordID? {
    switch self {
    case .create(let create): create.id
    case .update(let update): update.id
    case .delete(let delete): delete.id
    case .link: nil
    }
  }

  /// The record that it makes, for a create.
  package var created: RecordID? {
    if case .create(let create) = self { create.id } else { nil }
  }

  /// The record's entity, or the relationship of a link.
  package var entity: String {
    switch self {
    case .create(let create): create.entity
    case .update(let update): update.entity
    case .delete(let delete): delete.entity
    case .link(let link): link.link.relationship
    }
  }
}
