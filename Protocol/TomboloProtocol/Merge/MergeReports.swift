/// Who is told of what: of deletions that do not stand, and of what a deletion takes along.
extension MergeSession {
  /// Whether the author of the change set had not pulled a write of somebody else's: the last one, or the one whose value
  /// stands.
  func isUnseen(_ field: MergeField) -> Bool { isLastWriteUnseen(field) || isSourceUnseen(field) }

  func isLastWriteUnseen(_ field: MergeField) -> Bool {
    !field.stamp.isDerived && isUnseen(field.stamp, field.writePosition)
  }

  private func isSourceUnseen(_ field: MergeField) -> Bool {
    guard let source = field.source, let position = field.sourcePosition else { return false }
    return isUnseen(source, position)
  }

  func isUnseen(_ stamp: Stamp, _ position: FeedPosition) -> Bool {
    position > changeSet.base && stamp.replica != replica && !stamp.isZero
  }

  /// Tells everybody whose deletion killed a record that it does not stand, once for each deletion. What he did was to
  /// delete the root of a cascade, so the entry names that.
  func reportUndone(_ causes: [DeleteCause], of record: MergeRecord, _ rule: ConflictRule, by stamp: Stamp) throws {
    for cause in causes where reportedCauses.insert(cause).inserted {
      report(
        rule, to: cause.stamp.replica, entity: try self.record(cause.root)?.entity ?? record.entity, record: cause.root,
        lost: Version(value: .null, stamp: cause.stamp), standing: Version(value: .null, stamp: stamp))
    }
  }

  /// Tells the author of a field that it went with its record; of a counter, each author what he had added.
  ///
  /// - Parameter isLost: which additions are to be told.
  func reportDeath(
    of field: MergeField, in record: MergeRecord, named name: RecordID, _ rule: ConflictRule, standing death: Version?,
    isLost: (MergeField.Addition) -> Bool = { _ in true }
  ) throws {
    let isCounter = try entity(of: record).field(field.name)?.policy == .counter
    let lost = isCounter ? field.additions.filter(isLost) : []
    for addition in lost {
      report(
        rule, entity: record.entity, record: name, field: field.name,
        lost: Version(value: .integer(addition.delta), stamp: addition.stamp), standing: death)
    }
    guard lost.isEmpty else { return }
    report(
      rule, entity: record.entity, record: name, field: field.name,
      lost: Version(value: field.value, stamp: field.written), standing: death)
  }

  // MARK: Pairs

  /// Tells the authors of the pairs of a record that is about to be deleted, as far as the deleter had not seen them.
  func reportUnseenLinks(of id: RecordID) throws {
    if schema.resolved.links.isEmpty { return }
    for link in try links(of: id) where link.isPresent && isUnseen(link.stamp, link.position) {
      try report(link, ending: id, by: Version(value: .null, stamp: changeSet.stamp))
    }
  }

  /// Tells the author of a pair, if one of its ends is dead.
  func reportIfHidden(_ link: MergeLink) throws {
    for end in [link.key.source, link.key.target] {
      guard let record = try record(end), !record.isLiving, record.survivor == nil else { continue }
      return try report(link, ending: end, by: record.death)
    }
  }

  private func report(_ link: MergeLink, ending end: RecordID, by death: Version?) throws {
    guard let plan = schema.resolved.links[link.key.relationship], reportedLinks.insert(link.key).inserted else {
      return
    }
    report(
      end == link.key.source ? .recordDeleted : .targetDeleted, entity: plan.source, record: link.key.source,
      field: plan.sourceName, lost: Version(value: Value(reference: link.key.target), stamp: link.stamp),
      standing: death)
  }

  /// Whether a pair was linked or parted in the present lives of its ends; a new life ends its pairs without anybody's doing.
  func isOfPresentLife(_ link: MergeLink) throws -> Bool {
    try [link.key.source, link.key.target].allSatisfy { try record($0).map { $0.incarnation <= link.stamp } ?? true }
  }

  /// Two people linked and parted one pair: tells the one whose act does not stand. What is not there is no value.
  func reportLoser(_ link: MergeLink, to author: ReplicaID? = nil, _ rule: ConflictRule, standing: MergeLink) {
    guard let plan = schema.resolved.links[link.key.relationship], !link.stamp.isZero else { return }
    let version = { (link: MergeLink) in
      Version(value: link.isPresent ? Value(reference: link.key.target) : .null, stamp: link.stamp)
    }
    report(
      rule, to: author, entity: plan.source, record: link.key.source, field: plan.sourceName, lost: version(link),
      standing: version(standing))
  }

  /// Tells who parted a pair of a record that was merged into another, if the other has it.
  func reportIfBack(_ link: MergeLink) throws {
    let key = LinkKey(
      relationship: link.key.relationship, source: try resolve(link.key.source), target: try resolve(link.key.target))
    guard let standing = try self.link(key), standing.isPresent else { return }
    var lost = link
    lost.key = key
    reportLoser(lost, .uniqueMerge, standing: standing)
  }

  // MARK: The end

  /// Leaves out what came to nothing within the change set: the record, or what it refers to, lives after all.
  func settledReports() throws -> [ConflictEntry] {
    try conflicts.filter { entry in
      switch entry.rule {
      case .recordDeleted, .parentDeleted, .targetDeleted: break
      default: return true
      }
      guard let record = try record(try resolve(entry.record)), record.isLiving else { return true }
      let isPair = try entry.field.map { try entity(of: record).field($0) == nil } ?? false
      guard isPair || entry.rule == .targetDeleted, let target = entry.lost.value.reference else { return false }
      return try isGone(try resolve(target))
    }
  }
}

extension MergeRecord {
  /// Who ended it; nil for a record that lives.
  var death: FieldMerge.Version? {
    isLiving || deathStamp.isZero ? nil : FieldMerge.Version(value: .null, stamp: deathStamp)
  }
}

extension MergeField {
  /// The stamp of the write that the value is of.
  var written: Stamp { source ?? stamp }
}
