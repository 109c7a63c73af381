import TomboloProtocol
import TomboloSQLite

/// What a pull brings for one record.
enum PulledRecord {
  case state(RecordState)
  case tombstone(Tombstone)
  /// A snapshot does not have it.
  case absent
}

/// Laying anew: back to the confirmed state, what was pulled into it, and the pending changes over it again.
extension ReplicaTransaction {
  struct RecordWork {
    var id: RecordID
    var entity: EntityPlan
    var pulled: PulledRecord?
    fileprivate var old: ReplicaRows.Row?
    fileprivate var confirmed: RecordImage?

    init(id: RecordID, entity: EntityPlan, pulled: PulledRecord? = nil) {
      self.id = id
      self.entity = entity
      self.pulled = pulled
    }
  }

  /// Takes a batch of records, each of them once.
  func relay(_ batch: [RecordWork]) throws {
    var works: [RecordWork] = []
    var places: [RecordID: Int] = [:]
    func add(_ work: RecordWork) {
      if let place = places[work.id] {
        if let pulled = work.pulled { works[place].pulled = pulled }
        return
      }
      places[work.id] = works.count
      works.append(work)
    }
    for work in batch {
      let home = try rows.resolve(work.id)
      if home != work.id { add(RecordWork(id: home, entity: work.entity)) }
      add(work)
      // What is pending on a record that was merged away goes on with the survivor.
      if case .tombstone(let tombstone) = work.pulled, let survivor = tombstone.survivor {
        add(RecordWork(id: try rows.resolve(survivor.id), entity: work.entity))
      }
    }
    for index in works.indices { try takeBack(&works[index]) }
    for index in works.indices { try applyPulled(&works[index]) }
    try show(works)
  }

  private func takeBack(_ work: inout RecordWork) throws {
    work.old = try rows.row(work.entity, work.id)
    if let old = work.old { work.entity = old.entity }
    work.confirmed = work.old.map(rows.image)
    if queue.saves.isEmpty { return }
    guard try rows.resolve(work.id) == work.id else { return }
    let chain = try rows.namesakes(of: work.id).flatMap { queue.changes(of: $0) }.inOrder(\.number)
    if chain.isEmpty { return }
    work.confirmed = try RecordOverlay(id: work.id, rows: rows).unwind(
      work.confirmed, chain, covered: aside.isEmpty ? nil : aside.confirmed(work.id))
    try adoptAside(&work)
  }

  /// What was set aside of a record that a pending delete hid while the schema came to know it belongs to the record again.
  private func adoptAside(_ work: inout RecordWork) throws {
    guard let entity = work.confirmed.flatMap({ rows.merge.entity($0.entity) }), try !aside.isEmpty else { return }
    for state in try aside.fieldStates(of: work.id) {
      guard let field = state.fields.first, entity.field(field.name)?.admits(field.value) ?? false else { continue }
      if state.incarnation == work.confirmed?.incarnation {
        work.confirmed?.fields[field.name] = FieldMerge.Version(value: field.value, stamp: field.stamp)
      } else {
        confirmedSum.remove(work.id, field.name, field.value, field.stamp)
      }
      try aside.forget([field.name], of: work.id)
    }
  }

  private func applyPulled(_ work: inout RecordWork) throws {
    guard let pulled = work.pulled else { return }
    addToSum(work, isAdding: false)
    let before = work.confirmed
    defer { watch?.note(work.id, before, work.confirmed) }
    switch pulled {
    case .state(let state): try apply(state, to: &work)
    case .tombstone(let tombstone):
      work.confirmed = nil
      try aside.removeFields(of: work.id)
      try rows.setAlias(work.id, tombstone)
      try keep(tombstone)
    case .absent:
      work.confirmed = nil
      try rows.setAlias(work.id, nil)
    }
    addToSum(work, isAdding: true)
  }

  private func apply(_ state: RecordState, to work: inout RecordWork) throws {
    try rows.setAlias(work.id, nil)
    try forgetTombstone(work.id)
    let isSameLife = work.confirmed?.incarnation == state.incarnation
    guard state.isWhole || isSameLife else { return }
    if !isSameLife {
      let entity = try rows.entity(work.entity)
      var fields: [String: FieldMerge.Version] = [:]
      for field in entity.fields { fields[field.name] = FieldMerge.Version(value: field.absent, stamp: .zero) }
      work.confirmed = RecordImage(entity: state.entity, incarnation: state.incarnation, fields: fields)
    }
    for field in state.fields where work.confirmed?.fields[field.name] != nil {
      work.confirmed?.fields[field.name] = FieldMerge.Version(value: field.value, stamp: field.stamp)
    }
  }

