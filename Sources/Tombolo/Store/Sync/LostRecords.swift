import TomboloProtocol
import TomboloSQLite

/// The last image of each record that a pull took away while a write of this replica to it was lost: what it is made anew from.
struct LostRecords {
  let connection: Connection
  let schema: StoreSchema

  struct Image {
    var entity: EntityPlan
    var detail: ChangeDetail.DeleteDetail
  }

  /// Keeps a row with its pairs, before it goes.
  func keep(_ row: ReplicaRows.Row, _ id: RecordID) throws {
    var detail = ChangeDetail.DeleteDetail(
      root: id, incarnation: row.stamps.created, values: [:], stamps: nil, links: [])
    for (column, value) in zip(row.entity.columns, row.values) {
      detail.values[column.number] = row.hidden[column.property]?.value ?? value
    }
    for plan in schema.neighbours(of: row.entity).links {
      try connection.eachRow(
        "SELECT source, target FROM \(plan.table.quotedIdentifier) WHERE \(plan.ownColumn) = ?1",
        { $0.bind(id, at: 1) }
      ) { row in
        guard let source = row.recordID(0), let target = row.recordID(1) else { return }
        let key = LinkKey(relationship: plan.link.key, source: source, target: target)
        if !detail.links.contains(where: { $0.link == key }) { detail.links.append(.init(link: key, stamp: nil)) }
      }
    }
    guard let bytes = ChangeDetail.delete(detail).encoded else { return }
    try connection.run("INSERT OR REPLACE INTO _tombolo_lost(record, entity, body) VALUES (?1, ?2, ?3)") {
      $0.bind(id, at: 1)
      $0.bind(row.entity.name, at: 2)
      $0.bind(bytes, at: 3)
    }
  }

  func image(of id: RecordID) throws -> Image? {
    let found = try connection.firstRow(
      "SELECT entity, body FROM _tombolo_lost WHERE record = ?1", { $0.bind(id, at: 1) },
      { ($0.string(0), $0.bytes(1)) })
    guard let (name, bytes) = found, let entity = schema.entity(name),
      case .delete(let detail) = try ChangeDetail(.delete, decoding: bytes)
    else { return nil }
    return Image(entity: entity, detail: detail)
  }

  /// Forgets the images of records of which no entry is left.
  func forget(_ records: Set<RecordID>) throws {
    for id in records {
      try connection.run("DELETE FROM _tombolo_lost WHERE record = ?1") { $0.bind(id, at: 1) }
    }
  }
}
