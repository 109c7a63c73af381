import Testing
import TomboloProtocol

/// Messages that between them use every part of the wire format; the golden files are these.
enum SampleMessages {
  static let ada = ReplicaID(0xADA0_0000_0000_0001)
  static let bob = ReplicaID(0xB0B0_0000_0000_0002)
  static let time: UInt64 = 1_764_519_163_000

  static func stamp(_ offset: UInt64, _ replica: ReplicaID = ada, counter: UInt16 = 0, derived: UInt32 = 0) -> Stamp {
    Stamp(clock: ClockReading(milliseconds: time + offset, counter: counter), replica: replica, derived: derived)
  }

  /// Keys that share their first bytes, as keys made one after another do.
  static func record(_ number: UInt64) -> RecordID {
    RecordID(high: time << 16 | 0x7000 | number, low: 0x8000_0000_0000_0000 | number &* 0x9E37_79B9_7F4A_7C15 >> 2)
  }

  static func save(_ number: UInt64) -> SaveID {
    SaveID(RecordID(high: number &* 0xD6E8_FEB8_6659_FD93, low: number &* 0xA5A5_5A5A_1234_5679))
  }

  static let introduction = Introduction(
    replica: ada, schemaVersion: SchemaVersion(1, 2, 0), highestSave: SaveNumber(7), holds: FeedPosition(40),
    epoch: Epoch(0xE0E1_E2E3_E4E5_E6E7))
  static let shortIntroduction = Introduction(
    replica: bob, schemaVersion: SchemaVersion(1, 0, 0), highestSave: .none, holds: nil, epoch: nil)

  static let values: [Value] = [
    .null, .integer(0), .integer(23), .integer(24), .integer(-1), .integer(.max), .integer(.min), .integer(65_536),
    .real(0), .real(1.5), .real(0.1), .real(-3e300), .real(.infinity), .real(-.infinity), .real(.leastNonzeroMagnitude),
    .real(786_240_000.25), .text(""), .text("Emma"), .text("é and e\u{301}, \"quoted\"\\\u{1}\n𝄞"), .blob([]),
    .blob([0, 1, 254, 255]), .init(reference: record(3)),
  ]

  static let changeSet = ChangeSet(
    id: save(1), number: SaveNumber(6), stamp: stamp(10), author: "import", schemaVersion: SchemaVersion(1, 2, 0),
    base: FeedPosition(40),
    changes: [
      .create(
        .init(
          entity: "Everything", id: record(1),
          fields: values.enumerated().map { index, value in
            .init(name: "field\(index)", value: value, isAssigned: !value.isNull)
          })),
      .create(
        .init(
          entity: "Book", id: record(2),
          fields: [
            .init(name: "title", value: .text("Emma"), isAssigned: true),
            .init(name: "isbn", value: .null, isAssigned: false),
          ])),
      .create(
        .init(
          entity: "Book", id: record(3),
          fields: [
            .init(name: "title", value: .text("Persuasion"), isAssigned: true),
            .init(name: "isbn", value: .null, isAssigned: false),
          ])),
      .update(
        .init(
          entity: "Book", id: record(4), incarnation: stamp(1),
          writes: [.init(name: "title", value: .text("Sanditon"), base: stamp(1))])),
      .update(
        .init(
          entity: "Book", id: record(5), incarnation: stamp(1),
          writes: [
            .init(name: "title", value: .null, base: .zero),
            .init(name: "isbn", value: .text("1"), base: stamp(4, bob, counter: 9)),
          ], additions: [.init(name: "stock", delta: -2), .init(name: "lent", delta: 3)])),
      .update(
        .init(
          entity: "Folder", id: record(6), incarnation: stamp(2, bob),
          writes: [
            .init(name: "a", value: .init(reference: record(7)), base: stamp(2, bob), replaced: .null),
            .init(name: "b", value: .null, base: .zero, replaced: .init(reference: record(8))),
            .init(name: "c", value: .null, base: stamp(3, bob, derived: 2), replaced: .init(reference: record(9))),
          ])),
      .delete(
        .init(
          entity: "Book", id: record(10), incarnation: stamp(1), cause: .init(stamp: stamp(10), root: record(10)))),
      .delete(
        .init(
          entity: "Note", id: record(11), incarnation: stamp(1), cause: .init(stamp: stamp(10), root: record(10)))),
      .delete(
        .init(
          entity: "Note", id: record(12), incarnation: stamp(5), cause: .init(stamp: stamp(9, bob), root: record(10)))),
      .link(
        .init(
          link: .init(relationship: "Note.tags", source: record(13), target: record(14)), isPresent: true, base: .zero)),
      .link(
        .init(
          link: .init(relationship: "Note.tags", source: record(13), target: record(15)), isPresent: false,
          base: stamp(6))),
    ], origin: .init(replica: bob, number: SaveNumber(3), epoch: Epoch(5)))

