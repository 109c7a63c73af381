// Pushes and pages on the wire.

/// The keys of the messages' own fields.
private enum FieldKey {
  // A push.
  static let introduction: UInt64 = 10
  static let changeSets: UInt64 = 11
  static let fragment: UInt64 = 12
  // Its answer.
  static let epoch: UInt64 = 10
  static let pushServerTime: UInt64 = 11
  static let pushAnswers: UInt64 = 12
  // A page.
  static let cursor: UInt64 = 10
  static let items: UInt64 = 11
  static let hasMore: UInt64 = 12
  static let processed: UInt64 = 13
  static let pageAnswers: UInt64 = 14
  static let vector: UInt64 = 15
  static let checksum: UInt64 = 16
  static let pageServerTime: UInt64 = 17
  static let recordBytesMax: UInt64 = 18
}

/// The keys of an introduction's map.
private enum IntroductionKey {
  static let replica: UInt64 = 0
  static let schemaVersion: UInt64 = 1
  static let highestSave: UInt64 = 2
  static let holds: UInt64 = 3
  static let epoch: UInt64 = 4
}

/// The numbers of the verdicts on a save.
private enum VerdictNumber {
  static let accepted: UInt64 = 0
  static let known: UInt64 = 1
  static let refused: UInt64 = 2
  static let clockSkew: UInt64 = 3
  static let gap: UInt64 = 4
  static let copiedReplica: UInt64 = 5
  static let fragmentStored: UInt64 = 6
}

extension PushRequest: WireMessage {
  package static var kind: MessageKind { .pushRequest }

  package func write(to writer: inout MessageWriter) {
    writer.field(FieldKey.introduction)
    writer.introduction(introduction)
    writer.field(FieldKey.changeSets)
    writer.body.array(count: changeSets.count)
    for set in changeSets { writer.changeSet(set) }
    if let fragment {
      writer.field(FieldKey.fragment)
      writer.body.array(count: 4)
      writer.body.bytes(fragment.save.bytes)
      writer.body.unsigned(UInt64(fragment.index))
      writer.body.unsigned(UInt64(fragment.count))
      writer.body.bytes(fragment.bytes)
    }
  }

  package init(from reader: inout MessageReader) throws {
    var introduction: Introduction?
    var changeSets: [ChangeSet]?
    var fragment: Fragment?
    try reader.fields { reader, key in
      switch key {
      case FieldKey.introduction: introduction = try reader.introduction()
      case FieldKey.changeSets: changeSets = try reader.list { try $0.changeSet() }
      case FieldKey.fragment:
        fragment = try reader.tuple(4) { reader, _ in
          let save = try reader.save()
          let index = try reader.integer(UInt32.self)
          let count = try reader.integer(UInt32.self)
          guard index < count else { throw reader.cbor.malformed("a fragment beyond the last") }
          return (Fragment(save: save, index: index, count: count, bytes: try reader.cbor.bytes()), 4)
        }
      default: return false
      }
      return true
    }
    guard let introduction, let changeSets else { throw reader.missing("the introduction or the change sets") }
    self.init(introduction: introduction, changeSets: changeSets, fragment: fragment)
  }
}

extension PushResponse: WireMessage {
  package static var kind: MessageKind { .pushResponse }

  package func write(to writer: inout MessageWriter) {
    writer.field(FieldKey.epoch)
    writer.body.unsigned(epoch.rawValue)
    writer.field(FieldKey.pushServerTime)
    writer.body.unsigned(serverTime)
    writer.field(FieldKey.pushAnswers)
    writer.body.array(count: answers.count)
    for answer in answers { writer.answer(answer) }
  }

  package init(from reader: inout MessageReader) throws {
    var epoch: Epoch?
    var serverTime: UInt64?
    var answers: [PushAnswer]?
    try reader.fields { reader, key in
      switch key {
      case FieldKey.epoch: epoch = Epoch(try reader.cbor.unsigned())
      case FieldKey.pushServerTime: serverTime = try reader.cbor.unsigned()
      case FieldKey.pushAnswers: answers = try reader.list { try $0.answer() }
      default: return false
      }
      return true
    }
    guard let epoch, let serverTime, let answers else { throw reader.missing("a part of the answer") }
    self.init(epoch: epoch, serverTime: serverTime, answers: answers)
  }
}

