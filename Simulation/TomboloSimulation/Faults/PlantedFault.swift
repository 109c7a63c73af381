import TomboloProtocol
import TomboloSQLite

/// A defect that a run can be given on purpose. A run that stays green with one of these proves that its checkers sleep.
public enum PlantedFault: String, Sendable, Hashable, CaseIterable {
  // Rules that the server's merge leaves out.

  /// The server does not check unique keys, delete rules, one-to-one claims and cycles.
  case mergeWithoutIntegrity = "merge-without-integrity"
  /// The server takes every delete as having seen everything.
  case mergeDeletesBlindly = "merge-deletes-blindly"
  /// Of two writes with one clock reading the later arrival stands, instead of the greater replica's.
  case tieBreakDropped = "tie-break-dropped"
  /// Equal values keep the smaller stamp.
  case equalValuesKeepSmaller = "equal-values-keep-smaller"
  /// A value that nobody assigned counts in a maximum, a minimum and as the first writer's.
  case unassignedCounts = "unassigned-counts"
  /// Writes to a dead record are dropped, instead of merged for the case that it comes back.
  case tombstonesDropWrites = "tombstones-drop-writes"
  /// A record whose delete does not stand is not delivered again to whoever deleted it.
  case revivedInPart = "revived-in-part"
  /// A save is taken again when it comes under another replica's id.
  case savesWithoutIdentity = "saves-without-identity"
  /// An edit of a record that was merged into another is lost.
  case aliasForgotten = "alias-forgotten"
  /// Adding one link removes the others of its record.
  case linkSetReplaced = "link-set-replaced"
  /// Tombstones are forgotten before every replica has pulled them.
  case collectedEarly = "collected-early"

  /// What a cascade took along stays dead, though the deletion of its root does not stand.
  case cascadeOutlivesRoot = "cascade-outlives-root"
  /// A delete ends what was merged into its record without its knowledge.
  case deleteIgnoresMerge = "delete-ignores-merge"
  /// A child that moves to a living parent stays as dead as the one that it comes from.
  case orphansStayDead = "orphans-stay-dead"
  /// Two records keep one unique value.
  case uniqueKeptApart = "unique-kept-apart"
  /// A unique value that is declared to be rejected is taken twice.
  case rejectLetThrough = "reject-let-through"
  /// A record is deleted under its living children, where the rule is `deny`.
  case denyIgnored = "deny-ignored"
  /// A child outlives its parent, where the rule is `cascade`.
  case lateChildKept = "late-child-kept"
  /// A record outlives what it requires.
  case requiringKept = "requiring-kept"
  /// The server shows a reference to a dead record.
  case deadTargetShown = "dead-target-shown"
  /// Two claims on one partner of a one-to-one stand.
  case claimsKept = "claims-kept"
  /// A tree that is declared acyclic has a cycle.
  case cyclesKept = "cycles-kept"
  /// What hangs on a refused save is taken.
  case dependentsTaken = "dependents-taken"
  /// The server takes a copy of a replica for the replica itself.
  case copiesUnnoticed = "copies-unnoticed"

  // Defects around it.

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
  /// A replica says of each edit that it had seen what it last pulled.
  case baseAdvancedOnSend = "base-advanced-on-send"
  /// A replica does not tell which records a delete took with it.
  case cascadeUnrecorded = "cascade-unrecorded"
  /// A replica takes what it saved while a push was under way for settled with it.
  case settlesUnsent = "settles-unsent"
  /// A replica takes a refused save for an accepted one.
  case refusalUnread = "refusal-unread"
  /// A replica does not read the answers to what it sends.
  case answersUnread = "answers-unread"
  /// A replica that meets another server gives it nothing.
  case reuploadsNothing = "reuploads-nothing"
  /// A replica does not look at the server's checksum.
  case checksumIgnored = "checksum-ignored"
  /// A replica's clock is forgotten when it restarts.
  case clockNotPersisted = "clock-not-persisted"
  /// What an older schema version does not know is nil after the upgrade.
  case unknownFieldNulled = "unknown-field-nulled"
}

extension PlantedFault {
  var isOfReplica: Bool {
    switch self {
    case .cursorBeforeData, .pagesShownOneByOne, .sendsBeforeMark, .newIdentityEachTime, .sendsHalfASave,
      .baseAdvancedOnSend, .cascadeUnrecorded, .settlesUnsent, .refusalUnread, .answersUnread, .reuploadsNothing,
      .checksumIgnored:
      true
    default: false
    }
  }

  /// The server's rules with one of them missing.
  var mergeRules: MergeRules {
    var rules = MergeRules()
    switch self {
    case .mergeWithoutIntegrity: rules.checksIntegrity = false
    case .mergeDeletesBlindly: rules.deleteSeesWrites = false
    case .tieBreakDropped: rules.tieBreakByReplica = false
    case .equalValuesKeepSmaller: rules.equalValuesTakeGreater = false
    case .unassignedCounts: rules.unassignedIsAbsent = false
    case .tombstonesDropWrites: rules.tombstonesMerge = false
    case .revivedInPart: rules.revivesWhole = false
    case .savesWithoutIdentity: rules.savesHaveIdentity = false
    case .aliasForgotten: rules.aliasesAnswer = false
    case .linkSetReplaced: rules.linksMergeByPair = false
    case .collectedEarly: rules.collectionWaits = false
    case .cascadeOutlivesRoot: rules.deletesCarryCause = false
    case .deleteIgnoresMerge: rules.deleteSeesUniqueMerge = false
    case .orphansStayDead: rules.lateCascadeLifts = false
    case .uniqueKeptApart: rules.uniteTwins = false
    case .rejectLetThrough: rules.rejectTwins = false
    case .denyIgnored: rules.denyDeletes = false
    case .lateChildKept: rules.cascadeToChildren = false
    case .requiringKept: rules.cascadeToRequiring = false
    case .deadTargetShown: rules.hideDeadTargets = false
    case .claimsKept: rules.settleClaims = false
    case .cyclesKept: rules.openCycles = false
    case .dependentsTaken: rules.refuseDependents = false
    case .copiesUnnoticed: rules.noticeCopies = false
    default: break
    }
    return rules
  }

  /// What is done to a replica's file before it is opened.
  func damage(_ disk: MemoryFileSystem) throws {
    guard self == .clockNotPersisted else { return }
    try Self.run("DELETE FROM _tombolo_meta WHERE key = 'clock'", on: disk)
  }

  /// What is done to a replica's file before another schema version opens it.
  func damageBeforeUpgrade(_ disk: MemoryFileSystem) throws {
    guard self == .unknownFieldNulled else { return }
    try Self.run("DELETE FROM _tombolo_aside", on: disk)
  }

  private static func run(_ sql: String, on disk: MemoryFileSystem) throws {
    guard disk.paths.contains(SimulatedReplica.path) else { return }
    var options = Connection.Options()
    options.vfs = disk.name
    let connection = try Connection(path: SimulatedReplica.path, options: options)
    try connection.execute(sql)
  }
}
