/// What the bearer of a token may do in its store.
package enum Role: String, Sendable, Hashable, CaseIterable {
  /// Pull, push, register schemas, create the store, manage its tokens.
  case owner
  /// Pull, push, register additive schema versions of a store that has one.
  case writer
  /// Pull.
  case reader

  var mayPush: Bool { self != .reader }
  var mayAdminister: Bool { self == .owner }
}
