/// Objects in the order of their adding, each at most once; adding, removing and looking up cost the same however many
/// there are.
package struct MemberList {
  /// Gaps where one was removed.
  private var slots: [(any PersistentModel)?] = []
  /// Where each one lies; empty while there are few, which are found faster by looking at each.
  private var places: [ObjectIdentifier: Int] = [:]
  package private(set) var count = 0
  private static let fewMax = 16

  package init() {}

  package var isEmpty: Bool { count == 0 }

  package func contains(_ member: any PersistentModel) -> Bool { place(of: member) != nil }

  /// Adds one at the end, unless it is there.
  package mutating func append(_ member: any PersistentModel) {
    guard place(of: member) == nil else { return }
    slots.append(member)
    count += 1
    if !places.isEmpty {
      places[ObjectIdentifier(member)] = slots.count - 1
    } else if slots.count > Self.fewMax {
      index()
    }
  }

  /// Removes one; false if it was not there.
  package mutating func remove(_ member: any PersistentModel) -> Bool {
    guard let place = place(of: member) else { return false }
    places[ObjectIdentifier(member)] = nil
    slots[place] = nil
    count -= 1
    if count == 0 {
      self = MemberList()
    } else if slots.count > Self.fewMax, slots.count > 2 * count {
      slots.removeAll { $0 == nil }
      index()
    }
    return true
  }

  private func place(of member: any PersistentModel) -> Int? {
    if !places.isEmpty { return places[ObjectIdentifier(member)] }
    return slots.lastIndex { $0 === member }
  }

  private mutating func index() {
    places = [:]
    guard slots.count > Self.fewMax else { return }
    places.reserveCapacity(slots.count)
    for (place, member) in slots.enumerated() {
      if let member { places[ObjectIdentifier(member)] = place }
    }
  }
}

extension MemberList: Sequence {
  package func makeIterator() -> some IteratorProtocol<any PersistentModel> {
    slots.lazy.compactMap { $0 }.makeIterator()
  }
}
