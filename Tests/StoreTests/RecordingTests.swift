import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

extension Store {
  /// Switches on what a remote switches on, without one.
  func beginStamps() throws { try write { try StoreMeta($0).set(.hasRemote, to: .integer(1)) } }

  /// Every recorded change, in order, as save number, kind and decoded detail.
  func changes() throws -> [(save: Int64, record: RecordID?, detail: ChangeDetail)] {
    try read { connection in
      var found: [(save: Int64, record: RecordID?, detail: ChangeDetail)] = []
      try connection.eachRow("SELECT save, record, kind, detail FROM _tombolo_change ORDER BY save, position") { row in
        let kind = try #require(ChangeKind(rawValue: Int(row.int64(2))))
        let detail = try ChangeDetail(kind, decoding: row.isNull(3) ? nil : row.bytes(3))
        found.append((row.int64(0), row.recordID(1), detail))
      }
      return found
    }
  }

  func stamps(_ name: String, _ id: RecordID) throws -> RowStamps? {
    let table = try plan(name).table.quotedIdentifier
    return try read { connection in
      let bytes = try connection.firstRow(
        "SELECT _tombolo_stamps FROM \(table) WHERE _tombolo_id = ?1", { $0.bind(id, at: 1) },
        { $0.isNull(0) ? nil : $0.bytes(0) })
      return try (bytes ?? nil).map { try RowStamps($0, ReplicaNumbers(connection)) }
    }
  }

