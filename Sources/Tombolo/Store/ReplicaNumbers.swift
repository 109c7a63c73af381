package import TomboloProtocol
package import TomboloSQLite

/// The small numbers that stamps in rows name replicas by (`_tombolo_replica`), known once they were asked for.
package final class ReplicaNumbers {
  private let connection: Connection
  private var numbers: [ReplicaID: Int] = [:]
  private var replicas: [Int: ReplicaID] = [:]

  package init(_ connection: Connection) { self.connection = connection }

  /// Forgets everything, as after a transaction that was rolled back.
  package func removeAll() {
    numbers.removeAll()
    replicas.removeAll()
  }

  /// The replica's number; a new one, written in the open transaction, where it has none.
  package func number(of replica: ReplicaID) throws -> Int {
    if let number = numbers[replica] { return number }
    let bytes = replica.bytes
    let found = try connection.firstRow("SELECT number FROM _tombolo_replica WHERE id = ?1", { $0.bind(bytes, at: 1) })
    {
      Int($0.int64(0))
    }
    let number: Int
    if let found {
      number = found
    } else {
      try connection.run("INSERT INTO _tombolo_replica(id) VALUES (?1)") { $0.bind(bytes, at: 1) }
      number = Int(connection.lastInsertedRow)
    }
    numbers[replica] = number
    replicas[number] = replica
    return number
  }

  /// - Throws: `corrupt_store` for a number that was never given.
  package func replica(_ number: Int) throws -> ReplicaID {
    if let replica = replicas[number] { return replica }
    let found =
      try connection.firstRow("SELECT id FROM _tombolo_replica WHERE number = ?1", { $0.bind(number, at: 1) }) {
        ReplicaID(bytes: $0.bytes(0))
      } ?? nil
    guard let found else { throw TomboloError.damaged("a stamp names replica \(number), which is not listed") }
    numbers[found] = number
    replicas[number] = found
    return found
  }
}

extension ReplicaID {
  /// The eight bytes, big endian, as the store keeps them.
  package var bytes: [UInt8] { withUnsafeBytes(of: rawValue.bigEndian) { Array($0) } }

  package init?(bytes: [UInt8]) {
    guard bytes.count == 8 else { return nil }
    self.init(bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }
}

extension TomboloError {
  /// The store's own bookkeeping does not read as it was written.
  package static func damaged(_ reason: String) -> TomboloError {
    TomboloError(
      .corruptStore, "The store's bookkeeping is damaged: \(reason).",
      remedy: "Work on a copy; or clone from the server again.")
  }
}
