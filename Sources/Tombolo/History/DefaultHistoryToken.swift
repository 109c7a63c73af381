import TomboloProtocol

/// A place in a container's history: after one save, or one pull, of each store.
public struct DefaultHistoryToken: HistoryToken {
  /// By store: the place in its history.
  public let tokenValue: [String: Int64]?

  init(_ numbers: [String: Int64]) { tokenValue = numbers }

  /// The place in a store's history; 0 for a store that the token does not name.
  func number(of store: String) -> Int64 { tokenValue?[store] ?? 0 }

  /// Orders by the time of the saves: `a < b` where `b` comes after a save of some store that `a` comes before.
  ///
  /// The tokens of one fetch are in a strict order. Of tokens of several fetches in a container of several stores, none hides
  /// a save: what `$0.token > token` finds may come twice where clocks were set back, and is never passed over.
  public static func < (a: DefaultHistoryToken, b: DefaultHistoryToken) -> Bool {
    TokenWatch.note(a, b)
    return (b.tokenValue ?? [:]).contains { store, number in a.number(of: store) < number }
  }
}

/// Learns which tokens a predicate compares: evaluated once, each comparison tells.
enum TokenWatch {
  private final class Notes: @unchecked Sendable {
    // Guarded by the task that evaluates: it alone has them.
    var tokens: [DefaultHistoryToken] = []
  }
  @TaskLocal private static var notes: Notes?

  fileprivate static func note(_ a: DefaultHistoryToken, _ b: DefaultHistoryToken) { notes?.tokens += [a, b] }

  /// The tokens that `body` compares.
  static func tokens(in body: () throws -> Void) rethrows -> [DefaultHistoryToken] {
    let watched = Notes()
    try $notes.withValue(watched) { try body() }
    return watched.tokens
  }
}
