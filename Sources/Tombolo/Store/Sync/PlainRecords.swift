import TomboloProtocol
import TomboloSQLite

/// The usual cases of a pulled record, without an image of it: one that is new here, one on which nothing is pending, and
/// the echo of this replica's own confirmed writes, which changes no row at all.
///
/// Everything else (merged records, hidden references, unsent edits, fields of a later schema) goes the long way of
/// ``ReplicaTransaction/relay(_:)``; both come to the same rows and the same sum.
struct PlainRecord {
  let state: RecordState
  fileprivate let table: RecordTable
  fileprivate let positions: [Int]
  /// The settled changes that the state confirms.
  fileprivate let chain: [PendingChange]
  fileprivate var isNew = false
  /// The columns that the row shows otherwise.
  fileprivate var changed = ColumnSet()
  /// Those of them that hold another value, and not only another stamp.
  fileprivate var shown: [Int] = []
  fileprivate var stamps: RowStamps
  /// What the confirmed state gains.
  fileprivate var gain = Checksum()
  fileprivate var loss = Checksum()
}

extension ReplicaTransaction {
  /// Whether records may go the short way now; asked once a batch. A repair watches what the long way replaces.
  var takesPlainRecords: Bool { get throws { try watch == nil && !rows.hasAliases && aside.isEmpty } }

  /// A pulled record made ready; nil if it must go the long way. Nothing is written yet.
  func plainRecord(_ state: RecordState) throws -> PlainRecord? {
    guard let plan = schema.entity(state.entity) else { return nil }
    let table = rows.table(plan)
    guard table.references.isEmpty || !rows.hasHidden, let positions = table.positions(of: state.fields) else {
      return nil
    }
    let chain = queue.saves.isEmpty ? [] : queue.changes(of: state.id)
    guard chain.allSatisfy(isPlainlySettled) else { return nil }
    var record = PlainRecord(
      state: state, table: table, positions: positions, chain: chain,
      stamps: RowStamps(created: state.incarnation, columnCount: plan.tableColumnCount))
    let row = try table.select()
    row.bind(state.id, at: 1)
    defer { row.reset() }
    guard try row.step() else { return chain.isEmpty && makeNew(&record) ? record : nil }
    guard let stamps = try rows.stamps(row, 0), stamps.created == state.incarnation,
      !plan.hasEntityColumn || row.holds(plan.name, Int32(table.columns.count + 1))
    else { return nil }
    record.stamps = stamps
    return compare(&record, with: row) ? record : nil
  }

  /// A change that the rows show and that the server has taken as it was: from now on it is confirmed, or gone.
  private func isPlainlySettled(_ change: PendingChange) -> Bool {
    let save = change.save
    return save.state == .answered && save.now.isHidden && save.before == PendingSave.Laying() && !change.isRelaid
      && save.now.fallen.isEmpty && save.now.fallenFields.isEmpty
  }

  /// Whether the table takes the value as it is: one that the server lacks and the table requires is made up elsewhere.
  private static func isStorable(_ value: Value, in column: RecordTable.Column) -> Bool {
    column.isOptional || column.type == nil || !value.isNull
  }

  private func makeNew(_ record: inout PlainRecord) -> Bool {
    let columns = record.table.columns
    guard record.state.isWhole, record.positions.count == columns.count else { return false }
    for (field, position) in zip(record.state.fields, record.positions) {
      guard Self.isStorable(field.value, in: columns[position]) else { return false }
      if field.stamp != record.state.incarnation { record.stamps.set(field.stamp, of: columns[position].number) }
    }
    record.isNew = true
    record.gain.insert(record.state)
    return true
  }

  /// What the state makes of the row that is there, and of the confirmed state beneath it.
  private func compare(_ record: inout PlainRecord, with row: Statement) -> Bool {
    let state = record.state
    guard let beneath = Beneath(record.chain, in: state) else { return false }
    let shown = record.stamps
    var met = 0
    if beneath.isNothing { record.gain.insert(life: state.incarnation, of: state.id, as: state.entity) }
    for (field, position) in zip(state.fields, record.positions) {
      let column = record.table.columns[position]
      let stamp = shown.stamp(of: column.number)
      let isShown = stamp == field.stamp && row.holds(field.value, Int32(position + 1))
      if !isShown {
        guard Self.isStorable(field.value, in: column) else { return false }
        record.changed.insert(position)
        if !row.holds(field.value, Int32(position + 1)) { record.shown.append(position) }
        record.stamps.set(field.stamp, of: column.number)
      }
      if beneath.isNothing {
        record.gain.insert(state.id, field.name, field.value, field.stamp)
      } else if let version = beneath.version(of: column.number) {
        met += 1
        if version.stamp == field.stamp, version.value == field.value { continue }
        record.loss.insert(state.id, field.name, version.value, version.stamp)
        record.gain.insert(state.id, field.name, field.value, field.stamp)
      } else if !isShown {
        record.loss.insert(state.id, field.name, row.value(Int32(position + 1)), stamp)
        record.gain.insert(state.id, field.name, field.value, field.stamp)
      }
    }
    // A column that the changes wrote and the state does not name falls back to what was beneath.
    return beneath.isNothing ? state.fields.count == record.table.columns.count : met == beneath.count
  }

