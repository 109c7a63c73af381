/// A server's state in memory: for tests, and for the simulation's comparison runs. Not indexed: questions scan.
package struct MemoryMergeReader: MergeReader, Sendable {
  package var records: [RecordID: MergeRecord] = [:]
  package var pairs: [LinkKey: MergeLink] = [:]
  package var owned: [UniqueKey: Set<RecordID>] = [:]
  package var saves: [SaveID: ProcessedSave] = [:]
  package var numbers: [ReplicaID: [SaveNumber: ProcessedSave]] = [:]
  package var refusedRecords: Set<RecordID> = []
  package var refusedWrites: [RefusedWrite.Key: Stamp] = [:]
  package var conflicts: [ConflictEntry] = []
  package var head = FeedPosition.start
  package var greatestMilliseconds: UInt64 = 0
  package var checksum = Checksum()
  package var epochBook = EpochBook()

  package init() {}

  package func record(_ id: RecordID) -> MergeRecord? { records[id] }
  package func aliases(of id: RecordID) -> [RecordID] {
    records.values.filter { $0.survivor == id }.map(\.id).sorted()
  }
  package func holders(of id: RecordID) -> [RecordID] {
    records.values.filter { $0.fields.contains { $0.value.reference == id } }.map(\.id).sorted()
  }
  package func owners(of key: UniqueKey) -> [RecordID] { owned[key, default: []].sorted() }
  package func records(killedBy cause: DeleteCause) -> [RecordID] {
    records.values.filter { $0.causes.contains(cause) }.map(\.id).sorted()
  }
  package func link(_ key: LinkKey) -> MergeLink? { pairs[key] }
  package func links(of id: RecordID) -> [MergeLink] {
    pairs.values.filter { $0.key.source == id || $0.key.target == id }
  }
  package func processed(_ save: SaveID) -> ProcessedSave? { saves[save] }
  package func processed(_ number: SaveNumber, of replica: ReplicaID) -> ProcessedSave? { numbers[replica]?[number] }
  package func highestSave(of replica: ReplicaID) -> SaveNumber { numbers[replica]?.keys.max() ?? .none }
  package func isRefused(_ id: RecordID) -> Bool { refusedRecords.contains(id) }
  package func refusedBase(_ write: RefusedWrite.Key) -> Stamp? { refusedWrites[write] }

  /// Writes what a merge did, as a server does.
  package mutating func apply(_ effects: MergeEffects, of changeSet: ChangeSet, from replica: ReplicaID) {
    if let processed = effects.processed {
      numbers[replica, default: [:]][changeSet.number] = processed
      if saves[changeSet.id] == nil { saves[changeSet.id] = processed }
    }
    refusedRecords.formUnion(effects.refusedRecords)
    for write in effects.refusedWrites { refusedWrites[write.key] = write.base }
    greatestMilliseconds = effects.greatestMilliseconds
    guard effects.usesPosition else { return }
    head = head.next
    apply(effects)
    conflicts += effects.conflicts
  }

  /// Writes the records and pairs of one step of a merge.
  mutating func apply(_ effects: MergeEffects) {
    note(effects)
    for changed in effects.records {
      let id = changed.record.id
      records[id] = changed.record
      for key in owned.keys where owned[key]?.contains(id) ?? false { owned[key]?.remove(id) }
      for key in changed.uniqueKeys { owned[key, default: []].insert(id) }
    }
    for link in effects.links { pairs[link.key] = link }
    checksum.add(effects.checksumChange.total)
  }
}
