import TomboloProtocol
import TomboloSQLite

/// The checksum of everything that readers see, and of what is set aside for a later schema.
struct ChecksumScan {
  let connection: Connection
  let schema: StoreSchema

  init(_ connection: Connection, schema: StoreSchema) {
    self.connection = connection
    self.schema = schema
  }

  func sum() throws -> Checksum {
    var sum = Checksum()
    let replicas = ReplicaNumbers(connection)
    for entity in schema.entities {
      let names = entity.columns.map { ", \($0.column.quotedIdentifier)" }.joined()
      let scope = entity.hasEntityColumn ? " WHERE _tombolo_entity = \(entity.name.quotedLiteral)" : ""
      try connection.eachRow(
        "SELECT _tombolo_id, _tombolo_stamps\(names) FROM \(entity.table.quotedIdentifier)\(scope)"
      ) { row in
        guard let id = row.recordID(0), !row.isNull(1) else { return }
        let stamps = try RowStamps(row.bytes(1), replicas)
        for column in entity.columns {
          sum.insert(id, column.property, row.value(Int32(column.position + 2)), stamps.stamp(of: column.number))
        }
      }
    }
    try Aside(connection).forEachField { id, name, version in sum.insert(id, name, version.value, version.stamp) }
    return sum
  }
}
