/// A set whose least element is at hand: a binary heap beside the set of what is in it.
struct OrderedQueue<Element: Hashable & Comparable> {
  private var heap: [Element] = []
  private var members: Set<Element> = []

  var isEmpty: Bool { members.isEmpty }
  /// The least element.
  var first: Element? { heap.first }

  /// Adds an element; nothing where it is in already.
  mutating func insert(_ element: Element) {
    guard members.insert(element).inserted else { return }
    heap.append(element)
    var place = heap.count - 1
    while place > 0, heap[place] < heap[(place - 1) / 2] {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  /// Takes the least element out.
  mutating func removeFirst() {
    guard let first = heap.first, let last = heap.popLast() else { return }
    members.remove(first)
    if heap.isEmpty { return }
    heap[0] = last
    var place = 0
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child] < heap[least] {
        least = child
      }
      if least == place { return }
      heap.swapAt(place, least)
      place = least
    }
  }
}
