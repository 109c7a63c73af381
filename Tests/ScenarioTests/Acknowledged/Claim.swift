import Tombolo
import TomboloProtocol

/// What somebody may rely on after a save: it is so in the end, or he is told.
struct Claim: CustomStringConvertible {
  enum Kind: Equatable {
    case record
    case deletion
    case value(String, Value)
    case addition(String, Int64)
    /// A pair of a many-to-many relationship that was linked, or parted.
    case pair(String, RecordID)
    case absence(String, RecordID)
  }

  let entity: String
  let record: RecordID
  let kind: Kind

  init(_ entity: String, _ record: RecordID, _ kind: Kind) {
    self.entity = entity
    self.record = record
    self.kind = kind
  }

  /// The attribute or reference that was written.
  var property: String? {
    if case .value(let property, _) = kind { return property }
    return nil
  }

  /// The records that an entry may name it by.
  var records: [RecordID] {
    switch kind {
    case .pair(_, let other), .absence(_, let other): [record, other]
    default: [record]
    }
  }

  var description: String {
    switch kind {
    case .record: "a new \(entity)"
    case .deletion: "the deletion of \(entity)"
    case .value(let property, let value): "\(entity).\(property) = \(value)"
    case .addition(let property, let delta): "\(entity).\(property) + \(delta)"
    case .pair(let property, _): "\(entity).\(property) linked"
    case .absence(let property, _): "\(entity).\(property) parted"
    }
  }

  func isSeen(in sight: Sight) -> Bool {
    let id = sight.resolve(record)
    switch kind {
    case .record: return sight.values[id] != nil
    case .deletion: return sight.values[id] == nil
    case .value(let property, let value):
      guard let shown = sight.values[id]?[property] else { return false }
      if let target = value.reference { return shown.reference == sight.resolve(target) }
      return shown == value
    case .addition(let property, let delta):
      guard case .integer(let sum)? = sight.values[id]?[property] else { return false }
      return sum / delta % 10 == 1
    case .pair(let property, let other):
      return sight.pairs.contains(Sight.Pair(property: property, source: id, target: sight.resolve(other)))
    case .absence(let property, let other):
      return !sight.pairs.contains(Sight.Pair(property: property, source: id, target: sight.resolve(other)))
    }
  }

  /// Whether an entry tells of its loss, with what was lost.
  func isTold(by entry: ConflictEntry, in sight: Sight) -> Bool {
    let lost = entry.lost.value.reference.map(sight.resolve)
    switch kind {
    case .absence(_, let other):
      // A parting that was lost has no value, and the pair stands.
      let pair = [sight.resolve(entry.record), entry.standing?.value.reference.map(sight.resolve)]
      let ends = [sight.resolve(record), sight.resolve(other)]
      return entry.lost.value.isNull && (pair == ends || pair == ends.reversed())
    case .pair(_, let other):
      // An entry names a pair from its first side.
      let ends = [sight.resolve(record), sight.resolve(other)]
      return lost.map { [[sight.resolve(entry.record), $0], [$0, sight.resolve(entry.record)]].contains(ends) } ?? false
    default: break
    }
    guard sight.resolve(entry.record) == sight.resolve(record) else { return false }
    switch kind {
    // Each of its values is a claim of its own.
    case .record: return true
    case .deletion: return entry.field == nil
    case .value(let property, let value):
      guard entry.field == property else { return false }
      if let target = value.reference { return lost == sight.resolve(target) }
      return entry.lost.value == value
    case .addition(let property, let delta): return entry.field == property && entry.lost.value == .integer(delta)
    case .pair, .absence: return false
    }
  }
}

/// What a replica shows at quiet.
struct Sight {
  struct Pair: Hashable {
    var property: String
    var source: RecordID
    var target: RecordID
  }
  private(set) var values: [RecordID: [String: Value]] = [:]
  private(set) var pairs: Set<Pair> = []
  private var survivors: [RecordID: RecordID] = [:]

  /// - Parameter merged: what was united before anybody synced.
  init(_ replica: Replica, merged: [RecordID: RecordID]) throws {
    for (id, row) in try replica.rows() { values[id] = row }
    for (property, source, target) in try replica.shownPairs() {
      pairs.insert(Pair(property: property, source: source, target: target))
    }
    survivors = try replica.aliases().merging(merged) { known, _ in known }
  }

  func resolve(_ id: RecordID) -> RecordID {
    var id = id
    var steps = 0
    while values[id] == nil, steps < 10, let next = survivors[id] { (id, steps) = (next, steps + 1) }
    return id
  }
}
