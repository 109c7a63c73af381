import Testing
import TomboloProtocol

/// The rules of merge.md, one sentence each.
@Suite struct MergeRuleTests {
  private typealias Version = FieldMerge.Version

  private static func stamp(_ clock: UInt64, _ replica: UInt64 = 1, derived: UInt32 = 0) -> Stamp {
    Stamp(clock: ClockReading(milliseconds: clock), replica: ReplicaID(replica), derived: derived)
  }
  private static func version(_ value: Int64, _ clock: UInt64, _ replica: UInt64 = 1) -> Version {
    Version(value: .integer(value), stamp: stamp(clock, replica))
  }

  struct Fold: Sendable {
    var policy: MergePolicy
    var versions: [(value: Int64, clock: UInt64)]
    var value: Int64
    var clock: UInt64
  }

  static let folds = [
    Fold(policy: .lastWriter, versions: [(1, 10), (2, 12), (3, 11)], value: 2, clock: 12),
    Fold(policy: .lastWriter, versions: [(7, 10), (8, 11), (7, 12)], value: 7, clock: 12),
    Fold(policy: .max, versions: [(5, 10), (9, 11), (7, 12)], value: 9, clock: 12),
    Fold(policy: .max, versions: [(9, 0), (-4, 11), (-6, 12)], value: -4, clock: 12),
    Fold(policy: .min, versions: [(5, 10), (9, 11), (7, 12)], value: 5, clock: 12),
    Fold(policy: .min, versions: [(0, 0), (9, 11), (7, 12)], value: 7, clock: 12),
    Fold(policy: .firstWriter, versions: [(5, 12), (6, 10), (7, 11)], value: 6, clock: 10),
    Fold(policy: .firstWriter, versions: [(0, 0), (7, 12), (7, 10)], value: 7, clock: 10),
  ]

