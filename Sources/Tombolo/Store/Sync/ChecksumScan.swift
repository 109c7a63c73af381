package import TomboloProtocol
package import TomboloSQLite

/// The checksum of everything that readers see, and of what is set aside for a later schema, from the rows as they are.
package struct ChecksumScan {
  private let connection: Connection
  private let schema: StoreSchema
  private let aside: Aside
  private let replicas: ReplicaNumbers

  package init(_ connection: Connection, schema: StoreSchema) {
    self.connection = connection
    self.schema = schema
    aside = Aside(connection)
    replicas = ReplicaNumbers(connection)
  }

  package func sum() throws -> Checksum {
    var sum = try linkSum()
    sum.add(try recordSum().sum)
    return sum
  }

  /// The records' part of it, and how many there are.
  func recordSum() throws -> (sum: Checksum, count: Int) {
    var sum = Checksum()
    var count = 0
    try forEachRecord { _, part in
      sum.add(part)
      count += 1
    }
    return (sum, count)
  }

  /// The pairs' part of it.
  func linkSum() throws -> Checksum {
    var sum = Checksum()
    try forEachLink { link, stamp in sum.insert(link, stamp) }
    return sum
  }

  /// The parts of the sum, one a bucket.
  func buckets() throws -> [Checksum] {
    var sums = [Checksum](repeating: Checksum(), count: Checksum.bucketCount)
    try forEachRecord { id, part in sums[Checksum.bucket(of: id)].add(part) }
    try forEachLink { link, stamp in sums[Checksum.bucket(of: link.source)].insert(link, stamp) }
    return sums
  }

  /// The sums of the records in some buckets.
  func records(in buckets: Set<Int>) throws -> [RecordID: Checksum] {
    var sums: [RecordID: Checksum] = [:]
    let isWanted = { (id: RecordID) in buckets.contains(Checksum.bucket(of: id)) }
    try forEachRecord(where: isWanted) { id, part in sums[id, default: Checksum()].add(part) }
    try forEachLink(where: isWanted) { link, stamp in sums[link.source, default: Checksum()].insert(link, stamp) }
    return sums
  }

  /// Hands out each record's part, in one piece or, where something of it is set aside, in several.
  private func forEachRecord(
    where isWanted: (RecordID) -> Bool = { _ in true }, _ body: (RecordID, Checksum) -> Void
  ) throws {
    for entity in schema.entities {
      let table = entity.table.quotedIdentifier
      let names = entity.columns.map { ", \($0.value(in: table))" }.joined()
      let scope = entity.hasEntityColumn ? " WHERE _tombolo_entity = \(entity.name.quotedLiteral)" : ""
      try connection.eachRow(
        "SELECT _tombolo_id, _tombolo_stamps\(names) FROM \(table)\(scope)"
      ) { row in
        guard let id = row.recordID(0), isWanted(id) else { return }
        var sum = Checksum()
        // A row without stamps, or with damaged ones, came to be behind the store's back: no server has it.
        let stamps = row.isNull(1) ? nil : try? RowStamps(row.bytes(1), replicas)
        sum.insert(life: stamps?.created ?? .zero, of: id, as: entity.name)
        if let stamps {
          for column in entity.columns {
            sum.insert(id, column.property, row.value(Int32(column.position + 2)), stamps.stamp(of: column.number))
          }
        }
        body(id, sum)
      }
    }
    try aside.forEachPart { id, sum in if isWanted(id) { body(id, sum) } }
  }

  private func forEachLink(
    where isWanted: (RecordID) -> Bool = { _ in true }, _ body: (LinkKey, Stamp) -> Void
  ) throws {
    for plan in schema.linkTables {
      try connection.eachRow("SELECT source, target, _tombolo_stamps FROM \(plan.table.quotedIdentifier)") { row in
        guard let source = row.recordID(0), let target = row.recordID(1), isWanted(source) else { return }
        let stamp = row.isNull(2) ? nil : try? Stamp(row.bytes(2), replicas)
        body(LinkKey(relationship: plan.link.key, source: source, target: target), stamp ?? .zero)
      }
    }
    for state in try aside.links() where state.isPresent && isWanted(state.link.source) {
      if try lives(state.link.source) && lives(state.link.target) { body(state.link, state.stamp) }
    }
  }

  /// Whether a record of any entity is here, in a table or set aside.
  private func lives(_ id: RecordID) throws -> Bool {
    for root in schema.entities where root.lineage.count == 1 {
      let found = try connection.firstRow(
        "SELECT 1 FROM \(root.table.quotedIdentifier) WHERE _tombolo_id = ?1", { $0.bind(id, at: 1) }, { _ in true })
      if found == true { return true }
    }
    return try aside.holdsWhole(id)
  }
}