  /// Writes what was made ready.
  /// - Returns: false, with nothing written, if a reference has to be hidden.
  func take(_ record: PlainRecord) throws -> Bool {
    let state = record.state
    guard try record.table.references.isEmpty || showsReferences(record) else { return false }
    confirmedSum.add(record.gain)
    confirmedSum.subtract(record.loss)
    if !record.chain.isEmpty { openRecords[state.id] = nil }
    for change in record.chain { change.isRelaid = true }
    if record.isNew {
      try insert(record)
      noteChange(state.id, from: nil, to: record.table.entity)
    } else if !record.changed.isEmpty {
      try update(record)
      noteChange(state.id, from: record.table.entity, to: record.table.entity)
      notes.note(state.id, columns: record.shown, of: record.table.entity)
    }
    return true
  }

  private func showsReferences(_ record: PlainRecord) throws -> Bool {
    for reference in record.table.references {
      guard record.isNew || record.changed.contains(reference.position),
        let index = record.positions.firstIndex(of: reference.position),
        let target = record.state.fields[index].value.reference
      else { continue }
      if reference.isAcyclic, target == record.state.id { return false }
      if try !rows.isVisible(target, as: reference.destination) { return false }
    }
    return true
  }

  private func insert(_ record: PlainRecord) throws {
    if mayHaveTombstones { try forgetTombstone(record.state.id) }
    let insert = try record.table.insert()
    insert.forgetBound()
    insert.bind(record.state.id, at: 1)
    for (field, position) in zip(record.state.fields, record.positions) {
      insert.bind(field.value, at: Int32(position + 2))
    }
    insert.bind(try rows.bytes(of: record.stamps), at: Int32(record.table.columns.count + 2))
    try insert.run()
    if insert.bound.wideTexts != 0 { try noteTexts(record) }
  }

  private func update(_ record: PlainRecord) throws {
    let update = try record.table.update(record.changed)
    update.forgetBound()
    update.bind(record.state.id, at: 1)
    update.bind(try rows.bytes(of: record.stamps), at: 2)
    var parameter: Int32 = 3
    record.changed.forEach { position in
      if let index = record.positions.firstIndex(of: position) {
        update.bind(record.state.fields[index].value, at: parameter)
      }
      parameter += 1
    }
    try update.run()
    if update.bound.wideTexts != 0 { try noteTexts(record) }
  }

  private func noteTexts(_ record: PlainRecord) throws {
    let entity = record.table.entity
    for (field, position) in zip(record.state.fields, record.positions) {
      try rows.noteText(field.value, of: record.state.id, in: entity.columns[position], of: entity)
    }
  }
}

/// What lay beneath a chain of settled changes to one record.
private struct Beneath {
  /// The first of them made the record.
  let isNothing: Bool
  private var fields: [(number: Int, version: FieldMerge.Version)] = []

  var count: Int { fields.count }

  /// Nil for a chain with more in it than creates and writes.
  init?(_ chain: [PendingChange], in state: RecordState) {
    guard let first = chain.first else {
      isNothing = false
      return
    }
    var isMade = false
    for change in chain {
      switch change.detail {
      case .create:
        guard change === first, change.save.stamp == state.incarnation, state.isWhole else { return nil }
        isMade = true
      case .update(let detail):
        guard detail.incarnation == state.incarnation else { return nil }
        if isMade { continue }
        for field in detail.fields {
          guard !field.isConsequence else { return nil }
          if fields.contains(where: { $0.number == field.column }) { continue }
          fields.append((field.column, FieldMerge.Version(value: field.under, stamp: field.underStamp ?? .zero)))
        }
      case .delete, .link: return nil
      }
    }
    isNothing = isMade
  }

  func version(of number: Int) -> FieldMerge.Version? { fields.first { $0.number == number }?.version }
}
