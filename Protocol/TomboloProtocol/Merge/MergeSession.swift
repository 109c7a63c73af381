/// One merge under way: what was loaded, what was changed, and what still has to be checked.
///
/// Everything that a record's rules depend on marks the record when it changes (its own fields, the life of what it
/// refers to, merges), so that integrity looks at marked records only and never at the whole store.
/// The reader is an existential, not a type parameter: the merge is compiled once, and a question to the reader costs a call
/// through a table, where a generic session of another module's reader would pay that for every one of its own steps.
final class MergeSession {
  typealias Version = FieldMerge.Version

  let reader: any MergeReader
  let schema: MergeSchema
  let rules: MergeRules
  let position: FeedPosition
  /// Who sends the change set.
  let replica: ReplicaID
  var changeSet: ChangeSet

  private var originals: [RecordID: MergeRecord?] = [:]
  private var current: [RecordID: MergeRecord] = [:]
  private(set) var changed: Set<RecordID> = []
  private(set) var changedLinks: [LinkKey: MergeLink] = [:]
  /// What this session added to the reader's indexes; taken away is whatever the records no longer say.
  private var addedHolders: [RecordID: Set<RecordID>] = [:]
  private var addedAliases: [RecordID: Set<RecordID>] = [:]
  private var addedCauses: [DeleteCause: Set<RecordID>] = [:]
  private var readLinks: [RecordID: [MergeLink]] = [:]

  var conflicts: [ConflictEntry] = []
  /// Roots whose delete does not stand.
  var fallenCauses: Set<DeleteCause> = []
  var marks = IntegrityMarks()
  /// The keys under which each changed record was last seen.
  var keys: [RecordID: [UniqueKey]] = [:]
  var holdersOfKey: [UniqueKey: Set<RecordID>] = [:]
  var reportedFields: Set<RefusedWrite.Key> = []
  var reportedLinks: Set<LinkKey> = []
  /// Deletions whose author was told that they do not stand.
  var reportedCauses: Set<DeleteCause> = []
  /// Whether a key declared `.reject` unites like any other: what is uploaded cannot be refused.
  var unitesRejected = false
  var tracksEpoch = false
  private(set) var epochWrites: [EpochWrite] = []
  private(set) var epochAdditions: [EpochAddition] = []

  init(
    reader: any MergeReader, schema: MergeSchema, rules: MergeRules, position: FeedPosition, replica: ReplicaID,
    changeSet: ChangeSet
  ) {
    self.reader = reader
    self.schema = schema
    self.rules = rules
    self.position = position
    self.replica = replica
    self.changeSet = changeSet
  }

  // MARK: Records

  func record(_ id: RecordID) throws -> MergeRecord? {
    if let record = current[id] { return record }
    if originals[id] != nil { return nil }
    let record = try reader.record(id)
    originals[id] = .some(record)
    if let record { current[id] = record }
    return record
  }

  /// The record as it was before this merge.
  func original(_ id: RecordID) throws -> MergeRecord? {
    if let original = originals[id] { return original }
    _ = try record(id)
    return originals[id] ?? nil
  }

  /// Changes a record and marks it.
  func modify(_ id: RecordID, _ body: (inout MergeRecord) -> Void) throws {
    guard try record(id) != nil, var record = current.removeValue(forKey: id) else { return }
    body(&record)
    mark(record)
    current[id] = record
  }

  func insert(_ record: MergeRecord) throws {
    _ = try self.record(record.id)
    mark(record)
    current[record.id] = record
  }

  private func mark(_ record: MergeRecord) {
    changed.insert(record.id)
    let before = originals[record.id] ?? nil
    // What an earlier life of another entity left behind is looked at by every rule.
    let entity = before.map { $0.entity == record.entity } ?? true ? schema.entity(record.entity) : nil
    marks.insert(record.id, of: entity)
  }

  func entity(of record: MergeRecord) throws -> MergeSchema.Entity {
    guard let entity = schema.entity(record.entity) else {
      throw TomboloError(.unknownEntity, "The store's schema has no entity \(record.entity).")
    }
    return entity
  }

  /// A field as the record has it; one that a later schema version added is absent in older records.
  func field(_ field: MergeSchema.Field, of record: MergeRecord) -> MergeField {
    record.place(of: field.name, hint: field.place).map { record.fields[$0] }
      ?? MergeField(name: field.name, value: field.absent, stamp: .zero)
  }

  /// Gives a field a value and a new feed position; `isWritten` gives it a new write position too.
  func set(
    _ field: MergeSchema.Field, of id: RecordID, to version: Version, replaced: Value? = nil, source: Stamp? = nil,
    isWritten: Bool
  ) throws {
    let position = position
    try modify(id) { record in
      var written = MergeField(
        name: field.name, value: version.value, stamp: version.stamp, position: position, writePosition: position,
        replaced: replaced)
      record.position = position
      guard let place = record.place(of: field.name, hint: field.place) else {
        record.fields.append(written)
        return
      }
      let before = record.fields[place]
      if let source, source != version.stamp {
        written.source = source
        written.sourcePosition = source == before.written ? before.sourcePosition ?? before.writePosition : position
      }
      written.additions = before.additions
      record.fields[place] = written
      if !isWritten { record.fields[place].writePosition = before.writePosition }
    }
    if field.reference != nil, let target = version.value.reference { noteHolder(id, of: target) }
  }

  func noteHolder(_ holder: RecordID, of target: RecordID) { addedHolders[target, default: []].insert(holder) }
  func noteAlias(_ alias: RecordID, of survivor: RecordID) { addedAliases[survivor, default: []].insert(alias) }
  func noteCause(_ cause: DeleteCause, of record: RecordID) { addedCauses[cause, default: []].insert(record) }