  func number(_ name: String, _ property: String) throws -> Int { try #require(plan(name).column(property)).number }
}

@Suite("Recording")
struct RecordingTests {
  @Test("A save leaves one row for itself and one for each change, in the same transaction (C49)")
  func oneRowAChange() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let note = try store.plan("Note")
      let first = store.makeRecordID()
      let outcome = try store.save(author: "import") { writer in
        try writer.insert(note, first, assigned: ColumnSet(), from: ValueRow(note, [:]))
        try writer.insert(note, store.makeRecordID(), assigned: ColumnSet(), from: ValueRow(note, [:]))
      }.outcome
      #expect(outcome.save == SaveNumber(1))
      #expect(try store.changes().count == 2)
      #expect(try store.integer("SELECT count(*) FROM _tombolo_save WHERE author = 'import'") == 1)
      try store.set("Note", first, ["title": .text("new")])
      let update = try #require(try store.changes().last)
      guard case .update(let detail) = update.detail else {
        Issue.record("not an update")
        return
      }
      #expect(detail.fields.map(\.under) == [.text("")])
      #expect(detail.fields.map(\.underStamp) == [nil])
    }
  }

  @Test("A save that fails leaves neither data nor bookkeeping (C49, C62)")
  func failedSave() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.file(TestSchemas.library())
      let note = try store.plan("Note")
      let sample = try store.plan("Sample")
      #expect(
        StoreFixture.code {
          try store.save { writer in
            try writer.insert(note, store.makeRecordID(), assigned: ColumnSet(), from: ValueRow(note, [:]))
            try writer.insert(
              sample, store.makeRecordID(), assigned: ColumnSet(), from: ValueRow(sample, ["required": .null]))
          }
        } == .requiredAttribute)
      #expect(try store.count("Note") == 0)
      #expect(try store.changes().isEmpty)
      #expect(try store.integer("SELECT count(*) FROM _tombolo_save") == 0)
      try store.insert("Note", [:])
      #expect(try store.integer("SELECT number FROM _tombolo_save") == 1)
    }
  }

  @Test("A save without changes, and an equal value, record nothing")
  func nothing() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let id = try store.insert("Note", ["title": .text("a")])
      #expect(try store.save { _ in }.outcome.save == nil)
      #expect(try store.set("Note", id, ["title": .text("a")]).save == nil)
      #expect(try store.changes().count == 1)
    }
  }

  @Test("Set and back, created and deleted, linked and parted within one save are nothing")
  func cancelling() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      try store.beginStamps()
      let note = try store.plan("Note")
      let id = try store.insert("Note", ["title": .text("a")])
      let tag = try store.insert("Tag", ["name": .text("t")])
      let tags = try #require(note.links.first)
      let before = try store.stamps("Note", id)
      let outcome = try store.save { writer in
        try writer.update(
          note, id, changed: ValueRow(note, ["title": .null]).assigned, from: ValueRow(note, ["title": .text("b")]))
        let temporary = store.makeRecordID()
        try writer.insert(note, temporary, assigned: ColumnSet(), from: ValueRow(note, [:]))
        try writer.link(tags, temporary, tag)
        try writer.delete(note, temporary)
        try writer.link(tags, id, tag)
        try writer.unlink(tags, id, tag)
        try writer.update(
          note, id, changed: ValueRow(note, ["title": .null]).assigned, from: ValueRow(note, ["title": .text("a")]))
      }.outcome
      #expect(outcome.save == nil)
      #expect(try store.changes().count == 2)
      #expect(try store.stamps("Note", id) == before)
    }
  }

  @Test("Rows have no stamps without a remote; with one, a clean row has at most sixteen bytes of them")
  func stamps() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      let old = try store.insert("Note", ["title": .text("a")])
      #expect(try store.stamps("Note", old) == nil)
      try store.beginStamps()
      let id = try store.insert("Note", ["title": .text("a"), "text": .text("b")])
      let row = try #require(try store.stamps("Note", id))
      #expect(try row.stamp(of: store.number("Note", "title")) == row.created)
      #expect(try row.stamp(of: store.number("Note", "folder")).isZero)
      #expect((try store.integer("SELECT max(length(_tombolo_stamps)) FROM Note") ?? 99) <= 16)
      fixture.clock.advance(by: 10)
      try store.set("Note", id, ["title": .text("b")])
      let later = try #require(try store.stamps("Note", id))
      #expect(try later.stamp(of: store.number("Note", "title")) > row.created)
      #expect(later.created == row.created)
    }
  }

  @Test("Later writes keep what was under them: each save's values can be told")
  func chain() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      try store.beginStamps()
      let id = try store.insert("Note", ["title": .text("one")])
      try store.set("Note", id, ["title": .text("two")])
      try store.set("Note", id, ["title": .text("three")])
      let updates = try store.changes().compactMap { change -> ChangeDetail.UpdateDetail? in
        if case .update(let detail) = change.detail { detail } else { nil }
      }
      #expect(updates.map { $0.fields.map(\.under) } == [[.text("one")], [.text("two")]])
      let bases = updates.flatMap(\.fields).map(\.base)
      #expect(bases[0] == (try store.stamps("Note", id)?.created))
      #expect(try #require(bases[1]) > #require(bases[0]))
      try store.delete("Note", id)
      guard case .delete(let detail) = try #require(try store.changes().last).detail else {
        Issue.record("not a delete")
        return
      }
      #expect(detail.values[try store.number("Note", "title")] == .text("three"))
      #expect(detail.root == id)
      #expect(detail.incarnation == bases[0])
    }
  }

  @Test("Every kind of detail reads back as it was written")
  func codec() throws {
    let stamp = Stamp(clock: ClockReading(rawValue: .max), replica: ReplicaID(.max), derived: 3)
    let other = Stamp(clock: ClockReading(rawValue: 1), replica: ReplicaID(2))
    let id = RecordID(high: 1, low: 2)
    let key = LinkKey(relationship: "Note.tags", source: id, target: RecordID(high: 3, low: 4))
    let details: [ChangeDetail] = [
      .create(.init()), .create(.init(own: [3: .text("x"), 70: .null])),
      .update(.init(incarnation: nil, fields: [.init(column: 0, base: nil, under: .null, underStamp: nil)])),
      .update(
        .init(
          incarnation: other,
          fields: [
            .init(column: 9, base: other, under: .real(1.5), underStamp: stamp, own: .blob([1, 2]), delta: -4),
            .init(column: 300, base: other, under: .integer(.min), underStamp: other, isConsequence: true),
          ])),
      .delete(.init(root: id, incarnation: nil, values: [:], stamps: nil, links: [])),
      .delete(
        .init(
          root: id, incarnation: other, values: [0: .text("a"), 1: .null], stamps: [1, 2, 3],
          links: [.init(link: key, stamp: nil), .init(link: key, stamp: [9])],
          hidden: [.init(attribute: "folder", target: id, stamp: [1])])),
      .link(.init(link: key, isPresent: true, base: nil, underIsPresent: false, underStamp: nil)),
      .link(.init(link: key, isPresent: false, base: other, underIsPresent: true, underStamp: stamp)),
    ]
    for detail in details { #expect(try ChangeDetail(detail.kind, decoding: detail.encoded) == detail) }
    #expect(throws: TomboloError.self) { try ChangeDetail(.update, decoding: [0xA1, 0x00]) }
    #expect(throws: TomboloError.self) { try ChangeDetail(.delete, decoding: nil) }
  }

  @Test("A column that was added after the row has the zero stamp")
  func laterColumn() throws {
    let stamp = Stamp(clock: ClockReading(milliseconds: 5), replica: ReplicaID(7))
    var stamps = RowStamps(created: stamp, columnCount: 3)
    stamps.set(.zero, of: 1)
    #expect([0, 1, 2, 3].map { stamps.stamp(of: $0).isZero } == [false, true, false, true])
    stamps.set(stamp.consequence, of: 3)
    stamps.set(stamp, of: 1)
    #expect(stamps.stamp(of: 3) == stamp.consequence)
    #expect(stamps.stamp(of: 1) == stamp)
  }
}
