/// The rules of the merge, each of which can be switched off: the simulation must notice when one is missing.
/// A server never runs with anything but the default.
package struct MergeRules: Hashable, Sendable {
  /// Equal clocks are told apart by the replica; without it the later arrival wins.
  package var tieBreakByReplica = true
  /// Equal values take the greater stamp.
  package var equalValuesTakeGreater = true
  /// What nobody assigned takes no part in max, min and firstWriter.
  package var unassignedIsAbsent = true
  /// What nobody assigned has the zero stamp.
  package var unassignedHasZeroStamp = true
  /// A delete knows what it had seen.
  package var deleteSeesWrites = true
  /// Dead records go on merging.
  package var tombstonesMerge = true
  /// Deletes carry the root of their cascade, and fall with it.
  package var deletesCarryCause = true
  /// A record that is dead because of its parent comes back with a greater reference to a living one.
  package var lateCascadeLifts = true
  /// A delete that does not stand gives the record back whole.
  package var revivesWhole = true
  /// A delete that has not seen a unique merge does not stand.
  package var deleteSeesUniqueMerge = true
  /// A base that names a refused write counts as that write's own base.
  package var basesPassRefusedWrites = true
  /// Saves are known by their id.
  package var savesHaveIdentity = true
  /// A record answers to the ids that were merged into it.
  package var aliasesAnswer = true
  /// Of a many-to-many relationship each pair merges by itself.
  package var linksMergeByPair = true
  /// Tombstones are kept until every living replica has pulled them.
  package var collectionWaits = true
  /// Whether unique keys, one-to-one claims, cycles and delete rules are checked at all.
  package var checksIntegrity = true
  /// Two records with one unique value become one.
  package var uniteTwins = true
  /// A unique value that is taken refuses the change set, where its key is declared so.
  package var rejectTwins = true
  /// A record that a living child refers to is not deleted, where the rule is `deny`.
  package var denyDeletes = true
  /// A child of a dead parent dies, where the rule is `cascade`.
  package var cascadeToChildren = true
  /// A record without what it requires dies.
  package var cascadeToRequiring = true
  /// A reference to a dead record reads as nil.
  package var hideDeadTargets = true
  /// One partner of a one-to-one has one claim.
  package var settleClaims = true
  /// Trees declared acyclic have no cycles.
  package var openCycles = true
  /// What hangs on a refused save is refused.
  package var refuseDependents = true
  /// Another save under a number that is taken tells that a copy is pushing.
  package var noticeCopies = true
  package init() {}
}