  static let emptyChangeSet = ChangeSet(
    id: save(2), number: SaveNumber(7), stamp: stamp(11), schemaVersion: SchemaVersion(1, 2, 0), base: .start,
    changes: [])

  /// Two records became one by a unique value.
  static let unitingChangeSet = ChangeSet(
    id: save(4), number: SaveNumber(8), stamp: stamp(12), schemaVersion: SchemaVersion(1, 2, 0), base: FeedPosition(3),
    changes: [
      .update(
        .init(
          entity: "Book", id: record(4), incarnation: stamp(1),
          writes: [.init(name: "title", value: .text("Emma"), base: stamp(1))])),
      .delete(
        .init(
          entity: "Book", id: record(5), incarnation: stamp(2, bob), cause: .init(stamp: stamp(12), root: record(5)),
          survivor: .init(id: record(4), incarnation: stamp(1)))),
    ])

  static let push = PushRequest(introduction: introduction, changeSets: [changeSet, emptyChangeSet])
  static let fragmentPush = PushRequest(
    introduction: shortIntroduction, changeSets: [],
    fragment: .init(save: save(3), index: 1, count: 3, bytes: [1, 2, 3, 250]))

  static let answers = [
    PushAnswer(save: save(1), number: SaveNumber(1), verdict: .accepted(fell: [])),
    PushAnswer(
      save: save(2), number: SaveNumber(2),
      verdict: .accepted(fell: [.init(change: 0), .init(change: 300, field: "title")])),
    PushAnswer(save: save(3), number: SaveNumber(3), verdict: .known(stamp: stamp(3, bob))),
    PushAnswer(
      save: save(4), number: SaveNumber(4),
      verdict: .refused(code: .uniqueViolation, message: "Book.isbn is taken by another record.")),
    PushAnswer(save: save(5), number: SaveNumber(5), verdict: .clockSkew),
    PushAnswer(save: save(6), number: SaveNumber(9), verdict: .gap(expected: SaveNumber(6))),
    PushAnswer(save: save(7), number: SaveNumber(6), verdict: .copiedReplica),
    PushAnswer(save: save(8), number: SaveNumber(6), verdict: .fragmentStored),
  ]

  static let pushResponse = PushResponse(epoch: Epoch(9), serverTime: time, answers: answers)

  static let conflict = ConflictEntry(
    id: record(20), replica: ada, rule: .laterEdit, entity: "Book", record: record(2), field: "title",
    base: stamp(1), lost: .init(value: .text("Emma!"), stamp: stamp(7)),
    standing: .init(value: .text("Emma?"), stamp: stamp(8, bob)))
  static let wholeConflict = ConflictEntry(
    id: record(21), replica: bob, rule: .recordDeleted, entity: "Note", record: record(11), field: nil, base: .zero,
    lost: .init(value: .null, stamp: stamp(7, bob)), standing: nil)

  static let items: [FeedItem] = [
    .record(
      RecordState(
        entity: "Book", id: record(2), incarnation: stamp(10),
        fields: [
          .init(name: "title", value: .text("Emma"), stamp: stamp(10)),
          .init(name: "isbn", value: .null, stamp: .zero),
          .init(name: "stock", value: .integer(-5), stamp: stamp(12, bob)),
        ], isWhole: true)),
    .record(
      RecordState(
        entity: "Book", id: record(3), incarnation: stamp(10),
        fields: [.init(name: "title", value: .text("Persuasion"), stamp: stamp(11, bob, derived: 1))], isWhole: false)),
    .tombstone(
      Tombstone(
        entity: "Book", id: record(10), incarnation: stamp(1),
        causes: [.init(stamp: stamp(10), root: record(10)), .init(stamp: stamp(9, bob), root: record(16))],
        stamp: stamp(10))),
    .tombstone(
      Tombstone(
        entity: "Author", id: record(17), incarnation: stamp(1),
        survivor: .init(id: record(18), incarnation: stamp(0, bob)), causes: [], stamp: stamp(1))),
    .link(
      LinkState(
        link: .init(relationship: "Note.tags", source: record(13), target: record(14)), isPresent: true,
        stamp: stamp(10))),
    .link(
      LinkState(
        link: .init(relationship: "Note.tags", source: record(13), target: record(15)), isPresent: false,
        stamp: stamp(12))),
    .conflict(conflict), .conflict(wholeConflict),
  ]

