import Tombolo
import TomboloProtocol

/// I3: twins are equal and ledgers sum to zero, whenever anybody looks.
struct AtomicityChecker {
  let roles: SchemaRoles

  func check(_ content: StoreContent, on replica: String) throws {
    var sums: [String: Int64] = [:]
    for record in content.records {
      guard let entity = roles.entity(record.entity) else { continue }
      if let twins = entity.twins, record.values[twins.0] != record.values[twins.1] {
        let columns = entity.plan.columns
        throw SimulationFailure(
          .atomicity,
          "\(replica) shows half a save: \(record.entity) \(record.id.short) has "
            + "\(columns[twins.0].property)=\(record.values[twins.0].traceText) and "
            + "\(columns[twins.1].property)=\(record.values[twins.1].traceText)")
      }
      if let ledger = entity.ledger, case .integer(let amount) = record.values[ledger] {
        sums[record.entity, default: 0] += amount
      }
    }
    for (entity, sum) in sums.sorted(by: { $0.key < $1.key }) where sum != 0 {
      throw SimulationFailure(
        .atomicity, "\(replica) shows half a save, or one twice: the \(entity) ledger sums to \(sum)")
    }
  }
}