extension Page: WireMessage {
  package static var kind: MessageKind { .page }

  package func write(to writer: inout MessageWriter) {
    writer.field(FieldKey.cursor)
    cursor.write(to: &writer.body)
    writer.field(FieldKey.items)
    writer.body.array(count: items.count)
    for item in items { writer.feedItem(item) }
    writer.field(FieldKey.hasMore)
    writer.body.bool(hasMore)
    writer.field(FieldKey.processed)
    writer.body.unsigned(processed.rawValue)
    writer.field(FieldKey.pageAnswers)
    writer.body.array(count: answers.count)
    for answer in answers { writer.answer(answer) }
    writer.field(FieldKey.vector)
    writer.vector(vector)
    if let checksum {
      writer.field(FieldKey.checksum)
      writer.body.bytes(checksum.bytes)
    }
    writer.field(FieldKey.pageServerTime)
    writer.body.unsigned(serverTime)
    if let recordBytesMax {
      writer.field(FieldKey.recordBytesMax)
      writer.body.unsigned(UInt64(clamping: recordBytesMax))
    }
  }

  package init(from reader: inout MessageReader) throws {
    var cursor: Cursor?
    var items: [FeedItem]?
    var hasMore: Bool?
    var processed: SaveNumber?
    var answers: [PushAnswer] = []
    var vector: [ReplicaID: SaveNumber] = [:]
    var checksum: Checksum?
    var serverTime: UInt64?
    var recordBytesMax: Int?
    try reader.fields { reader, key in
      switch key {
      case FieldKey.cursor: cursor = try Cursor(from: &reader.cbor)
      case FieldKey.items: items = try reader.list { try $0.feedItem() }
      case FieldKey.hasMore: hasMore = try reader.cbor.bool()
      case FieldKey.processed: processed = SaveNumber(try reader.cbor.unsigned())
      case FieldKey.pageAnswers: answers = try reader.list { try $0.answer() }
      case FieldKey.vector: vector = try reader.vector()
      case FieldKey.checksum:
        checksum = Checksum(bytes: try reader.cbor.bytes())
        if checksum == nil { throw reader.cbor.malformed("a checksum has sixteen bytes") }
      case FieldKey.pageServerTime: serverTime = try reader.cbor.unsigned()
      case FieldKey.recordBytesMax: recordBytesMax = Int(clamping: try reader.cbor.unsigned())
      default: return false
      }
      return true
    }
    guard let cursor, let items, let hasMore, let processed, let serverTime else {
      throw reader.missing("a part of the page")
    }
    self.init(
      cursor: cursor, items: items, hasMore: hasMore, processed: processed, answers: answers, vector: vector,
      checksum: checksum, serverTime: serverTime, recordBytesMax: recordBytesMax)
  }
}

extension MessageWriter {
  mutating func introduction(_ introduction: Introduction) {
    body.map(count: 3 + (introduction.holds == nil ? 0 : 1) + (introduction.epoch == nil ? 0 : 1))
    body.unsigned(IntroductionKey.replica)
    replica(introduction.replica)
    body.unsigned(IntroductionKey.schemaVersion)
    schemaVersion(introduction.schemaVersion)
    body.unsigned(IntroductionKey.highestSave)
    body.unsigned(introduction.highestSave.rawValue)
    if let holds = introduction.holds {
      body.unsigned(IntroductionKey.holds)
      body.unsigned(holds.rawValue)
    }
    if let epoch = introduction.epoch {
      body.unsigned(IntroductionKey.epoch)
      body.unsigned(epoch.rawValue)
    }
  }

  mutating func vector(_ vector: [ReplicaID: SaveNumber]) {
    body.array(count: 2 * vector.count)
    for (replica, number) in vector.sorted(by: { $0.key < $1.key }) {
      self.replica(replica)
      body.unsigned(number.rawValue)
    }
  }

