/// Gives new positions to the members of a list that somebody arranged: to as few as possible.
package enum PositionArrangement {
  /// A member of the list, in the order that it shall have.
  package struct Member: Sendable {
    /// The key that it has; nil where it has none, or one that is no key.
    package var key: PositionKey?
    /// Its place among all members as they lie now.
    package var place: Int
    package init(key: PositionKey?, place: Int) {
      self.key = key
      self.place = place
    }
  }

  /// The members whose key changes, by their index, in ascending order.
  ///
  /// The longest part that is in order already keeps its keys. Members without a key stay so only at the beginning, where
  /// those stand that have never been given one. Equal keys, as two copies of one replica make them, are parted.
  package static func changes(of members: [Member], by replica: ReplicaID) -> [(index: Int, key: PositionKey)] {
    if let changes = changes(of: members, keeping: kept(members), by: replica),
      changes.allSatisfy({ $0.key.bytes.count <= PositionKey.lengthMax })
    {
      return changes
    }
    // Somebody has built a key that leaves no room, or the keys have grown long: all of them begin anew.
    let anew = members.map { Member(key: nil, place: $0.place) }
    return changes(of: anew, keeping: members.map { _ in false }, by: replica) ?? []
  }

  private static func changes(
    of members: [Member], keeping kept: [Bool], by replica: ReplicaID
  ) -> [(index: Int, key: PositionKey)]? {
    // The next kept key, from behind.
    var following: [PositionKey?] = []
    var next: PositionKey?
    for (member, isKept) in zip(members, kept).reversed() {
      following.append(next)
      if isKept, let key = member.key { next = key }
    }
    following.reverse()
    var changes: [(index: Int, key: PositionKey)] = []
    var last: PositionKey?
    for (index, member) in members.enumerated() {
      if kept[index] {
        last = member.key ?? last
        continue
      }
      guard let key = PositionKey(after: last, before: following[index], by: replica) else { return nil }
      changes.append((index, key))
      last = key
    }
    return changes
  }

  /// Which members stay: the longest part in order, less what has no key behind one that has, and equal keys.
  private static func kept(_ members: [Member]) -> [Bool] {
    var kept = members.map { _ in false }
    for index in LongestRun.indices(of: members.map(\.place)) { kept[index] = true }
    var last: PositionKey?
    var isLeading = true
    for index in members.indices {
      guard kept[index] else {
        isLeading = false
        continue
      }
      if let key = members[index].key {
        if let last, !(last < key) { kept[index] = false } else { last = key }
        isLeading = false
      } else if !isLeading {
        kept[index] = false
      }
    }
    return kept
  }
}

/// The longest ascending part of a sequence of distinct numbers, in n log n.
private enum LongestRun {
  static func indices(of places: [Int]) -> [Int] {
    // By length less one: the index of the smallest end of an ascending part of that length.
    var ends: [Int] = []
    var previous = places.map { _ in -1 }
    for (index, place) in places.enumerated() {
      var low = 0
      var high = ends.count
      // Ends: each round halves what is left.
      while low < high {
        let middle = (low + high) / 2
        if places[ends[middle]] < place { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[index] = ends[low - 1] }
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var found: [Int] = []
    var index = ends.last ?? -1
    while index >= 0 {
      found.append(index)
      index = previous[index]
    }
    return found.reversed()
  }
}
