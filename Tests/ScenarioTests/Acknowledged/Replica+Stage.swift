import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite
import TomboloSimulation

extension Replica {
  /// One copy of a stage, in one save.
  func sets(up stage: Stage, copy: Int) throws -> [String: RecordID] {
    var ids: [String: RecordID] = [:]
    try store.save { writer in
      for prop in stage.props {
        let plan = try #require(store.schema.entity(prop.entity))
        var values = prop.numbers.mapValues { Value.integer($0) }
        for text in prop.texts { values[text] = .text("set up \(prop.name) \(text) \(copy)") }
        for (property, target) in prop.references { values[property] = Value(reference: ids[target]) }
        let row = try ValueRow(plan, values)
        let id = store.makeRecordID()
        ids[prop.name] = id
        try writer.insert(plan, id, assigned: row.assigned, from: row)
      }
      for pair in stage.pairs {
        let link = try #require(store.schema.entity(pair.entity)?.links.first { $0.property == pair.property })
        try writer.link(link, try #require(ids[pair.name]), try #require(ids[pair.other]))
      }
    }
    return ids
  }

  func rows() throws -> [(id: RecordID, values: [String: Value])] {
    try StoreContent(of: store).records.map { record in
      let columns = try #require(store.schema.entity(record.entity)).columns
      let values = Dictionary(
        zip(columns.map(\.property), record.values), uniquingKeysWith: { first, _ in first })
      return (record.id, values)
    }
  }

  /// Every pair, as either side has it.
  func shownPairs() throws -> [(property: String, source: RecordID, target: RecordID)] {
    try StoreContent(of: store).links.flatMap { key, pairs in
      let link = try #require(store.schema.resolved.links[key])
      return pairs.flatMap { pair in
        [(link.sourceName, pair.source, pair.target), (link.targetName ?? "", pair.target, pair.source)]
      }
    }
  }

  /// What was merged into what.
  func aliases() throws -> [RecordID: RecordID] {
    var aliases: [RecordID: RecordID] = [:]
    try store.read { connection in
      try connection.eachRow("SELECT record, survivor FROM _tombolo_alias") { row in
        if let record = row.recordID(0), let survivor = row.recordID(1) { aliases[record] = survivor }
      }
    }
    return aliases
  }

  /// The records that parked saves name.
  func parkedRecords() throws -> Set<RecordID> {
    var records: Set<RecordID> = []
    for save in try parked {
      for change in save.changeSet.changes {
        switch change {
        case .create(let create): records.insert(create.id)
        case .update(let update): records.insert(update.id)
        case .delete(let delete): records.insert(delete.id)
        case .link(let link): records.formUnion([link.link.source, link.link.target])
        }
      }
    }
    return records
  }
}
