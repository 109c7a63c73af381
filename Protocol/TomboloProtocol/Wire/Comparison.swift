/// `POST …/checksum`: where the server's content differs from a replica's, asked from the coarse to the fine.
///
/// Without buckets and records it asks for the sums of all buckets; with buckets for the sums of the records in them; with
/// records (at `POST …/checksum/records`) for their state, which is answered with a ``Page``.
package struct ComparisonRequest: Hashable, Sendable {
  /// Where the replica's last complete pull ended: what changed after it is not compared.
  package var cursor: Cursor
  /// Ascending, below ``Checksum/bucketCount``; none asks for all sums.
  package var buckets: [UInt32]
  package var records: [RecordID]
  package init(cursor: Cursor, buckets: [UInt32] = [], records: [RecordID] = []) {
    self.cursor = cursor
    self.buckets = buckets
    self.records = records
  }

  /// More than so many buckets, or records, are not asked for at once: then a snapshot is the shorter way.
  package static let bucketsMax = 256
  package static let recordsMax = 1_000
}

/// The sums of all buckets, or those of the records in the buckets asked for.
package struct ComparisonResponse: Hashable, Sendable {
  /// The head of the server's feed; the buckets' sums are those at it.
  package var position: FeedPosition
  /// One a bucket; empty where buckets were named.
  package var sums: [Checksum]
  /// The buckets whose records follow: the first of those asked for, as many as one answer holds.
  package var buckets: [UInt32]
  package var records: [Part]

  package struct Part: Hashable, Sendable {
    package var id: RecordID
    /// Nil for a record of which something has changed since the cursor: a pull brings it.
    package var sum: Checksum?
    package init(id: RecordID, sum: Checksum?) {
      self.id = id
      self.sum = sum
    }
  }

  package init(
    position: FeedPosition, sums: [Checksum] = [], buckets: [UInt32] = [], records: [Part] = []
  ) {
    self.position = position
    self.sums = sums
    self.buckets = buckets
    self.records = records
  }
}

extension ComparisonRequest: WireMessage {
  package static var kind: MessageKind { .comparisonRequest }

  package func write(to writer: inout MessageWriter) {
    writer.field(10)
    cursor.write(to: &writer.body)
    if !buckets.isEmpty {
      writer.field(11)
      writer.body.array(count: buckets.count)
      for bucket in buckets { writer.body.unsigned(UInt64(bucket)) }
    }
    if !records.isEmpty {
      writer.field(12)
      writer.body.array(count: records.count)
      for record in records { writer.body.bytes(record.bytes) }
    }
  }

  package init(from reader: inout MessageReader) throws {
    var cursor: Cursor?
    var buckets: [UInt32] = []
    var records: [RecordID] = []
    try reader.fields { reader, key in
      switch key {
      case 10: cursor = try Cursor(from: &reader.cbor)
      case 11: buckets = try reader.list { try $0.bucket() }
      case 12: records = try reader.list { try $0.wholeRecord() }
      default: return false
      }
      return true
    }
    guard let cursor else { throw reader.missing("the cursor") }
    self.init(cursor: cursor, buckets: buckets, records: records)
  }
}

extension ComparisonResponse: WireMessage {
  package static var kind: MessageKind { .comparisonResponse }

  package func write(to writer: inout MessageWriter) {
    writer.field(10)
    writer.body.unsigned(position.rawValue)
    if !sums.isEmpty {
      writer.field(11)
      writer.body.bytes(sums.flatMap(\.bytes))
    }
    if !buckets.isEmpty {
      writer.field(12)
      writer.body.array(count: buckets.count)
      for bucket in buckets { writer.body.unsigned(UInt64(bucket)) }
      writer.field(13)
      writer.body.array(count: 2 * records.count)
      for part in records {
        writer.body.bytes(part.id.bytes)
        if let sum = part.sum { writer.body.bytes(sum.bytes) } else { writer.body.null() }
      }
    }
  }

  package init(from reader: inout MessageReader) throws {
    var position: FeedPosition?
    var sums: [Checksum] = []
    var buckets: [UInt32] = []
    var records: [Part] = []
    try reader.fields { reader, key in
      switch key {
      case 10: position = FeedPosition(try reader.cbor.unsigned())
      case 11:
        guard let all = Checksum.list(of: try reader.cbor.bytes()), all.count == Checksum.bucketCount else {
          throw reader.cbor.malformed("there are \(Checksum.bucketCount) sums of sixteen bytes")
        }
        sums = all
      case 12: buckets = try reader.list { try $0.bucket() }
      case 13: records = try reader.parts()
      default: return false
      }
      return true
    }
    guard let position else { throw reader.missing("the position") }
    self.init(position: position, sums: sums, buckets: buckets, records: records)
  }
}

extension MessageReader {
  fileprivate mutating func bucket() throws -> UInt32 {
    let bucket = try integer(UInt32.self)
    guard bucket < Checksum.bucketCount else { throw cbor.malformed("a bucket beyond the last") }
    return bucket
  }

  fileprivate mutating func wholeRecord() throws -> RecordID {
    guard let record = RecordID(bytes: try cbor.bytes()) else { throw cbor.malformed("a record has sixteen bytes") }
    return record
  }

  fileprivate mutating func parts() throws -> [ComparisonResponse.Part] {
    let count = try cbor.array()
    guard count.isMultiple(of: 2) else { throw cbor.malformed("half a record") }
    var parts: [ComparisonResponse.Part] = []
    for _ in 0..<(count / 2) {
      let id = try wholeRecord()
      if try cbor.null() {
        parts.append(.init(id: id, sum: nil))
      } else {
        guard let sum = Checksum(bytes: try cbor.bytes()) else { throw cbor.malformed("a checksum has sixteen bytes") }
        parts.append(.init(id: id, sum: sum))
      }
    }
    return parts
  }
}

extension Checksum {
  /// Sixteen bytes, the upper half first.
  package var bytes: [UInt8] { RecordID(high: high, low: low).bytes }

  /// Nil unless there are exactly sixteen bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard let halves = RecordID(bytes: bytes) else { return nil }
    self.init(high: halves.high, low: halves.low)
  }

  /// Nil unless the bytes are whole sums.
  package static func list(of bytes: [UInt8]) -> [Checksum]? {
    guard bytes.count.isMultiple(of: 16) else { return nil }
    return stride(from: 0, to: bytes.count, by: 16).compactMap { Checksum(bytes: bytes[$0..<$0 + 16]) }
  }

  /// Thirty-two hexadecimal digits.
  package var text: String { ReplicaID(high).description + ReplicaID(low).description }

  /// Nil for anything else than thirty-two hexadecimal digits.
  package init?(text: String) {
    guard let high = JSONFields.hexadecimal(String(text.prefix(16))),
      let low = JSONFields.hexadecimal(String(text.dropFirst(16)))
    else { return nil }
    self.init(high: high, low: low)
  }
}
