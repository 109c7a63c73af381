import TomboloProtocol
import TomboloSQLite

/// The log of repairs: a row for each record that was mended.
struct Incidents {
  private let connection: Connection
  /// Older ones are forgotten beyond so many rows.
  private static let rowsMax = 10_000
  /// Stands for everything, where it was fetched anew.
  private static let everything = "everything"

  init(_ connection: Connection) { self.connection = connection }

  func add(_ records: [RepairIncident.Record], time: UInt64) throws {
    let number =
      1 + (try connection.firstRow("SELECT coalesce(max(incident), 0) FROM _tombolo_incident") { $0.int64(0) } ?? 0)
    if records.isEmpty { try add(nil, number: number, time: time) }
    for record in records { try add(record, number: number, time: time) }
    try connection.run(
      "DELETE FROM _tombolo_incident WHERE incident < (SELECT incident FROM _tombolo_incident "
        + "ORDER BY incident DESC LIMIT 1 OFFSET ?1)"
    ) { $0.bind(Self.rowsMax, at: 1) }
  }

  private func add(_ record: RepairIncident.Record?, number: Int64, time: UInt64) throws {
    try connection.run(
      "INSERT OR REPLACE INTO _tombolo_incident(incident, record, time, entity, kind) VALUES (?1, ?2, ?3, ?4, ?5)"
    ) {
      $0.bind(number, at: 1)
      $0.bind(record?.id.bytes ?? [], at: 2)
      $0.bind(Int64(clamping: time), at: 3)
      if let entity = record?.entity { $0.bind(entity, at: 4) } else { $0.bindNull(at: 4) }
      $0.bind(record?.kind.rawValue ?? Self.everything, at: 5)
    }
  }

  /// The newest first.
  func all() throws -> [RepairIncident] {
    var incidents: [RepairIncident] = []
    var last: Int64?
    try connection.eachRow(
      "SELECT incident, time, record, entity, kind FROM _tombolo_incident ORDER BY incident DESC, record"
    ) { row in
      if row.int64(0) != last {
        incidents.append(RepairIncident(time: UInt64(max(0, row.int64(1))), records: []))
        last = row.int64(0)
      }
      guard let id = row.recordID(2), let kind = RepairIncident.Kind(rawValue: row.string(4)) else { return }
      incidents[incidents.count - 1].records.append(
        RepairIncident.Record(id: id, entity: row.isNull(3) ? nil : row.string(3), kind: kind))
    }
    return incidents
  }
}
