import TomboloProtocol

/// The records whose rows an exchange changed, and how. Little is kept of each: a first sync may bring a million.
struct ChangedRecords {
  enum Kind: UInt32 { case inserted, updated, deleted }

  /// Kind, whether the record came, and the number of its entity, in four bytes.
  private struct Entry {
    private var bits: UInt32
    init(_ kind: Kind, _ entity: EntityPlan, hasAppeared: Bool) {
      bits = UInt32(entity.number) << 3 | (hasAppeared ? 4 : 0) | kind.rawValue
    }
    var kind: Kind { Kind(rawValue: bits & 3) ?? .updated }
    var hasAppeared: Bool { bits & 4 != 0 }
    var entity: Int { Int(bits >> 3) }
  }

  private var entries: [RecordID: Entry] = [:]
  /// Records that went, those included that had come in the same exchange.
  private(set) var disappeared: [RecordID: EntityPlan] = [:]

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  mutating func note(_ id: RecordID, from old: EntityPlan?, to new: EntityPlan?) {
    let known = entries[id]
    switch (old, new) {
    case (nil, let new?):
      disappeared[id] = nil
      entries[id] = Entry(known?.kind == .deleted ? .updated : .inserted, new, hasAppeared: true)
    case (let old?, nil):
      disappeared[id] = old
      entries[id] = known?.kind == .inserted ? nil : Entry(.deleted, old, hasAppeared: false)
    case (_?, let new?):
      if known?.kind != .inserted { entries[id] = Entry(.updated, new, hasAppeared: known?.hasAppeared ?? false) }
    case (nil, nil): break
    }
  }

  /// The records that are there and were not when the exchange began, or had gone in between.
  var appeared: some Sequence<RecordID> { entries.lazy.filter(\.value.hasAppeared).map(\.key) }

  /// Those that changed in one way, ascending.
  func records(_ kind: Kind) -> [RecordID] {
    var records: [RecordID] = []
    for (id, entry) in entries where entry.kind == kind { records.append(id) }
    records.sort()
    return records
  }

  /// The number of the entity of a record that changed.
  func entity(of id: RecordID) -> Int? { entries[id]?.entity }
}
