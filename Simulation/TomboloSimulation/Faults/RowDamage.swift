import Tombolo
import TomboloProtocol
import TomboloSQLite

/// Damages rows of a replica behind its back, as a failing disk or a program without our triggers does.
struct RowDamage {
  private enum Kind { case value, stamps, missing, extra, missingPair, extraPair }

  /// Damages up to three rows.
  /// - Returns: what was done, for the trace; empty where there was nothing to damage.
  func strike(_ store: Store, _ generator: inout SeededGenerator) throws -> [String] {
    var done: [String] = []
    for _ in 0..<generator.within(1...3) {
      let kind = generator.pick([Kind.value, .value, .stamps, .missing, .extra, .missingPair, .extraPair]) ?? .value
      // The library's own connections run without the shell's triggers.
      let sql: String?
      switch kind {
      case .missingPair, .extraPair: sql = pairs(kind, of: store.schema, &generator)
      default: sql = rows(kind, of: store.schema, &generator)
      }
      guard let sql else { continue }
      do {
        try store.write { connection in
          let before = try ChecksumScan(connection, schema: store.schema).sum()
          try connection.execute(sql)
          // A value that nobody assigned counts nowhere, so nobody can miss it.
          if try ChecksumScan(connection, schema: store.schema).sum() == before { throw Unnoticed() }
        }
        done.append("\(kind)")
      } catch is Unnoticed {}
    }
    return done
  }

  private struct Unnoticed: Error {}

  private func rows(_ kind: Kind, of schema: StoreSchema, _ generator: inout SeededGenerator) -> String? {
    guard let entity = generator.pick(schema.entities) else { return nil }
    let table = entity.table.quotedIdentifier
    let scope = entity.hasEntityColumn ? "WHERE _tombolo_entity = \(entity.name.quotedLiteral) " : ""
    let row =
      "(SELECT _tombolo_id FROM \(table) \(scope)ORDER BY _tombolo_id LIMIT 1 OFFSET \(generator.within(0...3)))"
    switch kind {
    case .missing: return "DELETE FROM \(table) WHERE _tombolo_id = \(row)"
    case .stamps: return "UPDATE \(table) SET _tombolo_stamps = x'0102' WHERE _tombolo_id = \(row)"
    case .extra:
      var names = entity.columns.map(\.column.quotedIdentifier) + ["_tombolo_stamps"]
      if entity.hasEntityColumn { names.append("_tombolo_entity") }
      let list = names.joined(separator: ", ")
      let id = (0..<2).map { _ in hexadecimal(UInt64(generator.within(1...Int.max))) }.joined()
      return
        "INSERT INTO \(table)(_tombolo_id, \(list)) SELECT x'\(id)', \(list) FROM \(table) WHERE _tombolo_id = \(row)"
    default:
      let texts = entity.columns.filter { column in
        guard case .attribute(let attribute) = column.kind else { return false }
        return attribute.type == .string
      }
      guard let column = generator.pick(texts)?.column.quotedIdentifier else { return nil }
      return "UPDATE \(table) SET \(column) = 'damaged ' || coalesce(\(column), '') WHERE _tombolo_id = \(row)"
    }
  }

  private func pairs(_ kind: Kind, of schema: StoreSchema, _ generator: inout SeededGenerator) -> String? {
    guard let plan = generator.pick(schema.linkTables), let source = schema.entity(plan.link.source),
      let target = schema.entity(plan.link.target)
    else { return nil }
    let table = plan.table.quotedIdentifier
    if case .missingPair = kind {
      return "DELETE FROM \(table) WHERE rowid = (SELECT rowid FROM \(table) ORDER BY source, target LIMIT 1)"
    }
    return "INSERT OR IGNORE INTO \(table)(source, target) SELECT s.id, t.id FROM "
      + "(SELECT _tombolo_id AS id FROM \(source.table.quotedIdentifier) ORDER BY 1 LIMIT 1) s, "
      + "(SELECT _tombolo_id AS id FROM \(target.table.quotedIdentifier) ORDER BY 1 LIMIT 1) t"
  }

  private func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
