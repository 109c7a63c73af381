import TomboloProtocol
import TomboloSQLite

/// Turns what other programs wrote, as the triggers noted it, into one change set.
///
/// Of each record only the first note's image and the present row count: what lies between came to nothing. The rows are
/// there already, so nothing can be refused: `deny`, required references and keys that reject are passed over here, and the
/// server judges them.
struct ShellNotes {
  let writer: StoreWriter
  private var connection: Connection { writer.connection }
  private var schema: StoreSchema { writer.schema }

  static func exist(_ connection: Connection) throws -> Bool {
    try connection.firstRow("SELECT 1 FROM _tombolo_shell LIMIT 1") { _ in true } == true
  }

  /// How many records or ends of pairs another program has written since the last save.
  static func recordCount(_ connection: Connection) throws -> Int {
    try connection.firstRow("SELECT count(DISTINCT record) FROM _tombolo_shell") { Int($0.int64(0)) } ?? 0
  }

  private struct Note {
    var number: Int64
    var kind: ShellTriggers.Kind
    var entity: String
    var record: RecordID
    var image: ShellImage?

    var isLink: Bool { kind == .link || kind == .unlink }
  }

  /// Absorbs every record that holds what its schema admits, and all pairs; where there are no more of those, one of the
  /// others, so that the server, which refuses it, takes the rest.
  ///
  /// - Returns: whether notes are left for another save.
  func absorb() throws -> Bool {
    let notes = try read()
    try mendTexts(notes)
    var unsound: Set<RecordID> = []
    for note in notes where !note.isLink {
      guard let entity = schema.entity(note.entity), !unsound.contains(note.record) else { continue }
      if try !isSound(note.record, entity) { unsound.insert(note.record) }
    }
    var taken = notes.filter { $0.isLink || !unsound.contains($0.record) }
    if taken.isEmpty, let first = notes.first { taken = notes.filter { $0.record == first.record } }
    try absorb(taken)
    writer.finalChecks.removeAll()
    guard taken.count < notes.count else {
      try connection.execute("DELETE FROM _tombolo_shell")
      return false
    }
    for note in taken {
      try connection.run("DELETE FROM _tombolo_shell WHERE number = ?1") { $0.bind(note.number, at: 1) }
    }
    return true
  }

  private func mendTexts(_ notes: [Note]) throws {
    var mended: [RecordID: RepairIncident.Record] = [:]
    // A record's row is looked at once, however often it was written.
    var seen: Set<RecordID> = []
    for note in notes where !note.isLink && seen.insert(note.record).inserted {
      guard let named = schema.entity(note.entity),
        let entity = try writer.concreteEntity(of: schema.entity(named.root) ?? named, note.record),
        try ShellText(connection: connection).mend(note.record, of: entity)
      else { continue }
      mended[note.record] = RepairIncident.Record(id: note.record, entity: entity.name, kind: .text)
    }
    guard !mended.isEmpty else { return }
    try Incidents(connection).add(
      mended.values.sorted { $0.id < $1.id }, time: writer.options.clock.milliseconds())
  }

  private func absorb(_ notes: [Note]) throws {
    try forgetReplacedWords(notes)
    var seen: Set<RecordID> = []
    for note in notes where !note.isLink {
      guard let entity = schema.entity(note.entity), seen.insert(note.record).inserted else { continue }
      try absorb(note, entity)
    }
    var pairs: Set<LinkKey> = []
    for note in notes where note.isLink {
      guard let plan = schema.linkTables.first(where: { $0.link.key == note.entity }),
        let target = note.image?.values[0]?.reference
      else { continue }
      let key = LinkKey(relationship: note.entity, source: note.record, target: target)
      if pairs.insert(key).inserted { try absorb(note, plan, key) }
    }
  }