  static let cursor = Cursor(
    epoch: Epoch(0xE0E1_E2E3_E4E5_E6E7), base: FeedPosition(40), position: FeedPosition(41), start: FeedPosition(1000),
    commit: 0xC0FF_EE00_0000_0001)

  static let page = Page(
    cursor: cursor, items: items, hasMore: true, processed: SaveNumber(6), answers: answers, vector: [:],
    checksum: nil, serverTime: time)
  static let lastPage = Page(
    cursor: cursor, items: [], hasMore: false, processed: SaveNumber(7), answers: [],
    vector: [ada: SaveNumber(7), bob: SaveNumber(3)], checksum: Checksum(high: 1, low: .max), serverTime: time)

  /// From a server that takes less of a record than usual.
  static let strictPage = Page(
    cursor: cursor, items: [], hasMore: false, processed: SaveNumber(7), answers: [], vector: [:], checksum: nil,
    serverTime: time, recordBytesMax: 65_536)

  static let error = WireError(
    TomboloError(
      .schemaNotAdditive, "Version 1.1.0 is not an additive successor of 1.0.0.",
      remedy: "Mend what the details say and register again.",
      details: [
        .init(
          code: "attribute_removed", entity: "Book", property: "isbn", text: "The attribute is gone.",
          fix: "Leave it and stop using it."),
        .init(code: "entity_removed", entity: "Note", text: "The entity is gone."),
      ]))
  static let shortError = WireError(
    TomboloError(.rateLimited, "Too many requests with this token.", isRetryable: true))

  static let knownRequest = KnownRequest(introduction: introduction, saves: [save(1), save(2)])
  static let knownResponse = KnownResponse(saves: [.init(save: save(2), stamp: stamp(4))])

  static let reuploadRequest = ReuploadRequest(
    introduction: introduction, session: record(30), part: 3, cursor: cursor, answered: SaveNumber(5),
    items: Array(items.dropLast(2)), vector: [ada: SaveNumber(7), bob: SaveNumber(3)], isLast: true)
  static let shortReuploadRequest = ReuploadRequest(
    introduction: shortIntroduction, session: record(31), part: 0, cursor: nil, answered: .none, items: [], vector: [:],
    isLast: false)
  static let reuploadResponse = ReuploadResponse(epoch: Epoch(9), parts: 4, isComplete: true, serverTime: time)
  static let comparisonRequest = ComparisonRequest(cursor: cursor, buckets: [0, 7, 4_095])
  static let comparisonRecords = ComparisonRequest(cursor: cursor, records: [record(1), record(2)])
  static let comparisonResponse = ComparisonResponse(
    position: FeedPosition(44), buckets: [0, 7],
    records: [.init(id: record(1), sum: Checksum(high: 1, low: .max)), .init(id: record(2), sum: nil)])

  /// Every sample by the name of its golden file.
  static let all: [Sample] = [
    Sample("push", push), Sample("push-fragment", fragmentPush), Sample("push-response", pushResponse),
    Sample("page", page), Sample("page-last", lastPage), Sample("page-record-limit", strictPage),
    Sample("change-set", changeSet), Sample("change-set-uniting", unitingChangeSet),
    Sample("change-set-empty", emptyChangeSet), Sample("error", error), Sample("error-short", shortError),
    Sample("feed-item-record", items[0]), Sample("feed-item-tombstone", items[2]),
    Sample("feed-item-conflict", items[6]), Sample("known-request", knownRequest),
    Sample("known-response", knownResponse), Sample("reupload-request", reuploadRequest),
    Sample("reupload-request-short", shortReuploadRequest), Sample("reupload-response", reuploadResponse),
    Sample("known-response", knownResponse), Sample("comparison-request", comparisonRequest),
    Sample("comparison-records", comparisonRecords), Sample("comparison-response", comparisonResponse),
  ]
}

/// A message of any kind under the name of its golden file.
struct Sample: Sendable, CustomTestStringConvertible {
  let name: String
  let message: any WireMessage
  /// Decodes bytes as a message of this kind.
  let decode: @Sendable ([UInt8], WireFormat) throws -> any WireMessage

  init<Message: WireMessage>(_ name: String, _ message: Message) {
    self.name = name
    self.message = message
    decode = { try Message(decoding: $0, as: $1) }
  }

  var testDescription: String { name }
}
