import TomboloProtocol

/// Results of a fetch that are loaded a batch at a time: it holds identities, and the objects of the batch that was
/// asked for last.
///
/// It shows the records of the moment of the fetch. One that was deleted since is a deleted object with default values.
/// It belongs to its context, and is used where that is.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
  private let pages: FetchPages<Element>

  init(count: Int, batchSize: Int, load: @escaping (Range<Int>) -> [Element]) {
    pages = FetchPages(count: count, batchSize: batchSize, load: load)
  }

  /// The first position, which is 0.
  public var startIndex: Int { 0 }
  /// The number of results.
  public var endIndex: Int { pages.count }
  /// The result at a position; loads its batch if that is not the last one used.
  public subscript(position: Int) -> Element { pages.element(at: position) }
}

/// The batches of a ``FetchResultsCollection``, of which one is held.
private final class FetchPages<Element> {
  let count: Int
  private let batchSize: Int
  private let load: (Range<Int>) -> [Element]
  private var held: (range: Range<Int>, elements: [Element]) = (0..<0, [])

  init(count: Int, batchSize: Int, load: @escaping (Range<Int>) -> [Element]) {
    self.count = count
    self.batchSize = Swift.max(1, batchSize)
    self.load = load
  }

  func element(at position: Int) -> Element {
    precondition(
      position >= 0 && position < count, "Position \(position) is outside the \(count) results of the fetch.")
    if !held.range.contains(position) {
      let start = position / batchSize * batchSize
      let range = start..<Swift.min(start + batchSize, count)
      held = (range, load(range))
    }
    return held.elements[position - held.range.lowerBound]
  }
}