  // MARK: This epoch's writes

  /// - Parameter base: the stamp of the value that the write replaced; nil where there was none.
  func noteEpochWrite(_ record: RecordID, _ field: String, base: Stamp?) {
    if tracksEpoch { epochWrites.append(EpochWrite(record: record, field: field, base: base?.written)) }
  }

  func noteEpochAddition(_ record: RecordID, _ field: String, delta: Int64) {
    guard tracksEpoch else { return }
    let place = changeSet.origin
    epochAdditions.append(
      EpochAddition(
        record: record, field: field, replica: place?.replica ?? replica, number: place?.number ?? changeSet.number,
        epoch: place?.epoch, delta: delta))
  }

  /// An addition to a record of the new epoch that turned out to be another.
  func noteEpochAddition(_ addition: EpochAddition, movedTo record: RecordID) {
    guard tracksEpoch else { return }
    var addition = addition
    addition.record = record
    epochAdditions.append(addition)
  }

  // MARK: Aliases and references

  /// The record that stands for an id after all unique merges.
  func resolve(_ id: RecordID) throws -> RecordID {
    var id = id
    var seen: Set<RecordID> = []
    while let survivor = try record(id)?.survivor, seen.insert(id).inserted { id = survivor }
    return id
  }

  func isGone(_ id: RecordID) throws -> Bool { !(try record(id)?.isLiving ?? false) }

  /// A field as readers get it: references resolved through aliases, nil where the target is dead.
  func effective(_ field: MergeSchema.Field, of record: MergeRecord) throws -> Version {
    let stored = self.field(field, of: record)
    guard let reference = field.reference, let named = stored.value.reference else {
      return Version(value: stored.value, stamp: stored.stamp)
    }
    let target = try resolve(named)
    if try isGone(target) || target == record.id && reference.isAcyclic {
      return Version(value: .null, stamp: stored.stamp.consequence)
    }
    if target != named { return Version(value: Value(reference: target), stamp: stored.stamp.consequence) }
    return Version(value: stored.value, stamp: stored.stamp)
  }

  /// Every id that resolves to this one, itself included.
  func namesakes(of id: RecordID) throws -> Set<RecordID> {
    var names: Set<RecordID> = [id]
    var open = [id]
    while let next = open.popLast() {
      for alias in try aliases(of: next) where names.insert(alias).inserted { open.append(alias) }
    }
    return names
  }

  /// The records that were merged into exactly this one.
  func aliases(of id: RecordID) throws -> [RecordID] {
    try Set(reader.aliases(of: id)).union(addedAliases[id] ?? []).sorted().filter { try record($0)?.survivor == id }
  }

  /// The records, dead ones included, with a reference to the record or to one of its aliases; ascending.
  func holders(of names: Set<RecordID>) throws -> [RecordID] {
    var holders: Set<RecordID> = []
    for name in names {
      holders.formUnion(try reader.holders(of: name))
      if let added = addedHolders[name] { holders.formUnion(added) }
    }
    return holders.sorted()
  }

  /// Gives every reference to the record a new feed position: it died, came to life or was merged.
  func redeliverReferences(to id: RecordID) throws {
    let names = try namesakes(of: try resolve(id))
    for holder in try holders(of: names) {
      guard let record = try record(holder) else { continue }
      let entity = try entity(of: record)
      let places = entity.references.compactMap { place -> Int? in
        guard let at = record.place(of: entity.fields[place].name, hint: place),
          let target = record.fields[at].value.reference, names.contains(target)
        else { return nil }
        return at
      }
      guard !places.isEmpty else { continue }
      let position = position
      try modify(holder) { record in
        for place in places { record.fields[place].position = position }
        record.position = position
      }
    }
  }

  /// The records that died of this cause, ascending.
  func records(killedBy cause: DeleteCause) throws -> [RecordID] {
    var records = Set(try reader.records(killedBy: cause))
    if let added = addedCauses[cause] { records.formUnion(added) }
    return records.sorted()
  }

  // MARK: Links

  func link(_ key: LinkKey) throws -> MergeLink? { try changedLinks[key] ?? reader.link(key) }

  /// The pairs with this record at either end, in a fixed order.
  func links(of id: RecordID) throws -> [MergeLink] {
    let stored: [MergeLink]
    if let known = readLinks[id] {
      stored = known
    } else {
      stored = try reader.links(of: id)
      readLinks[id] = stored
    }
    var links = Dictionary(stored.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    for (key, link) in changedLinks where key.source == id || key.target == id { links[key] = link }
    return links.values.sorted { $0.key < $1.key }
  }

  func set(_ link: MergeLink) { changedLinks[link.key] = link }

  // MARK: Reports

  /// Notes a write that does not stand, for its author.
  func report(
    _ rule: ConflictRule, to author: ReplicaID? = nil, entity: String, record: RecordID, field: String? = nil,
    base: Stamp = .zero, lost: Version, standing: Version? = nil
  ) {
    var name = CBORWriter()
    name.bytes(changeSet.id.bytes)
    name.unsigned(UInt64(conflicts.count))
    let id = RecordID(
      high: shortHash(name.bytes, key: Array("tombolo conflict".utf8)),
      low: shortHash(name.bytes, key: Array("conflict tombolo".utf8)))
    conflicts.append(
      ConflictEntry(
        id: id, replica: author ?? lost.stamp.replica, rule: rule, entity: entity, record: record, field: field,
        base: base, lost: lost, standing: standing))
  }
}

extension LinkKey: Comparable {
  package static func < (a: LinkKey, b: LinkKey) -> Bool {
    if a.relationship != b.relationship { return a.relationship < b.relationship }
    return a.source != b.source ? a.source < b.source : a.target < b.target
  }
}
