import TomboloProtocol

/// The place of a save in its store's history.
public struct DefaultHistoryToken: HistoryToken {
  /// By store: the number of its save.
  public let tokenValue: [String: Int64]?

  init(storeIdentifier: String, number: Int64) { tokenValue = [storeIdentifier: number] }

  /// The number of the save; 0 for an empty token.
  var number: Int64 { tokenValue?.values.max() ?? 0 }

  /// Orders by the time of the saves.
  public static func < (a: DefaultHistoryToken, b: DefaultHistoryToken) -> Bool {
    TokenWatch.note(a, b)
    return a.number < b.number
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

  /// The least number that `body` compares with another; nil if it compares none.
  static func leastNumber(in body: () throws -> Void) rethrows -> Int64? {
    let watched = Notes()
    try $notes.withValue(watched) { try body() }
    return watched.tokens.map(\.number).min()
  }
}
