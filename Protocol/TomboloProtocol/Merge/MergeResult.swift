/// What a finished merge hands to the caller.
extension MergeSession {
  func collect(into effects: inout MergeEffects) throws {
    effects.records.reserveCapacity(changed.count)
    for id in changed.sorted() {
      guard let record = try record(id) else { continue }
      let before = try original(id)
      let entity = try entity(of: record)
      var found = MergeEffects.ChangedRecord(
        record: record, uniqueKeys: try uniqueKeys(of: record), references: references(of: record, entity))
      found.isNew = before == nil
      if let before, before.entity == record.entity {
        // Whether a key still says the same is not asked: what it reads may have changed elsewhere.
        found.changesKeys = !entity.keys.isEmpty
        found.changesReferences = found.references != references(of: before, entity)
        found.changesCauses = before.causes != record.causes
      }
      effects.records.append(found)
      try addChecksum(of: record, to: &effects.checksumChange)
    }
    effects.links = changedLinks.values.sorted { $0.key < $1.key }
    try addChecksumOfLinks(to: &effects.checksumChange)
    effects.conflicts = try settledReports()
    effects.epochWrites = epochWrites
    effects.epochAdditions = epochAdditions
  }

  /// Every id that a reference field holds, without repetition.
  private func references(of record: MergeRecord, _ entity: MergeSchema.Entity) -> [RecordID] {
    var references: [RecordID] = []
    for place in entity.references {
      if let target = field(entity.fields[place], of: record).value.reference, !references.contains(target) {
        references.append(target)
      }
    }
    return references
  }

  /// The difference between what the record adds to the checksum now and what it added before.
  private func addChecksum(of record: MergeRecord, to change: inout ChecksumChange) throws {
    let before = try original(record.id)
    let old = try before.map { try MergeFeed(self, isOriginal: true).visibleFields(of: $0) } ?? []
    let new = try MergeFeed(self, isOriginal: false).visibleFields(of: record)
    var sum = Checksum()
    let isSameLife =
      before.map {
        $0.isLiving == record.isLiving && $0.incarnation == record.incarnation && $0.entity == record.entity
      }
      ?? false
    if !isSameLife {
      if let before, before.isLiving { sum.remove(life: before.incarnation, of: before.id, as: before.entity) }
      if record.isLiving { sum.insert(life: record.incarnation, of: record.id, as: record.entity) }
    }
    for (place, field) in new.enumerated() where version(of: field.name, in: old, hint: place) != field.version {
      sum.insert(record.id, field.name, field.version.value, field.version.stamp)
    }
    for (place, field) in old.enumerated() where version(of: field.name, in: new, hint: place) != field.version {
      sum.remove(record.id, field.name, field.version.value, field.version.stamp)
    }
    change.add(sum, of: record.id)
  }

  private func version(of name: String, in fields: [MergeFeed.VisibleField], hint: Int) -> Version? {
    if hint < fields.count, fields[hint].name == name { return fields[hint].version }
    return fields.first { $0.name == name }?.version
  }

  /// The same of the pairs: those that changed, and those of records that died or came back.
  private func addChecksumOfLinks(to change: inout ChecksumChange) throws {
    if schema.resolved.links.isEmpty { return }
    var keys = Set(changedLinks.keys)
    for id in changed {
      // A record that is new here has no pairs but those of this change set.
      guard let before = try original(id), try before.isLiving == isGone(id) else { continue }
      for link in try links(of: id) { keys.insert(link.key) }
    }
    for key in keys {
      let old = try reader.link(key).flatMap { try isShown($0) { try original($0) } ? $0 : nil }
      let new = try link(key).flatMap { try isShown($0) { try record($0) } ? $0 : nil }
      if old?.stamp == new?.stamp { continue }
      var sum = Checksum()
      if let old { sum.remove(key, old.stamp) }
      if let new { sum.insert(key, new.stamp) }
      change.add(sum, of: key.source)
    }
  }

  private func isShown(_ link: MergeLink, _ record: (RecordID) throws -> MergeRecord?) throws -> Bool {
    guard link.isPresent else { return false }
    return try record(link.key.source)?.isLiving ?? false && record(link.key.target)?.isLiving ?? false
  }
}

/// A record as readers get it.
struct MergeFeed {
  private let record: (RecordID) throws -> MergeRecord?
  private let schema: MergeSchema
  private var hidesDeadTargets = true

  init(reader: any MergeReader, schema: MergeSchema) {
    record = { try reader.record($0) }
    self.schema = schema
  }

  init(_ session: MergeSession, isOriginal: Bool) {
    record = { isOriginal ? try session.original($0) : try session.record($0) }
    schema = session.schema
    hidesDeadTargets = session.rules.hideDeadTargets
  }

  struct VisibleField {
    let name: String
    let version: FieldMerge.Version
  }

  /// The fields of a living record with references resolved, derived nils included; nothing for a dead one.
  func visibleFields(of record: MergeRecord) throws -> [VisibleField] {
    guard record.isLiving else { return [] }
    return try record.fields.map { VisibleField(name: $0.name, version: try version(of: $0, in: record)) }
  }

  func item(for record: MergeRecord, since base: FeedPosition) throws -> FeedItem {
    guard record.isLiving else {
      var survivor: Tombstone.Survivor?
      if case .merged(let into) = record.life { survivor = into }
      return .tombstone(
        Tombstone(
          entity: record.entity, id: record.id, incarnation: record.incarnation, survivor: survivor,
          causes: record.life == .deleted ? record.causes : [], stamp: record.deathStamp))
    }
    var fields: [FieldState] = []
    for field in record.fields where field.position > base {
      let version = try version(of: field, in: record)
      fields.append(FieldState(name: field.name, value: version.value, stamp: version.stamp))
    }
    return .record(
      RecordState(
        entity: record.entity, id: record.id, incarnation: record.incarnation, fields: fields,
        isWhole: fields.count == record.fields.count))
  }

  private func version(of field: MergeField, in holder: MergeRecord) throws -> FieldMerge.Version {
    let stored = FieldMerge.Version(value: field.value, stamp: field.stamp)
    guard let named = field.value.reference,
      let reference = schema.entity(holder.entity)?.field(field.name)?.reference
    else { return stored }
    var target = named
    var seen: Set<RecordID> = []
    while let survivor = try record(target)?.survivor, seen.insert(target).inserted { target = survivor }
    let isGone = !(try record(target)?.isLiving ?? false)
    if isGone && hidesDeadTargets || target == holder.id && reference.isAcyclic {
      return FieldMerge.Version(value: .null, stamp: field.stamp.consequence)
    }
    if target == named { return stored }
    return FieldMerge.Version(value: Value(reference: target), stamp: field.stamp.consequence)
  }
}
