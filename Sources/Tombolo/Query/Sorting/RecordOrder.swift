import Foundation
package import TomboloProtocol

/// The order of a fetch in memory: the same as that of its SQL.
///
/// Nil comes first ascending and last descending. Numbers, dates and Booleans (false first) go by value, enums by their
/// raw value, text by the Unicode scalars of its composed form (as Swift's `<` does) unless a localized order is asked
/// for, URLs by their text, UUIDs and data by their bytes. NaN, which no store holds, comes after nil.
/// Records that are equal in every key go by their own keys, ascending.
package struct RecordOrder<Model> {
  private let keys: [(path: PartialKeyPath<Model>, isReversed: Bool)]

  /// - Throws: ``TomboloError`` `unsupported_sort`.
  package init(sortBy: [SortDescriptor<Model>]) throws {
    keys = try sortBy.map { descriptor in
      guard let path = descriptor.keyPath else {
        throw QueryFailure.unsupportedSort("a descriptor without a key path", instead: "Sort by a stored attribute.")
      }
      return (path, descriptor.order == .reverse)
    }
  }

  /// Whether `a` comes before `b`; the keys break ties.
  package func precedes(_ a: Model, _ aKey: RecordID, _ b: Model, _ bKey: RecordID) -> Bool {
    for (path, isReversed) in keys {
      let result = SortValue.compare(withoutOptional(a[keyPath: path]), withoutOptional(b[keyPath: path]))
      if result != 0 { return isReversed ? result > 0 : result < 0 }
    }
    return aKey < bKey
  }
}

/// The order of two values of one attribute.
enum SortValue {
  /// Below zero where `a` comes first.
  static func compare(_ a: Any?, _ b: Any?) -> Int {
    guard let a else { return b == nil ? 0 : -1 }
    guard let b else { return 1 }
    switch (a, b) {
    case (let a as String, let b as String): return order(a, b)
    case (let a as Double, let b as Double): return order(a, b, isNaN: \.isNaN)
    case (let a as Float, let b as Float): return order(a, b, isNaN: \.isNaN)
    case (let a as Bool, let b as Bool): return order(a ? 1 : 0, b ? 1 : 0)
    case (let a as UUID, let b as UUID):
      return withUnsafeBytes(of: a.uuid) { first in withUnsafeBytes(of: b.uuid) { bytes(first, $0) } }
    case (let a as Data, let b as Data): return bytes(a, b)
    case (let a as URL, let b as URL): return bytes(a.absoluteString.utf8, b.absoluteString.utf8)
    case (let a as any RawRepresentable, let b as any RawRepresentable): return compare(a.rawValue, b.rawValue)
    case (let a as any Comparable, _): return opened(a, b)
    default: return 0
    }
  }

  private static func opened<Value: Comparable>(_ a: Value, _ b: Any) -> Int {
    guard let b = b as? Value else { return 0 }
    return order(a, b)
  }

  private static func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : a == b ? 0 : 1 }

  private static func order<Value: Comparable>(_ a: Value, _ b: Value, isNaN: (Value) -> Bool) -> Int {
    switch (isNaN(a), isNaN(b)) {
    case (true, true): 0
    case (true, false): -1
    case (false, true): 1
    case (false, false): order(a, b)
    }
  }

  private static func bytes(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int {
    if a.lexicographicallyPrecedes(b) { return -1 }
    return b.lexicographicallyPrecedes(a) ? 1 : 0
  }
}