  fileprivate mutating func answer(_ answer: PushAnswer) {
    func begin(_ verdict: UInt64, parts: Int) {
      body.array(count: 3 + parts)
      body.bytes(answer.save.bytes)
      body.unsigned(answer.number.rawValue)
      body.unsigned(verdict)
    }
    switch answer.verdict {
    case .accepted(let fell):
      begin(VerdictNumber.accepted, parts: 1)
      body.array(count: 2 * fell.count)
      for part in fell {
        body.unsigned(UInt64(part.change))
        if let field = part.field { name(field) } else { body.null() }
      }
    case .known(let stamp):
      begin(VerdictNumber.known, parts: 1)
      self.stamp(stamp, suggested: .zero)
    case .refused(let code, let message):
      begin(VerdictNumber.refused, parts: 2)
      body.text(code.rawValue)
      body.text(message)
    case .clockSkew: begin(VerdictNumber.clockSkew, parts: 0)
    case .gap(let expected):
      begin(VerdictNumber.gap, parts: 1)
      body.unsigned(expected.rawValue)
    case .copiedReplica: begin(VerdictNumber.copiedReplica, parts: 0)
    case .fragmentStored: begin(VerdictNumber.fragmentStored, parts: 0)
    }
  }
}

extension MessageReader {
  mutating func introduction() throws -> Introduction {
    var replica: ReplicaID?
    var schemaVersion: SchemaVersion?
    var highestSave: SaveNumber?
    var holds: FeedPosition?
    var epoch: Epoch?
    try map { reader, key in
      switch key {
      case IntroductionKey.replica: replica = try reader.replica()
      case IntroductionKey.schemaVersion: schemaVersion = try reader.schemaVersion()
      case IntroductionKey.highestSave: highestSave = SaveNumber(try reader.cbor.unsigned())
      case IntroductionKey.holds: holds = FeedPosition(try reader.cbor.unsigned())
      case IntroductionKey.epoch: epoch = Epoch(try reader.cbor.unsigned())
      default: return false
      }
      return true
    }
    guard let replica, let schemaVersion, let highestSave else { throw missing("a part of the introduction") }
    return Introduction(
      replica: replica, schemaVersion: schemaVersion, highestSave: highestSave, holds: holds, epoch: epoch)
  }

  fileprivate mutating func answer() throws -> PushAnswer {
    try tuple(3) { reader, count in
      let save = try reader.save()
      let number = SaveNumber(try reader.cbor.unsigned())
      let (verdict, parts) = try reader.verdict()
      return (PushAnswer(save: save, number: number, verdict: verdict), 3 + parts)
    }
  }

  private mutating func verdict() throws -> (PushAnswer.Verdict, parts: Int) {
    let number = try cbor.unsigned()
    switch number {
    case VerdictNumber.accepted: return (.accepted(fell: try fallenParts()), 1)
    case VerdictNumber.known: return (.known(stamp: try stamp(suggested: .zero)), 1)
    case VerdictNumber.refused:
      let code = ErrorCode(rawValue: try cbor.text())
      return (.refused(code: code, message: try cbor.text()), 2)
    case VerdictNumber.clockSkew: return (.clockSkew, 0)
    case VerdictNumber.gap: return (.gap(expected: SaveNumber(try cbor.unsigned())), 1)
    case VerdictNumber.copiedReplica: return (.copiedReplica, 0)
    case VerdictNumber.fragmentStored: return (.fragmentStored, 0)
    default:
      throw TomboloError(
        .unknownMessageKind, "The message has a verdict of kind \(number), which this version does not know.",
        remedy: "Update Tombolo on this side.")
    }
  }

  private mutating func fallenParts() throws -> [FallenPart] {
    let count = try cbor.array()
    guard count.isMultiple(of: 2) else { throw cbor.malformed("half a fallen part") }
    var parts: [FallenPart] = []
    for _ in 0..<(count / 2) {
      let change = try integer(UInt32.self)
      parts.append(FallenPart(change: change, field: try cbor.null() ? nil : try name()))
    }
    return parts
  }

  mutating func vector() throws -> [ReplicaID: SaveNumber] {
    let count = try cbor.array()
    guard count.isMultiple(of: 2) else { throw cbor.malformed("half an entry of the vector") }
    var vector: [ReplicaID: SaveNumber] = [:]
    for _ in 0..<(count / 2) {
      let replica = try self.replica()
      guard vector.updateValue(SaveNumber(try cbor.unsigned()), forKey: replica) == nil else {
        throw cbor.malformed("a replica twice in the vector")
      }
    }
    return vector
  }
}
