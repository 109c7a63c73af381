package import TomboloProtocol
import TomboloSQLite

extension StoreWriter {
  /// Links two records; nothing if they are linked already.
  package func link(_ plan: LinkPlan, _ own: RecordID, _ other: RecordID) throws {
    let (source, target) = plan.isSource ? (own, other) : (other, own)
    try connection.run(
      "INSERT INTO \(plan.table.quotedIdentifier)(source, target) VALUES (?1, ?2) ON CONFLICT DO NOTHING"
    ) {
      $0.bind(source, at: 1)
      $0.bind(target, at: 2)
    }
    if connection.changes > 0 { noteLink(plan, own, other) }
  }

  /// Parts two records; nothing if they are not linked.
  package func unlink(_ plan: LinkPlan, _ own: RecordID, _ other: RecordID) throws {
    let (source, target) = plan.isSource ? (own, other) : (other, own)
    try connection.run("DELETE FROM \(plan.table.quotedIdentifier) WHERE source = ?1 AND target = ?2") {
      $0.bind(source, at: 1)
      $0.bind(target, at: 2)
    }
    if connection.changes > 0 { noteLink(plan, own, other) }
  }

  private func noteLink(_ plan: LinkPlan, _ own: RecordID, _ other: RecordID) {
    outcome.touched.append((plan.isSource ? plan.link.source : plan.link.target, own))
    outcome.touched.append((plan.destination, other))
  }
}
