package import TomboloProtocol
import TomboloSQLite

extension Store {
  /// Whether what an entry calls lost is there again: the record came back with it, or somebody wrote the same later.
  ///
  /// Never true of an addition to a counter, whose total does not tell.
  package func standsAgain(_ entry: ConflictEntry) throws -> Bool {
    guard let entity = schema.entity(entry.entity) else { return false }
    return try read { connection in
      let id = try ReplicaRows(connection, schema: schema, replicas: ReplicaNumbers(connection)).resolve(entry.record)
      guard let field = entry.field else {
        guard ConflictRestoring.undoneDeletes.contains(entry.rule) else { return false }
        return try connection.firstRow(entity.selectKind, { $0.bind(id, at: 1) }) { _ in true } == nil
      }
      if let link = entity.links.first(where: { $0.property == field && $0.isSource }) {
        guard let target = entry.lost.value.reference ?? entry.standing?.value.reference else { return false }
        let isThere = try connection.firstRow(
          "SELECT 1 FROM \(link.table.quotedIdentifier) WHERE source = ?1 AND target = ?2",
          {
            $0.bind(id, at: 1)
            $0.bind(target, at: 2)
          }
        ) { _ in true }
        return (isThere ?? false) != entry.lost.value.isNull
      }
      guard let column = entity.column(field), !column.isCounter else { return false }
      return try connection.firstRow(
        "SELECT \(column.value(in: entity.table.quotedIdentifier)) FROM \(entity.table.quotedIdentifier) "
          + "WHERE _tombolo_id = ?1", { $0.bind(id, at: 1) }
      ) { $0.holds(entry.lost.value, 0) } ?? false
    }
  }
}
