import TomboloProtocol

/// As much of a replica as a server's test needs: numbers, stamps, and where it stands in the feed.
struct TestReplica {
  var id: ReplicaID
  var clock: ClockReading
  var number = SaveNumber.none
  var cursor: Cursor?
  var version = SchemaVersion(1, 0, 0)
  var epoch: Epoch?
  var holds: FeedPosition?

  init(_ id: UInt64, time: UInt64 = TestClock.start) {
    self.id = ReplicaID(id)
    clock = ClockReading(milliseconds: time)
  }

  var introduction: Introduction {
    Introduction(replica: id, schemaVersion: version, highestSave: number, holds: holds, epoch: epoch)
  }

  /// The next save, with a stamp above the ones before.
  mutating func save(_ changes: [Change], id save: SaveID? = nil) -> ChangeSet {
    number = number.next
    clock = ClockReading(rawValue: clock.rawValue + 1)
    return ChangeSet(
      id: save ?? SaveID(RecordID(high: id.rawValue, low: number.rawValue &* 0x9E37_79B9_7F4A_7C15)), number: number,
      stamp: Stamp(clock: clock, replica: id), schemaVersion: version, base: cursor?.base ?? .start, changes: changes)
  }

  func push(_ changeSets: [ChangeSet]) -> PushRequest {
    PushRequest(introduction: introduction, changeSets: changeSets)
  }
}

/// A record's id from a small number.
func record(_ number: UInt64) -> RecordID { RecordID(high: 0x0197_0000_0000_7000, low: 0x8000_0000_0000_0000 | number) }

extension Change {
  static func create(_ entity: String, _ id: RecordID, _ fields: [String: Value]) -> Change {
    .create(
      .init(
        entity: entity, id: id,
        fields: fields.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value, isAssigned: true) }))
  }

  static func set(
    _ entity: String, _ id: RecordID, of incarnation: Stamp, _ field: String, _ value: Value, base: Stamp
  ) -> Change {
    .update(
      .init(
        entity: entity, id: id, incarnation: incarnation, writes: [.init(name: field, value: value, base: base)]))
  }
}

extension Page {
  func record(_ id: RecordID) -> RecordState? {
    for case .record(let state) in items where state.id == id { return state }
    return nil
  }

  func tombstone(_ id: RecordID) -> Tombstone? {
    for case .tombstone(let tombstone) in items where tombstone.id == id { return tombstone }
    return nil
  }

  var conflicts: [ConflictEntry] {
    items.compactMap { if case .conflict(let entry) = $0 { entry } else { nil } }
  }

  var recordIDs: [RecordID] {
    items.compactMap { if case .record(let state) = $0 { state.id } else { nil } }
  }
}

extension RecordState {
  subscript(_ field: String) -> Value? { fields.first { $0.name == field }?.value }
}
