/// A record as one side has it: the confirmed state, or what a reader sees of it.
package struct RecordImage: Hashable, Sendable {
  package var entity: String
  package var incarnation: Stamp
  /// Attributes and references by name; references before targets are looked at.
  package var fields: [String: FieldMerge.Version]

  package init(entity: String, incarnation: Stamp, fields: [String: FieldMerge.Version]) {
    self.entity = entity
    self.incarnation = incarnation
    self.fields = fields
  }
}

/// How a replica's unconfirmed saves lie over what complete pulls brought: the same fold as the server's.
///
/// Each function gives what a reader sees after one change of a save; nothing is ever folded into the confirmed state.
package enum Overlay {
  /// A create hides an earlier life of the record, and is hidden by a later one.
  package static func lay(
    _ create: Change.Create, stamp: Stamp, over image: RecordImage?, entity: MergeSchema.Entity
  ) -> RecordImage? {
    if let image, stamp <= image.incarnation { return image }
    var fields: [String: FieldMerge.Version] = [:]
    for field in entity.fields { fields[field.name] = FieldMerge.Version(value: field.absent, stamp: .zero) }
    for field in create.fields {
      fields[field.name] = FieldMerge.Version(value: field.value, stamp: field.isAssigned ? stamp : .zero)
    }
    return RecordImage(entity: create.entity, incarnation: stamp, fields: fields)
  }

  /// - Parameter isAlias: the update names a record that was merged into this one: its incarnation is not this one's.
  package static func lay(
    _ update: Change.Update, stamp: Stamp, over image: RecordImage?, isAlias: Bool, entity: MergeSchema.Entity
  ) -> RecordImage? {
    guard var image, isAlias || image.incarnation == update.incarnation else { return image }
    for write in update.writes {
      guard let field = entity.field(write.name) else { continue }
      let current = image.fields[field.name] ?? FieldMerge.Version(value: field.absent, stamp: .zero)
      let new = FieldMerge.Version(value: write.value, stamp: stamp)
      image.fields[field.name] = FieldMerge.fold(field.policy, of: field.type, current, new)
    }
    for addition in update.additions {
      guard let field = entity.field(addition.name) else { continue }
      let current = image.fields[field.name] ?? FieldMerge.Version(value: field.absent, stamp: .zero)
      image.fields[field.name] = FieldMerge.Version(
        value: CounterMerge.sum(current.value, addition.delta), stamp: max(current.stamp, stamp))
    }
    return image
  }

  /// A delete hides only the incarnation that it names.
  package static func lay(_ delete: Change.Delete, over image: RecordImage?, isAlias: Bool) -> RecordImage? {
    guard let image, isAlias || image.incarnation == delete.incarnation else { return image }
    return nil
  }

  /// A reference as a reader gets it: through aliases, nil where the target is not there or where a tree would name itself.
  package static func shown(
    _ version: FieldMerge.Version, in record: RecordID, isAcyclic: Bool, resolve: (RecordID) throws -> RecordID,
    isVisible: (RecordID) throws -> Bool
  ) rethrows -> FieldMerge.Version {
    guard let named = version.value.reference else { return version }
    let target = try resolve(named)
    if try isAcyclic && target == record || !isVisible(target) {
      return FieldMerge.Version(value: .null, stamp: version.stamp.consequence)
    }
    if target == named { return version }
    return FieldMerge.Version(value: Value(reference: target), stamp: version.stamp.consequence)
  }
}
