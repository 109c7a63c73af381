/// What a finished merge hands to the caller.
extension MergeSession {
  func collect(into effects: inout MergeEffects) throws {
    for id in changed.sorted() {
      guard let record = try record(id) else { continue }
      var references: [RecordID] = []
      let entity = try entity(of: record)
      for place in entity.references {
        if let target = field(entity.fields[place], of: record).value.reference, !references.contains(target) {
          references.append(target)
        }
      }
      effects.records.append(
        MergeEffects.ChangedRecord(record: record, uniqueKeys: try uniqueKeys(of: record), references: references))
      try addChecksum(of: record, to: &effects.checksumChange)
    }
    effects.links = changedLinks.values.sorted { $0.key < $1.key }
    try addChecksumOfLinks(to: &effects.checksumChange)
    effects.conflicts = conflicts
    effects.epochWrites = epochWrites
    effects.epochAdditions = epochAdditions
  }

  /// The difference between what the record adds to the checksum now and what it added before.
  private func addChecksum(of record: MergeRecord, to change: inout ChecksumChange) throws {
    let before = try original(record.id)
    let old = try before.map { try MergeFeed(self, isOriginal: true).visibleFields(of: $0) } ?? [:]
    let new = try MergeFeed(self, isOriginal: false).visibleFields(of: record)
    var sum = Checksum()
    if let before, before.isLiving { sum.remove(life: before.incarnation, of: before.id, as: before.entity) }
    if record.isLiving { sum.insert(life: record.incarnation, of: record.id, as: record.entity) }
    for (name, version) in new where old[name] != version {
      sum.insert(record.id, name, version.value, version.stamp)
    }
    for (name, version) in old where new[name] != version {
      sum.remove(record.id, name, version.value, version.stamp)
    }
    change.add(sum, of: record.id)
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

  init<Reader: MergeReader>(reader: Reader, schema: MergeSchema) {
    record = { try reader.record($0) }
    self.schema = schema
  }

  init<Reader: MergeReader>(_ session: MergeSession<Reader>, isOriginal: Bool) {
    record = { isOriginal ? try session.original($0) : try session.record($0) }
    schema = session.schema
  }

  /// The fields of a living record with references resolved, derived nils included; nothing for a dead one.
  func visibleFields(of record: MergeRecord) throws -> [String: FieldMerge.Version] {
    guard record.isLiving else { return [:] }
    var visible: [String: FieldMerge.Version] = [:]
    for field in record.fields { visible[field.name] = try version(of: field, in: record) }
    return visible
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
    if isGone || target == holder.id && reference.isAcyclic {
      return FieldMerge.Version(value: .null, stamp: field.stamp.consequence)
    }
    if target == named { return stored }
    return FieldMerge.Version(value: Value(reference: target), stamp: field.stamp.consequence)
  }
}
