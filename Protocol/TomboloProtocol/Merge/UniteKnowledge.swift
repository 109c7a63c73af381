/// What the author of a save that united two records had seen of the one that goes.
///
/// What he had seen he laid over the other himself. Of a third record that had meanwhile become one with either he knew
/// nothing: its values are folded in like anybody's, and told where they do not stand.
struct UniteKnowledge {
  /// The record that he meant: as it was when it became an alias of another, or as it is.
  private let meant: MergeRecord
  /// Whether it has become an alias of another.
  private let hasMoved: Bool
  /// What others united with the record that he meant, and he had not seen.
  private let strangers: [MergeRecord]
  private let session: MergeSession

  init(_ delete: Change.Delete, of twin: MergeRecord, in session: MergeSession) throws {
    let meant = try session.record(delete.id) ?? twin
    self.meant = meant
    hasMoved = meant.id != twin.id
    strangers = try session.aliases(of: meant.id).compactMap(session.record).filter { alias in
      guard case .merged(let survivor) = alias.life, survivor.incarnation == meant.incarnation else { return false }
      // Its death bears the stamp of the save that united the two; or of the survivor, where the server did.
      let isOwn = alias.deathStamp.replica == session.replica && alias.deathStamp != survivor.incarnation
      return alias.lifePosition > session.changeSet.base && !isOwn
    }
    self.session = session
  }

  /// Whether he had seen a value of the record that goes, as one of the record that he meant.
  func covers(_ field: MergeField) -> Bool {
    if session.isUnseen(field) { return false }
    return !strangers.contains { Self.has(field, $0) } && (!hasMoved || Self.has(field, meant))
  }

  /// References are told apart by their stamps alone: they are resolved whenever records become one.
  private static func has(_ field: MergeField, _ record: MergeRecord) -> Bool {
    record.fields.contains { own in
      own.name == field.name && own.written == field.written
        && (own.value == field.value || own.value.reference != nil && field.value.reference != nil)
    }
  }

  /// What a counter of the record that goes has without his knowledge.
  func unknownCount(of counter: MergeField) -> Int64 {
    let strange = strangers.compactMap { $0.fields.first { $0.name == counter.name } }
    let added = Set(strange.flatMap(\.additions))
    let own = meant.fields.first { $0.name == counter.name }
    let unseen = (own?.additions ?? []).filter { session.isUnseen($0.stamp, $0.position) && !added.contains($0) }
    let count = unseen.reduce(0) { $0 &+ $1.delta } &+ strange.reduce(0) { $0 &+ $1.count }
    return hasMoved ? counter.count &- (own?.count ?? 0) &+ count : count
  }
}

extension MergeField {
  /// A counter's total.
  fileprivate var count: Int64 {
    if case .integer(let count) = value { return count }
    return 0
  }
}
