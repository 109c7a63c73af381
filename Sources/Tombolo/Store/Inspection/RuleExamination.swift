import TomboloProtocol
import TomboloSQLite

/// Whether the rows hold what the schema promises. Each question is one statement over a table.
struct RuleExamination {
  private let connection: Connection
  private let schema: StoreSchema
  /// While something is unconfirmed a replica may show a unique value twice, two claimants, or a cycle.
  private let isPending: Bool

  init(_ connection: Connection, schema: StoreSchema) throws {
    self.connection = connection
    self.schema = schema
    isPending =
      try connection.firstRow("SELECT 1 FROM _tombolo_save WHERE state IN (1, 2) LIMIT 1") { _ in true } ?? false
  }

  func findings() throws -> [Finding] {
    var findings: [Finding] = []
    for entity in schema.entities {
      for column in entity.columns where column.declaringEntity == entity.name {
        if case .reference(let reference) = column.kind { findings += try check(reference, column, entity) }
        findings += try checkValues(column, entity)
      }
      for key in entity.uniqueKeys where key.declaringEntity == entity.name { findings += try check(key, entity) }
    }
    for plan in schema.linkTables { findings += try check(plan) }
    if findings.isEmpty {
      findings.append(Finding(.fine, .rules, "References, unique keys, trees and pairs hold what the schema promises."))
    }
    return findings
  }

  private func scope(_ entity: EntityPlan) -> String {
    guard entity.hasEntityColumn else { return "" }
    return " AND _tombolo_entity IN (\(entity.concreteNames.map(\.quotedLiteral).joined(separator: ", ")))"
  }

  private func count(_ sql: String) throws -> Int { try connection.firstRow(sql) { Int($0.int64(0)) } ?? 0 }

  private static let mend =
    "'tombolo set' or 'tombolo delete' mends them; 'tombolo verify STORE' tells whether the server differs."

  private func transient(_ text: String) -> Finding {
    Finding(
      isPending ? .notice : .problem, .rules, text,
      remedy: isPending ? "Sync: until then a replica may show this, and the merge settles it." : Self.mend)
  }

  private func check(
    _ reference: ResolvedReference, _ column: ColumnPlan, _ entity: EntityPlan
  ) throws -> [Finding] {
    var findings: [Finding] = []
    let place = "\(entity.name).\(column.property)"
    let (table, name) = (entity.table.quotedIdentifier, column.column.quotedIdentifier)
    if reference.rule != .noAction, let target = schema.entity(reference.destination) {
      let dangling = try count(
        "SELECT count(*) FROM \(table) AS holder WHERE \(name) IS NOT NULL\(scope(entity)) AND NOT EXISTS "
          + "(SELECT 1 FROM \(target.table.quotedIdentifier) AS target WHERE target._tombolo_id = holder.\(name))")
      if dangling > 0 {
        findings.append(
          Finding(
            .problem, .rules, "\(place) names \(target.name)s that are not there, in \(dangling) records.",
            remedy: Self.mend))
      }
    }
    if !reference.isOptional {
      let empty = try count("SELECT count(*) FROM \(table) WHERE \(name) IS NULL\(scope(entity))")
      if empty > 0 { findings.append(transient("\(place) is required and empty in \(empty) records.")) }
    }
    if reference.isOneToOne {
      let double = try count(
        "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE \(name) IS NOT NULL\(scope(entity)) GROUP BY \(name) "
          + "HAVING count(*) > 1)")
      if double > 0 { findings.append(transient("\(double) partners are claimed by more than one \(place).")) }
    }
    if reference.isAcyclic {
      let cyclic = try count(
        "WITH RECURSIVE walk(start, place, depth) AS (SELECT _tombolo_id, \(name), 1 FROM \(table) WHERE \(name) IS NOT NULL "
          + "UNION ALL SELECT walk.start, step.\(name), depth + 1 FROM walk JOIN \(table) AS step ON step._tombolo_id = "
          + "walk.place WHERE walk.place <> walk.start AND step.\(name) IS NOT NULL AND depth < 1000) "
          + "SELECT count(DISTINCT start) FROM walk WHERE place = start")
      if cyclic > 0 { findings.append(transient("\(place) closes a cycle over \(cyclic) records.")) }
    }
    return findings
  }

  /// What the table's check would refuse: it may have come to be where checks were switched off.
  private func checkValues(_ column: ColumnPlan, _ entity: EntityPlan) throws -> [Finding] {
    let check = StoreTables.check(column)
    guard let start = check.firstIndex(of: "(") else { return [] }
    let wrong = try count("SELECT count(*) FROM \(entity.table.quotedIdentifier) WHERE NOT \(check[start...])")
    guard wrong > 0 else { return [] }
    return [
      Finding(
        .problem, .rules, "\(entity.name).\(column.property) has \(wrong) values that its type cannot hold.",
        remedy: "Give each another value with 'tombolo set': no server takes them.")
    ]
  }

  private func check(_ key: UniquePlan, _ entity: EntityPlan) throws -> [Finding] {
    let columns = key.columns.map { entity.columns[$0] }
    let names = columns.map { $0.value(in: entity.table.quotedIdentifier) }
    let present = names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    let double = try count(
      "SELECT count(*) FROM (SELECT 1 FROM \(entity.table.quotedIdentifier) WHERE \(present)\(scope(entity)) "
        + "GROUP BY \(names.joined(separator: ", ")) HAVING count(*) > 1)")
    guard double > 0 else { return [] }
    let place = "\(entity.name).\(columns.map(\.property).joined(separator: ","))"
    return [transient("\(double) values of the unique \(place) are in more than one record.")]
  }

  private func check(_ plan: LinkPlan) throws -> [Finding] {
    guard let source = schema.entity(plan.link.source), let target = schema.entity(plan.link.target) else { return [] }
    let orphans = try count(
      "SELECT count(*) FROM \(plan.table.quotedIdentifier) AS pair WHERE NOT EXISTS (SELECT 1 FROM "
        + "\(source.table.quotedIdentifier) WHERE _tombolo_id = pair.source) OR NOT EXISTS (SELECT 1 FROM "
        + "\(target.table.quotedIdentifier) WHERE _tombolo_id = pair.target)")
    guard orphans > 0 else { return [] }
    return [
      Finding(
        .problem, .rules, "\(orphans) pairs of \(plan.link.key) have no record at one end.",
        remedy: "They are shown nowhere; delete them from the table \(plan.table).")
    ]
  }
}