  private func addToSum(_ work: RecordWork, isAdding: Bool) {
    guard let image = work.confirmed else { return }
    var sum = Checksum()
    sum.insert(life: image.incarnation, of: work.id, as: image.entity)
    for (name, version) in image.fields { sum.insert(work.id, name, version.value, version.stamp) }
    if isAdding { confirmedSum.add(sum) } else { confirmedSum.subtract(sum) }
  }

  private func keep(_ tombstone: Tombstone) throws {
    let bytes = FeedItem.tombstone(tombstone).encoded(as: .cbor)
    try connection.run("INSERT OR REPLACE INTO _tombolo_tombstone(record, entity, body) VALUES (?1, ?2, ?3)") {
      $0.bind(tombstone.id, at: 1)
      $0.bind(tombstone.entity, at: 2)
      $0.bind(bytes, at: 3)
    }
    mayHaveTombstones = true
  }

  func forgetTombstone(_ id: RecordID) throws {
    guard mayHaveTombstones else { return }
    try connection.run("DELETE FROM _tombolo_tombstone WHERE record = ?1") { $0.bind(id, at: 1) }
  }

  /// Lays what is still pending, then writes the rows, of which each knows by now which others there are.
  private func show(_ works: [RecordWork]) throws {
    var images: [RecordImage?] = []
    for work in works {
      openRecords[work.id] = nil
      guard try rows.resolve(work.id) == work.id else {
        images.append(nil)
        continue
      }
      var image = work.confirmed
      let chain =
        queue.saves.isEmpty
        ? [] : try rows.namesakes(of: work.id).flatMap { queue.changes(of: $0) }.inOrder(\.order)
      if !chain.isEmpty {
        let laid = try RecordOverlay(id: work.id, rows: rows).lay(chain, over: work.confirmed)
        image = laid.shown
        if try laid.covered != nil || !aside.isEmpty { try aside.setConfirmed(work.id, laid.covered) }
        for change in chain { change.isRelaid = true }
      }
      images.append(image)
    }
    for (work, image) in zip(works, images) { rows.expect(work.id, isVisible: image != nil) }
    for (work, image) in zip(works, images) { try write(image, work) }
  }

  private func write(_ image: RecordImage?, _ work: RecordWork) throws {
    guard let image else {
      if let old = work.old {
        if reportedRecords.contains(work.id) {
          try LostRecords(connection: connection, schema: schema).keep(old, work.id)
        }
        if try rows.remove(old.entity, work.id) { linkSum = nil }
        noteChange(work.id, from: old.entity, to: nil)
        notes.note(work.id, deleting: old)
      }
      return
    }
    let entity = schema.entity(image.entity) ?? work.entity
    let row = try rows.project(image, entity, work.id)
    if row == work.old { return }
    try rows.write(row, work.id, replacing: work.old)
    noteChange(work.id, from: work.old?.entity, to: entity)
    noteColumns(work.id, from: work.old, to: row)
  }

  private func noteColumns(_ id: RecordID, from old: ReplicaRows.Row?, to new: ReplicaRows.Row) {
    guard let old, old.entity === new.entity else { return }
    notes.note(id, columns: new.values.indices.filter { old.values[$0] != new.values[$0] }, of: new.entity)
  }

  /// Lays the records anew that were opened and that no page brought.
  func relayOpen() throws {
    // Ends: laying a record anew takes it from the list.
    while !openRecords.isEmpty {
      let batch = openRecords.keys.sorted().prefix(1_000)
      let works = batch.compactMap { id in openRecords[id].map { RecordWork(id: id, entity: $0) } }
      for id in batch { openRecords[id] = nil }
      try relay(works)
    }
  }

  /// References to records that came or went show, or hide.
  func settleReferences() throws {
    var holders: [RecordID: EntityPlan] = [:]
    for id in rows.hasHidden ? Array(changed.appeared) : [] {
      for name in try rows.namesakes(of: id) {
        try connection.eachRow(
          "SELECT record, entity FROM _tombolo_hidden WHERE target = ?1", { $0.bind(name, at: 1) }
        ) { row in
          if let holder = row.recordID(0), let entity = schema.entity(row.string(1)) { holders[holder] = entity }
        }
      }
    }
    for (id, entity) in changed.disappeared {
      for (holder, column, _) in schema.neighbours(of: entity).referrers {
        try connection.eachRow(
          "SELECT _tombolo_id FROM \(holder.table.quotedIdentifier) WHERE \(column.column.quotedIdentifier) = ?1",
          { $0.bind(id, at: 1) }
        ) { row in
          if let found = row.recordID(0) { holders[found] = holder }
        }
      }
    }
    for (id, entity) in holders.sorted(by: { $0.key < $1.key }) {
      guard let old = try rows.row(entity, id) else { continue }
      let row = try rows.project(rows.image(old), old.entity, id)
      if row == old { continue }
      try rows.write(row, id, replacing: old)
      noteChange(id, from: old.entity, to: old.entity)
      noteColumns(id, from: old, to: row)
    }
  }
}
