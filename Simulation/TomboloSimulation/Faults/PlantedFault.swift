/// A defect that a run can be given on purpose. A run that stays green with one of these proves that its checkers sleep.
public enum PlantedFault: String, Sendable, Hashable, CaseIterable {
  /// The server does not check unique keys, delete rules, one-to-one claims and cycles.
  case mergeWithoutIntegrity = "merge-without-integrity"
  /// The server takes every delete as having seen everything.
  case mergeDeletesBlindly = "merge-deletes-blindly"
  /// The server answers before its disk has what it took: every sync is a lie.
  case serverAnswersBeforeCommit = "server-answers-before-commit"
  /// A replica moves its cursor although the page's items were not stored.
  case cursorBeforeData = "cursor-before-data"
  /// A replica shows each page by itself instead of the whole pull.
  case pagesShownOneByOne = "pages-shown-one-by-one"
  /// A replica sends saves that are not on its disk yet.
  case sendsBeforeMark = "sends-before-mark"
  /// A replica gives a save another identity each time it is sent.
  case newIdentityEachTime = "new-identity-each-time"
  /// A replica drops one change of each save that it sends.
  case sendsHalfASave = "sends-half-a-save"
}