  @Test("a field comes to one version in every order of arrival", arguments: folds)
  func foldsInAnyOrder(_ fold: Fold) {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let versions = order.map { index in
        let (value, clock) = fold.versions[index]
        return clock == 0 ? Version(value: .integer(value), stamp: .zero) : Self.version(value, clock)
      }
      let standing = versions.dropFirst().reduce(versions[0]) { FieldMerge.fold(fold.policy, of: .int64, $0, $1) }
      #expect(standing == Self.version(fold.value, fold.clock), "order \(order)")
    }
  }

  @Test("of equal clocks the greater replica wins, in both orders; without the rule the order decides")
  func tieBreak() {
    let (a, b) = (Self.version(1, 10, 1), Self.version(2, 10, 2))
    #expect(FieldMerge.fold(.lastWriter, of: .int64, a, b) == b)
    #expect(FieldMerge.fold(.lastWriter, of: .int64, b, a) == b)
    var rules = MergeRules()
    rules.tieBreakByReplica = false
    #expect(FieldMerge.fold(.lastWriter, of: .int64, b, a, rules: rules) == a)
  }

  @Test("nil is a value of the default policy, and none for max and min")
  func nilValues() {
    let (value, none) = (Self.version(1, 10), Version(value: .null, stamp: Self.stamp(11)))
    #expect(FieldMerge.fold(.lastWriter, of: .int64, value, none) == none)
    for policy in [MergePolicy.max, .min] {
      #expect(FieldMerge.fold(policy, of: .int64, value, none) == Self.version(1, 11))
      #expect(FieldMerge.fold(policy, of: .int64, none, value) == Self.version(1, 11))
    }
  }

  @Test(
    "decimals are compared as numbers",
    arguments: [("9", "10"), ("-10", "-9"), ("-1", "0"), ("1.05", "1.5"), ("0.2", "0.25"), ("99.9", "100")])
  func decimals(_ less: String, _ greater: String) {
    #expect(FieldMerge.isLess(.text(less), .text(greater), of: .decimal))
    #expect(!FieldMerge.isLess(.text(greater), .text(less), of: .decimal))
  }

  // MARK: Whole merges

  /// A server with records P, each from its own save.
  private struct Server {
    var state = MemoryMergeReader()
    private var number: [UInt64: UInt64] = [:]
    private var saves: UInt64 = 0

    mutating func take(_ changes: [Change], at clock: UInt64, by replica: UInt64 = 1, seen: UInt64 = 0) throws
      -> MergeEffects
    {
      number[replica, default: 0] += 1
      saves += 1
      let set = ChangeSet(
        id: SaveID(RecordID(high: 9, low: saves)), number: SaveNumber(number[replica, default: 0]),
        stamp: stamp(clock, replica), schemaVersion: SchemaVersion(1, 0, 0), base: FeedPosition(seen), changes: changes)
      let context = MergeContext(
        schema: MergeModelSchema.schema, now: 1_000, greatestMilliseconds: state.greatestMilliseconds)
      let effects = try MergeEngine.merge(
        set, from: ReplicaID(replica), at: state.head.next, into: state, context: context)
      state.apply(effects, of: set, from: ReplicaID(replica))
      return effects
    }

    func shown(_ id: RecordID, _ field: String) throws -> Value? {
      let record = try #require(state.records[id])
      let item = try MergeEngine.item(for: record, since: .start, reader: state, schema: MergeModelSchema.schema)
      guard case .record(let whole) = item else { return nil }
      return whole.fields.first { $0.name == field }?.value
    }
  }

  private static func create(_ entity: String, _ id: RecordID, _ fields: [String: Value] = [:]) -> Change {
    .create(
      .init(
        entity: entity, id: id,
        fields: fields.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value, isAssigned: true) }))
  }

  private static func move(_ id: RecordID, from: RecordID?, to: RecordID, made: UInt64) -> Change {
    .update(
      .init(
        entity: "P", id: id, incarnation: stamp(made),
        writes: [
          .init(
            name: "par", value: Value(reference: to), base: stamp(made), replaced: from.map { Value(reference: $0) })
        ]))
  }

  @Test("a move that closes a cycle goes back to the replaced value, if that lives and closes none; else to nil")
  func undoneMove() throws {
    let ids = (1...3).map { RecordID(high: 1, low: UInt64($0)) }
    for isParentDeleted in [false, true] {
      var server = Server()
      _ = try server.take(ids.map { Self.create("P", $0) }, at: 10)
      _ = try server.take([Self.move(ids[0], from: nil, to: ids[2], made: 10)], at: 20)
      if isParentDeleted {
        let cause = DeleteCause(stamp: Self.stamp(25), root: ids[2])
        let delete = Change.Delete(entity: "P", id: ids[2], incarnation: Self.stamp(10), cause: cause)
        _ = try server.take([.delete(delete)], at: 25, seen: 2)
      }
      _ = try server.take([Self.move(ids[1], from: nil, to: ids[0], made: 10)], at: 30, by: 2)
      let effects = try server.take([Self.move(ids[0], from: ids[2], to: ids[1], made: 10)], at: 40, by: 3)
      #expect(try server.shown(ids[0], "par") == Value(reference: isParentDeleted ? nil : ids[2]))
      #expect(try server.shown(ids[1], "par") == Value(reference: ids[0]))
      #expect(effects.conflicts.contains { $0.rule == .cycle && $0.record == ids[0] })
    }
  }

  @Test("what the schema does not have, or of another type, is refused whole, and what hangs on it too")
  func refusals() throws {
    let (good, bad) = (RecordID(high: 1, low: 1), RecordID(high: 1, low: 2))
    var server = Server()
    let first = try server.take([Self.create("P", good), Self.create("Nothing", bad)], at: 10)
    #expect(first.verdict == .refused(code: .unknownEntity, message: "The schema has no entity Nothing."))
    #expect(server.state.records.isEmpty && !first.usesPosition)
    let typed = try server.take([Self.create("P", bad, ["f": .text("no number")])], at: 11)
    guard case .refused(.wrongType, _) = typed.verdict else {
      Issue.record("\(typed.verdict)")
      return
    }
    let dependent = try server.take([Self.create("N", good, ["own": Value(reference: bad)])], at: 12)
    guard case .refused(.dependsOnRefused, _) = dependent.verdict else {
      Issue.record("\(dependent.verdict)")
      return
    }
    #expect(try server.take([Self.create("P", bad)], at: 13).verdict == .accepted(fell: []))
  }

  @Test("a stamp too far ahead, or not above its base, is a clock fault, and is not remembered")
  func skew() throws {
    let id = RecordID(high: 1, low: 1)
    var server = Server()
    #expect(try server.take([Self.create("P", id)], at: 400_000).verdict == .clockSkew)
    #expect(server.state.numbers.isEmpty && server.state.records.isEmpty)
  }

  @Test("a record's row payload reads back as it was written, and cut short it is refused")
  func payload() throws {
    let id = RecordID(high: 1, low: 1)
    var record = MergeRecord(
      entity: "P", id: id, incarnation: Self.stamp(10),
      fields: [
        MergeField(name: "f", value: .real(1.5), stamp: Self.stamp(10), position: FeedPosition(3)),
        MergeField(name: "par", value: .null, stamp: Self.stamp(11, derived: 2), replaced: .blob(id.bytes)),
      ])
    record.fields[0].source = Self.stamp(9, 2)
    record.fields[1].note(.init(stamp: Self.stamp(11), delta: -3, position: FeedPosition(4)))
    record.life = .deleted
    record.causes = [DeleteCause(stamp: Self.stamp(12), root: id)]
    let bytes = record.encoded()
    #expect(try MergeRecord(decoding: bytes) == record)
    for count in 0..<bytes.count {
      #expect(throws: CBORReader.Malformed.self) { try MergeRecord(decoding: Array(bytes.prefix(count))) }
    }
  }

  @Test("of more additions to a counter than are kept, the oldest goes with the next of its author")
  func additions() {
    var field = MergeField(name: "cnt", value: .integer(0), stamp: Self.stamp(10))
    for number in 1...9 {
      field.note(
        .init(
          stamp: Self.stamp(UInt64(number), number % 2 == 0 ? 2 : 1), delta: Int64(number),
          position: FeedPosition(UInt64(number))))
    }
    #expect(field.additions.map(\.delta) == [2, 4, 4, 5, 6, 7, 8, 9])
  }

  @Test("a pending create hides an earlier life, and is hidden by a later one; a delete hides the life that it names")
  func overlay() throws {
    let entity = try #require(MergeModelSchema.schema.entity("P"))
    let id = RecordID(high: 1, low: 1)
    let create = Change.Create(entity: "P", id: id, fields: [.init(name: "f", value: .integer(1), isAssigned: true)])
    let older = RecordImage(entity: "P", incarnation: Self.stamp(5), fields: [:])
    let newer = RecordImage(entity: "P", incarnation: Self.stamp(15), fields: [:])
    #expect(Overlay.lay(create, stamp: Self.stamp(10), over: older, entity: entity)?.incarnation == Self.stamp(10))
    #expect(Overlay.lay(create, stamp: Self.stamp(10), over: newer, entity: entity) == newer)
    let cause = DeleteCause(stamp: Self.stamp(12), root: id)
    let delete = Change.Delete(entity: "P", id: id, incarnation: Self.stamp(5), cause: cause)
    #expect(Overlay.lay(delete, over: older, isAlias: false) == nil)
    #expect(Overlay.lay(delete, over: newer, isAlias: false) == newer)
  }
}
