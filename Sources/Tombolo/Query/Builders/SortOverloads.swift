public import Foundation

/// An order of texts that a sort descriptor may ask for.
public enum TextOrder: Sendable {
  /// What a person expects of a list of names: case and diacritics are ignored at first, digits count as numbers.
  ///
  /// The order is the same in every locale, in the store and in memory.
  case localizedStandard
  /// The same as ``localizedStandard``: a store has one localized order.
  case localized
}

extension SortDescriptor {
  /// Appending keeps what makes a key path sendable, but not the type that says so.
  private static func sendable<Value>(_ path: KeyPath<Compared, Value>) -> any KeyPath<Compared, Value> & Sendable {
    unsafeBitCast(path, to: (any KeyPath<Compared, Value> & Sendable).self)
  }

  /// Sorts by a Boolean, false first.
  public init(_ keyPath: any KeyPath<Compared, Bool> & Sendable, order: SortOrder = .forward) {
    self.init(Self.sendable(keyPath.appending(path: \Bool._$rank)), order: order)
  }

  /// Sorts by an optional Boolean: nil, false, true.
  public init(_ keyPath: any KeyPath<Compared, Bool?> & Sendable, order: SortOrder = .forward) {
    self.init(Self.sendable(keyPath.appending(path: \Bool?._$rank)), order: order)
  }

  /// Sorts by a text in the given order.
  public init(
    _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: TextOrder, order: SortOrder = .forward
  ) {
    self.init(Self.sendable(keyPath.appending(path: \String._$localizedStandardRank)), order: order)
  }

  /// Sorts by an optional text in the given order, nil first.
  public init(
    _ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: TextOrder, order: SortOrder = .forward
  ) {
    self.init(Self.sendable(keyPath.appending(path: \String?._$localizedStandardRank)), order: order)
  }
}

/// The place of a text in the localized standard order.
public struct TextRank: Comparable, Sendable {
  let key: LocalizedStandardKey
  init(_ text: String) { key = LocalizedStandardKey(text) }

  /// Whether one text comes before another.
  public static func < (a: TextRank, b: TextRank) -> Bool { a.key < b.key }
}

extension Bool {
  /// The place in a sort by a Boolean; a sort descriptor's own.
  public var _$rank: Int { self ? 1 : 0 }
}

// Optional, since a key path whose `?.` meets nil makes nil of whatever type its end has.

extension Bool? {
  /// The place in a sort by an optional Boolean, nil first; a sort descriptor's own.
  public var _$rank: Int? { map(\._$rank) }
}

extension String {
  /// The place in a localized sort; a sort descriptor's own.
  public var _$localizedStandardRank: TextRank { TextRank(self) }
}

extension String? {
  /// The place in a localized sort, nil first; a sort descriptor's own.
  public var _$localizedStandardRank: TextRank? { map { TextRank($0) } }
}