  /// A row that an insert took the place of went without a trigger, and the search index still has its words.
  private func forgetReplacedWords(_ notes: [Note]) throws {
    var last: [RecordID: Note] = [:]
    var replaced: [RecordID: SearchPlan] = [:]
    for note in notes where !note.isLink {
      defer { last[note.record] = note }
      // An insert that was ignored, or became an update, leaves no note of its own.
      guard note.kind == .insert, let before = last[note.record], before.kind == .update, let image = before.image,
        let entity = schema.entity(before.entity), let root = schema.entity(entity.root),
        let plan = SearchPlan(root: root, in: schema)
      else { continue }
      try connection.run(plan.removeBound) { statement in
        statement.bind(note.record, at: 1)
        for (index, searched) in plan.columns.enumerated() {
          let column = entity.columns.first { $0.column == searched.column }
          statement.bind(column.flatMap { image.values[$0.number] } ?? .null, at: Int32(index + 2))
        }
      }
      replaced[note.record] = plan
    }
    for (record, plan) in replaced {
      for statement in plan.renew { try connection.run(statement) { $0.bind(record, at: 1) } }
    }
  }

  private func read() throws -> [Note] {
    var notes: [Note] = []
    try connection.eachRow("SELECT kind, entity, record, image, number FROM _tombolo_shell ORDER BY number") { row in
      // A key that is no identity names no record that could be sent.
      guard let kind = ShellTriggers.Kind(rawValue: Int(row.int64(0))), let record = row.recordID(2) else { return }
      notes.append(
        Note(
          number: row.int64(4), kind: kind, entity: row.string(1), record: record,
          image: row.isNull(3) ? nil : ShellImage(row.string(3))))
    }
    return notes
  }

  /// Whether the row holds what the server takes; true for one that is gone.
  private func isSound(_ id: RecordID, _ named: EntityPlan) throws -> Bool {
    guard let entity = try writer.concreteEntity(of: schema.entity(named.root) ?? named, id) else { return true }
    let pair = try writer.statements.update(entity, entity.allColumns)
    guard let row = try writer.oldValues(pair.select, id, count: entity.columns.count) else { return true }
    return entity.columns.allSatisfy { column in
      let value = row.values[column.position]
      if value.isNull { return column.isOptional || !column.constantDefault.isNull }
      guard case .attribute(let attribute) = column.kind else { return value.reference != nil }
      return (try? ValueRules.normalized(value, as: attribute.type, named: column.property)) != nil
    }
  }

  // MARK: Records

  private func absorb(_ note: Note, _ entity: EntityPlan) throws {
    let concrete = try writer.concreteEntity(of: schema.entity(entity.root) ?? entity, note.record)
    switch (note.image, concrete) {
    case (nil, let concrete?) where note.kind == .insert: try absorbInsert(concrete, note.record)
    case (let image?, let concrete?): try absorbUpdate(concrete, note.record, image)
    case (let image?, nil): try absorbDelete(entity, note.record, image)
    default: return
    }
  }

  private func absorbInsert(_ entity: EntityPlan, _ id: RecordID) throws {
    guard let recorder = try writer.recording() else { return }
    let pair = try writer.statements.update(entity, entity.allColumns)
    guard let row = try writer.oldValues(pair.select, id, count: entity.columns.count) else { return }
    var assigned = ColumnSet()
    var values = row.values
    for column in entity.columns {
      let value = values[column.position]
      if value.isNull, !column.isOptional { values[column.position] = column.constantDefault }
      if value != column.constantDefault, !value.isNull { assigned.insert(column.position) }
      try noteText(entity, id, column, value)
    }
    for order in entity.orders where values[order.key].isNull && !values[order.reference].isNull {
      values[order.key] = try writer.newPlace(order, entity, id, values[order.reference])
      assigned.insert(order.key)
    }
    try recorder.create(entity, id)
    try write(id, row.row, values, stamps: recorder.newRowStamps(entity, assigned: assigned), with: pair)
    writer.inserted.append((entity.name, id))
    if !entity.uniqueKeys.isEmpty {
      writer.uniquePending.append(
        StoreWriter.UniqueCandidate(entity: entity, id: id, assigned: assigned, isInsert: true))
    }
  }

