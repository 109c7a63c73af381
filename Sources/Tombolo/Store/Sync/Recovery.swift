package import TomboloProtocol
import TomboloSQLite

/// One part of a re-upload, as it is sent.
package struct ReuploadPart: Hashable, Sendable {
  package var session: RecordID
  package var part: UInt64
  /// The last complete pull of the earlier epoch.
  package var cursor: Cursor?
  package var answered: SaveNumber
  package var items: [FeedItem]
  package var vector: [ReplicaID: SaveNumber]
  package var isLast: Bool
  /// Where the next part begins.
  var next: ConfirmedWalk.Place?
}

/// Going on with a server that was restored, replaced or wiped: uploading what this replica has, or taking what the server
/// has. Both keep what is unsent, and what was answered and not confirmed by a pull yet.
extension Store {
  /// Whether a re-upload was begun and has not come to its end.
  package func isReuploading() throws -> Bool {
    try read { try !RemoteBook($0).value(.reupload).isNull }
  }

  /// Begins a re-upload, or finds one under way.
  package func beginReupload() throws {
    try write { connection in
      let book = RemoteBook(connection)
      guard try book.value(.reupload).isNull else { return }
      let session = RecordID(high: options.randomness.next(), low: options.randomness.next())
      try book.set(.reupload, to: ReuploadProgress(session: session).value)
    }
  }

  package func cancelReupload() throws {
    try write { try RemoteBook($0).set(.reupload, to: .null) }
  }

  /// The part that comes next, of at most so many records and pairs; nil if no re-upload is under way.
  package func reuploadPart(itemsMax: Int, bytesMax: Int) throws -> ReuploadPart? {
    try write { connection in
      let book = RemoteBook(connection)
      guard let progress = try ReuploadProgress(book.value(.reupload)) else { return nil }
      let exchange = try ReplicaTransaction(connection, store: self)
      let (items, place) = try ConfirmedWalk(exchange).next(
        from: progress.place, itemsMax: itemsMax, bytesMax: bytesMax)
      let answered =
        try connection.firstRow("SELECT max(number) FROM _tombolo_save WHERE state IN (2, 3)") {
          $0.isNull(0) ? 0 : $0.int64(0)
        } ?? 0
      return ReuploadPart(
        session: progress.session, part: progress.part, cursor: try book.cursor,
        answered: SaveNumber(UInt64(max(0, answered - (try book.numberOffset)))), items: items,
        vector: place == nil ? try book.vector : [:], isLast: place == nil, next: place)
    }
  }

  /// Takes the answer to a part; after the last one the replica is in the server's epoch.
  /// - Returns: whether the server has taken everything.
  package func take(_ response: ReuploadResponse, to part: ReuploadPart) throws -> Bool {
    try write { connection in
      let book = RemoteBook(connection)
      guard let progress = try ReuploadProgress(book.value(.reupload)), progress.session == part.session,
        progress.part == part.part
      else { return response.isComplete }
      if response.isComplete {
        try ReplicaTransaction(connection, store: self).enter(response.epoch)
        return true
      }
      // A server that lost earlier parts is given all of them again.
      var after = ReuploadProgress(session: part.session)
      if response.parts > part.part, let next = part.next {
        after.part = part.part + 1
        after.place = next
      }
      try book.set(.reupload, to: after.value)
      return false
    }
  }

  /// Forgets which server's store this was a replica of: the next sync takes what the server has, and sends what is unsent.
  package func beginReset() throws {
    try write { try ReplicaTransaction($0, store: self).enter(nil) }
  }
}

/// How far a re-upload has come: `_tombolo_remote`, key `reupload`.
private struct ReuploadProgress {
  var session: RecordID
  var part: UInt64 = 0
  var place = ConfirmedWalk.Place()

  init(session: RecordID) { self.session = session }

