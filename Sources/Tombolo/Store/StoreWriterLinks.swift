package import TomboloProtocol
import TomboloSQLite

extension StoreWriter {
  /// Links two records; nothing if they are linked already.
  package func link(_ plan: LinkPlan, _ own: RecordID, _ other: RecordID) throws {
    let recorder = try recording()
    let key = Self.key(plan, own, other)
    let exists = try connection.firstRow(
      "SELECT 1 FROM \(plan.table.quotedIdentifier) WHERE source = ?1 AND target = ?2", { key.bind(to: $0) },
      { _ in true })
    if exists == true { return }
    let under = try recorder?.stamp == nil ? nil : takeUnlinked(key) ?? .zero
    let stamp = try recorder?.link(sourceEntity(plan), key, isPresent: true, under: under)?.encoded(statements.replicas)
    try connection.run(
      "INSERT INTO \(plan.table.quotedIdentifier)(source, target, _tombolo_stamps) VALUES (?1, ?2, ?3)"
    ) {
      key.bind(to: $0)
      if let stamp { $0.bind(stamp, at: 3) } else { $0.bindNull(at: 3) }
    }
    noteLink(plan, own, other)
  }

  /// Parts two records; nothing if they are not linked.
  package func unlink(_ plan: LinkPlan, _ own: RecordID, _ other: RecordID) throws {
    let recorder = try recording()
    let key = Self.key(plan, own, other)
    let table = plan.table.quotedIdentifier
    let found = try connection.firstRow(
      "SELECT _tombolo_stamps FROM \(table) WHERE source = ?1 AND target = ?2", { key.bind(to: $0) },
      { $0.isNull(0) ? [] : $0.bytes(0) })
    guard let found else { return }
    let under = found.isEmpty ? nil : try Stamp(found, statements.replicas)
    try connection.run("DELETE FROM \(table) WHERE source = ?1 AND target = ?2") { key.bind(to: $0) }
    if let recorder,
      let stamp = try recorder.link(
        sourceEntity(plan), key, isPresent: false, under: under ?? recorder.stamp.map { _ in .zero })
    {
      try putUnlinked(key, stamp)
    }
    noteLink(plan, own, other)
  }

  static func key(_ plan: LinkPlan, _ own: RecordID, _ other: RecordID) -> LinkKey {
    LinkKey(
      relationship: plan.link.key, source: plan.isSource ? own : other, target: plan.isSource ? other : own)
  }

  private func sourceEntity(_ plan: LinkPlan) throws -> EntityPlan {
    guard let entity = schema.entity(plan.link.source) else {
      throw TomboloError(.unknownEntity, "The schema has no entity \(plan.link.source).")
    }
    return entity
  }

  /// The stamp with which the pair was parted, which is forgotten now that it is linked again.
  func takeUnlinked(_ key: LinkKey) throws -> Stamp? {
    let find = "SELECT stamp FROM _tombolo_unlinked WHERE relationship = ?3 AND source = ?1 AND target = ?2"
    let bytes = try connection.firstRow(
      find,
      {
        key.bind(to: $0)
        $0.bind(key.relationship, at: 3)
      }, { $0.bytes(0) })
    guard let bytes else { return nil }
    try connection.run("DELETE FROM _tombolo_unlinked WHERE relationship = ?3 AND source = ?1 AND target = ?2") {
      key.bind(to: $0)
      $0.bind(key.relationship, at: 3)
    }
    return try Stamp(bytes, statements.replicas)
  }

  func putUnlinked(_ key: LinkKey, _ stamp: Stamp) throws {
    // A pair that nobody ever linked leaves nothing behind.
    if stamp.isZero { return }
    let bytes = try stamp.encoded(statements.replicas)
    try connection.run(
      "INSERT OR REPLACE INTO _tombolo_unlinked(relationship, source, target, stamp) VALUES (?3, ?1, ?2, ?4)"
    ) {
      key.bind(to: $0)
      $0.bind(key.relationship, at: 3)
      $0.bind(bytes, at: 4)
    }
  }

  private func noteLink(_ plan: LinkPlan, _ own: RecordID, _ other: RecordID) {
    outcome.touched.append((plan.isSource ? plan.link.source : plan.link.target, own))
    outcome.touched.append((plan.destination, other))
  }
}

extension LinkKey {
  /// Binds the source to the first parameter and the target to the second.
  func bind(to statement: Statement) {
    statement.bind(source, at: 1)
    statement.bind(target, at: 2)
  }
}
