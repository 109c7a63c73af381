/// `POST …/reupload`: one part of what a replica gives a server that was restored, replaced or wiped.
///
/// The server keeps the parts until the last one is there and then takes all of them at once; a part may be sent again.
package struct ReuploadRequest: Hashable, Sendable {
  package var introduction: Introduction
  /// Names the whole re-upload; the parts of another one of the same replica are forgotten.
  package var session: RecordID
  /// From 0.
  package var part: UInt64
  /// Where the replica stood in the feed of the earlier epoch: its last complete pull. Nil if it never finished one.
  package var cursor: Cursor?
  /// The highest of its saves that the server of the earlier epoch had answered.
  package var answered: SaveNumber
  /// Whole records, tombstones, and pairs: the confirmed state, without the replica's own saves.
  package var items: [FeedItem]
  /// The processed numbers of all replicas, as the last complete pull named them; in the last part.
  package var vector: [ReplicaID: SaveNumber]
  package var isLast: Bool

  package init(
    introduction: Introduction, session: RecordID, part: UInt64, cursor: Cursor?, answered: SaveNumber,
    items: [FeedItem], vector: [ReplicaID: SaveNumber], isLast: Bool
  ) {
    self.introduction = introduction
    self.session = session
    self.part = part
    self.cursor = cursor
    self.answered = answered
    self.items = items
    self.vector = vector
    self.isLast = isLast
  }
}

package struct ReuploadResponse: Hashable, Sendable {
  /// The epoch that the replica goes on in.
  package var epoch: Epoch
  /// How many parts of the session are there, from the first one on.
  package var parts: UInt64
  /// Whether everything was taken: what the replica has not had confirmed may be pushed.
  package var isComplete: Bool
  /// Milliseconds since 1970.
  package var serverTime: UInt64

  package init(epoch: Epoch, parts: UInt64, isComplete: Bool, serverTime: UInt64) {
    self.epoch = epoch
    self.parts = parts
    self.isComplete = isComplete
    self.serverTime = serverTime
  }
}

private enum Key {
  static let introduction: UInt64 = 10
  static let session: UInt64 = 11
  static let part: UInt64 = 12
  static let cursor: UInt64 = 13
  static let answered: UInt64 = 14
  static let items: UInt64 = 15
  static let vector: UInt64 = 16
  static let isLast: UInt64 = 17

  static let epoch: UInt64 = 10
  static let parts: UInt64 = 11
  static let isComplete: UInt64 = 12
  static let serverTime: UInt64 = 13
}

extension ReuploadRequest: WireMessage {
  package static var kind: MessageKind { .reuploadRequest }

  package func write(to writer: inout MessageWriter) {
    writer.field(Key.introduction)
    writer.introduction(introduction)
    writer.field(Key.session)
    writer.body.bytes(session.bytes)
    writer.field(Key.part)
    writer.body.unsigned(part)
    if let cursor {
      writer.field(Key.cursor)
      cursor.write(to: &writer.body)
    }
    writer.field(Key.answered)
    writer.body.unsigned(answered.rawValue)
    writer.field(Key.items)
    writer.body.array(count: items.count)
    for item in items { writer.feedItem(item) }
    writer.field(Key.vector)
    writer.vector(vector)
    writer.field(Key.isLast)
    writer.body.bool(isLast)
  }

  package init(from reader: inout MessageReader) throws {
    var introduction: Introduction?
    var session: RecordID?
    var part: UInt64?
    var cursor: Cursor?
    var answered = SaveNumber.none
    var items: [FeedItem]?
    var vector: [ReplicaID: SaveNumber] = [:]
    var isLast: Bool?
    try reader.fields { reader, key in
      switch key {
      case Key.introduction: introduction = try reader.introduction()
      case Key.session: session = RecordID(bytes: try reader.cbor.bytes())
      case Key.part: part = try reader.cbor.unsigned()
      case Key.cursor: cursor = try Cursor(from: &reader.cbor)
      case Key.answered: answered = SaveNumber(try reader.cbor.unsigned())
      case Key.items: items = try reader.list { try $0.feedItem() }
      case Key.vector: vector = try reader.vector()
      case Key.isLast: isLast = try reader.cbor.bool()
      default: return false
      }
      return true
    }
    guard let introduction, let session, let part, let items, let isLast else {
      throw reader.missing("a part of the re-upload")
    }
    self.init(
      introduction: introduction, session: session, part: part, cursor: cursor, answered: answered, items: items,
      vector: vector, isLast: isLast)
  }
}

extension ReuploadResponse: WireMessage {
  package static var kind: MessageKind { .reuploadResponse }

  package func write(to writer: inout MessageWriter) {
    writer.field(Key.epoch)
    writer.body.unsigned(epoch.rawValue)
    writer.field(Key.parts)
    writer.body.unsigned(parts)
    writer.field(Key.isComplete)
    writer.body.bool(isComplete)
    writer.field(Key.serverTime)
    writer.body.unsigned(serverTime)
  }

  package init(from reader: inout MessageReader) throws {
    var epoch: Epoch?
    var parts: UInt64?
    var isComplete: Bool?
    var serverTime: UInt64?
    try reader.fields { reader, key in
      switch key {
      case Key.epoch: epoch = Epoch(try reader.cbor.unsigned())
      case Key.parts: parts = try reader.cbor.unsigned()
      case Key.isComplete: isComplete = try reader.cbor.bool()
      case Key.serverTime: serverTime = try reader.cbor.unsigned()
      default: return false
      }
      return true
    }
    guard let epoch, let parts, let isComplete, let serverTime else { throw reader.missing("a part of the answer") }
    self.init(epoch: epoch, parts: parts, isComplete: isComplete, serverTime: serverTime)
  }
}

extension ReuploadRequest {
  package var jsonBody: JSONObject {
    var members: [(String, JSONValue)] = [
      ("introduction", introduction.json), ("session", .string(session.description)), ("part", .unsigned(part)),
      ("answered", .unsigned(answered.rawValue)), ("items", .list(items, \.json)), ("vector", .vector(vector)),
      ("isLast", .bool(isLast)),
    ]
    if let cursor { members.append(("cursor", .string(cursor.text))) }
    return JSONObject(members)
  }

  package init(jsonBody fields: JSONFields) throws {
    self.init(
      introduction: try Introduction(json: fields.fields("introduction")), session: try fields.record("session"),
      part: try fields.unsigned("part"), cursor: try fields.optionalText("cursor").map { try Cursor(text: $0) },
      answered: SaveNumber(fields.isAbsent("answered") ? 0 : try fields.unsigned("answered")),
      items: try fields.list("items") { try FeedItem(json: $0) }, vector: try fields.vector("vector"),
      isLast: try fields.bool("isLast", default: false))
  }
}

extension ReuploadResponse {
  package var jsonBody: JSONObject {
    JSONObject([
      ("epoch", .hexadecimal(epoch.rawValue)), ("parts", .unsigned(parts)), ("isComplete", .bool(isComplete)),
      ("serverTime", .unsigned(serverTime)),
    ])
  }

  package init(jsonBody fields: JSONFields) throws {
    self.init(
      epoch: Epoch(try fields.hexadecimal("epoch")), parts: try fields.unsigned("parts"),
      isComplete: try fields.bool("isComplete", default: false), serverTime: try fields.unsigned("serverTime"))
  }
}