  init?(_ value: Value) throws {
    guard case .blob(let bytes) = value else { return nil }
    do {
      var reader = CBORReader(bytes)
      guard let session = RecordID(bytes: try reader.bytes()) else { return nil }
      self.session = session
      part = try reader.unsigned()
      place = ConfirmedWalk.Place(stage: Int(clamping: try reader.unsigned()), after: try reader.bytes())
    } catch let error as CBORReader.Malformed {
      throw TomboloError.damaged(error.reason)
    }
  }

  var value: Value {
    var writer = CBORWriter()
    writer.bytes(session.bytes)
    writer.unsigned(part)
    writer.unsigned(UInt64(place.stage))
    writer.bytes(place.after)
    return .blob(writer.bytes)
  }
}

extension ReplicaTransaction {
  /// Goes on in another epoch: what was answered and not confirmed counts as unsent again, numbers begin anew, and the next
  /// pull is a snapshot.
  ///
  /// - Parameter epoch: nil where it is not known yet: whatever the server says then.
  func enter(_ epoch: Epoch?) throws {
    let replica = try meta.replica
    let former = try book.epoch
    let pending = queue.saves.filter { $0.state == .unsent || $0.state == .answered }
    for save in pending {
      let number = save.number - numberOffset
      if let former, number > 0, save.origin == nil || save.state == .answered {
        save.origin = ChangeSet.Origin(replica: replica, number: SaveNumber(UInt64(number)), epoch: former)
      }
      if save.state == .answered {
        save.state = .unsent
        save.now = PendingSave.Laying()
      }
    }
    try moveToEnd(pending)
    for save in pending {
      try connection.run("UPDATE _tombolo_save SET origin = ?2 WHERE number = ?1") {
        $0.bind(save.order, at: 1)
        $0.bind(save.origin.map(PendingSave.encode) ?? [], at: 2)
      }
    }
    try PageStage(connection).clear()
    try book.set(.epoch, to: epoch?.rawValue)
    try book.set(.snapshot, to: .integer(1))
    try book.set(.reupload, to: .null)
  }

  /// Gives saves the numbers 1, 2, 3 … to the server: they move behind every other, and count from there.
  func moveToEnd(_ saves: [PendingSave]) throws {
    let highest = Int64(clamping: try meta.highestSave.rawValue)
    for (index, save) in saves.enumerated() { save.order = highest + 1 + Int64(index) }
    for save in queue.saves { open(save) }
    try relayOpen()
    try settleReferences()
    try relayLinks([:])
    try writeQueue()
    for save in saves {
      let places = [
        ("_tombolo_change", "save"), ("_tombolo_cancelled", "save"), ("_tombolo_withheld", "save"),
        ("_tombolo_save", "number"),
      ]
      for (table, column) in places {
        try connection.run("UPDATE \(table) SET \(column) = ?2 WHERE \(column) = ?1") {
          $0.bind(save.number, at: 1)
          $0.bind(save.order, at: 2)
        }
      }
    }
    try meta.set(.highestSave, to: .integer(highest + Int64(saves.count)))
    try book.set(.numberOffset, to: .integer(highest))
  }
}

extension PendingSave {
  /// `_tombolo_save.origin`: where the save stood in the queue of an earlier epoch.
  static func encode(_ origin: ChangeSet.Origin) -> [UInt8] {
    var writer = CBORWriter()
    writer.unsigned(origin.replica.rawValue)
    writer.unsigned(origin.number.rawValue)
    writer.unsigned(origin.epoch.rawValue)
    return writer.bytes
  }

  static func origin(_ bytes: [UInt8]) throws -> ChangeSet.Origin? {
    if bytes.isEmpty { return nil }
    do {
      var reader = CBORReader(bytes)
      return ChangeSet.Origin(
        replica: ReplicaID(try reader.unsigned()), number: SaveNumber(try reader.unsigned()),
        epoch: Epoch(try reader.unsigned()))
    } catch let error as CBORReader.Malformed {
      throw TomboloError.damaged(error.reason)
    }
  }
}