  private func absorbUpdate(_ entity: EntityPlan, _ id: RecordID, _ image: ShellImage) throws {
    guard let recorder = try writer.recording() else { return }
    let pair = try writer.statements.update(entity, entity.allColumns)
    guard let row = try writer.oldValues(pair.select, id, count: entity.columns.count) else { return }
    var writes: [ChangeRecorder.Write] = []
    var written = ColumnSet()
    var values = row.values
    for column in entity.columns {
      var new = values[column.position]
      guard let old = image.values[column.number] else { continue }
      if old == new, column.isPosition,
        let key = try writer.newPlace(entity, id, key: column.position, beside: writes)
      {
        new = key
        values[column.position] = key
      }
      if old == new { continue }
      writes.append(ChangeRecorder.Write(column: column, old: old, new: new))
      written.insert(column.position)
      try DecomposedTexts(connection: connection).forget(id, in: column, of: entity)
      try noteText(entity, id, column, new)
    }
    if writes.isEmpty {
      // Deleted and made again as it was: the row is the record's, and so are the stamps.
      if row.stamps != image.stamps { try write(id, row.row, values, stamps: image.stamps, with: pair) }
      return
    }
    let stamps = try recorder.update(entity, id, writes, stamps: image.stamps)
    try write(id, row.row, values, stamps: stamps, with: pair)
    writer.updated.append((entity.name, id))
    writer.noteUnique(entity, id, written: written)
  }

  private func absorbDelete(_ entity: EntityPlan, _ id: RecordID, _ image: ShellImage) throws {
    guard let recorder = try writer.recording() else { return }
    var detail = ChangeDetail.DeleteDetail(
      root: id, incarnation: nil, values: [:], stamps: image.stamps, links: [])
    for column in entity.columns { detail.values[column.number] = image.values[column.number] ?? .null }
    try recorder.delete(entity, id, detail)
    try DecomposedTexts(connection: connection).forget(id)
    writer.outcome.deleted.append((entity.name, id))
    try writer.settleDeletion(of: entity, id)
  }

  private func write(
    _ id: RecordID, _ row: Int64, _ values: [Value], stamps: [UInt8]?, with pair: WriterStatements.UpdateStatements
  ) throws {
    let update = pair.update
    pair.bind(id, row: row)
    if let stamps { update.bind(stamps, at: 2) } else { update.bindNull(at: 2) }
    for (index, value) in values.enumerated() { update.bind(value, at: Int32(index + 3)) }
    try update.run()
  }

  private func noteText(_ entity: EntityPlan, _ id: RecordID, _ column: ColumnPlan, _ value: Value) throws {
    if case .text(let text) = value { try writer.noteText(entity, id, column, text) }
  }

  // MARK: Pairs

  private func absorb(_ note: Note, _ plan: LinkPlan, _ key: LinkKey) throws {
    guard let recorder = try writer.recording(), let entity = schema.entity(plan.link.source) else { return }
    let wasPresent = note.kind == .unlink
    let table = plan.table.quotedIdentifier
    let isPresent =
      try connection.firstRow("SELECT 1 FROM \(table) WHERE source = ?1 AND target = ?2", { key.bind(to: $0) }) { _ in
        true
      } == true
    if wasPresent == isPresent {
      // Parted and linked again: the pair is what it was, and so is its stamp.
      if isPresent { try put(note.image?.stamps, of: key, in: table) }
      return
    }
    var under: Stamp?
    if recorder.stamp != nil {
      under =
        wasPresent
        ? try note.image?.stamps.map { try Stamp($0, writer.statements.replicas) } : try writer.takeUnlinked(key)
      under = under ?? .zero
    }
    let stamp = try recorder.link(entity, key, isPresent: isPresent, under: under)
    if isPresent {
      try put(stamp?.encoded(writer.statements.replicas), of: key, in: table)
    } else if let stamp {
      try writer.putUnlinked(key, stamp)
    }
    writer.outcome.touched.append((plan.link.source, key.source))
    writer.outcome.touched.append((plan.link.target, key.target))
  }

  private func put(_ stamp: [UInt8]?, of key: LinkKey, in table: String) throws {
    try connection.run("UPDATE \(table) SET _tombolo_stamps = ?3 WHERE source = ?1 AND target = ?2") {
      key.bind(to: $0)
      if let stamp { $0.bind(stamp, at: 3) } else { $0.bindNull(at: 3) }
    }
  }
}
