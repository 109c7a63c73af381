import Foundation

/// What an assignment to a to-many adds and removes.
///
/// The members at the beginning and at the end that stayed are compared as memory; only those between are looked up.
package struct MemberChange<Member: PersistentModel> {
  /// The new members, each once.
  package let members: [Member]
  package private(set) var removed: [Member] = []
  package private(set) var added: [Member] = []

  /// - Parameter isMember: whether an object is among the old ones.
  package init(from old: [Member], to new: [Member], isMember: (Member) -> Bool) {
    let (prefix, suffix) = Self.common(old, new)
    let oldMiddle = old[prefix..<(old.count - suffix)]
    let newMiddle = new[prefix..<(new.count - suffix)]
    if oldMiddle.isEmpty, newMiddle.isEmpty {
      members = new
      return
    }
    let before = Set(oldMiddle.lazy.map { ObjectIdentifier($0) })
    var after = Set<ObjectIdentifier>(minimumCapacity: newMiddle.count)
    var hasDuplicates = false
    for member in newMiddle {
      let isNew = !before.contains(ObjectIdentifier(member))
      let isRepeated = isNew && prefix + suffix > 0 && isMember(member)
      if !after.insert(ObjectIdentifier(member)).inserted || isRepeated {
        hasDuplicates = true
      } else if isNew {
        added.append(member)
      }
    }
    removed = oldMiddle.filter { !after.contains(ObjectIdentifier($0)) }
    guard hasDuplicates else {
      members = new
      return
    }
    var seen = Set<ObjectIdentifier>(minimumCapacity: new.count)
    members = new.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  /// Whether the members are in another order than leaving some out and adding others at the end leads to.
  package func isArranged(from old: [Member]) -> Bool {
    let gone = Set(removed.lazy.map { ObjectIdentifier($0) })
    let kept = gone.isEmpty ? old : old.filter { !gone.contains(ObjectIdentifier($0)) }
    return !members.elementsEqual(kept + added, by: { $0 === $1 })
  }

  /// How many members at the beginning and at the end are the same.
  private static func common(_ old: [Member], _ new: [Member]) -> (prefix: Int, suffix: Int) {
    old.withUnsafeBufferPointer { old in
      new.withUnsafeBufferPointer { new in
        guard let oldBase = old.baseAddress, let newBase = new.baseAddress else { return (0, 0) }
        let shared = min(old.count, new.count)
        let prefix = run(shared) { memcmp(oldBase + $0, newBase + $0, $1 * MemoryLayout<Member>.stride) == 0 }
        let suffix = run(shared - prefix) { done, count in
          memcmp(
            oldBase + (old.count - done - count), newBase + (new.count - done - count),
            count * MemoryLayout<Member>.stride) == 0
        }
        return (prefix, suffix)
      }
    }
  }

  /// The length of the longest run that `isSame(done, count)` confirms: in blocks, halved where they differ.
  private static func run(_ limit: Int, _ isSame: (Int, Int) -> Bool) -> Int {
    var done = 0
    var block = limit
    // Ends: each round either goes on or halves the block.
    while done < limit, block > 0 {
      let count = min(block, limit - done)
      if isSame(done, count) { done += count } else { block = count / 2 }
    }
    return done
  }
}

/// Whether two arrays are one piece of memory, which nobody changes as long as both hold it.
func isSameStorage<Element>(_ a: [Element], _ b: [Element]) -> Bool {
  guard a.count == b.count else { return false }
  return a.isEmpty
    || a.withUnsafeBufferPointer { a in b.withUnsafeBufferPointer { a.baseAddress == $0.baseAddress } }
}
