import TomboloProtocol
import TomboloSQLite

/// References that a save may not leave as they were written: one-to-one partners and trees declared acyclic.
extension StoreWriter {
  /// A written reference that is looked at again when the save is complete.
  struct ReferenceCandidate: Hashable {
    var entity: Int
    var position: Int
    var id: RecordID
  }

  /// Remembers the written references that have to be checked; most entities have none.
  func noteReferences(_ entity: EntityPlan, _ id: RecordID, written: ColumnSet) {
    for position in entity.guardedReferences where written.contains(position) {
      referencesPending.append(ReferenceCandidate(entity: entity.index, position: position, id: id))
    }
  }

  /// A partner that is claimed twice keeps the later claim of this save; a closed tree refuses the save.
  func settleReferences() throws {
    var rooted: [Int: Set<RecordID>] = [:]
    for (index, candidate) in referencesPending.enumerated() {
      let entity = schema.entities[candidate.entity]
      let column = entity.columns[candidate.position]
      guard case .reference(let reference) = column.kind,
        let target = try self.target(of: column, entity, candidate.id)
      else { continue }
      if reference.isAcyclic {
        try checkCycle(entity, column, from: candidate.id, target, &rooted[column.number, default: []])
      }
      guard reference.isOneToOne, let holder = schema.entity(column.declaringEntity) else { continue }
      let rivals = try holders(holder, column, of: target).filter { $0.1 != candidate.id }
      for (rival, id) in rivals {
        let isLater = referencesPending[(index + 1)...].contains {
          $0.id == id && schema.entities[$0.entity].columns[$0.position].number == column.number
        }
        if isLater { continue }
        if !reference.isOptional { throw displaced(rival, column) }
        try write(rival, id, [(matching(column, in: rival), .null)], isConsequence: false)
      }
    }
  }

  private func target(of column: ColumnPlan, _ entity: EntityPlan, _ id: RecordID) throws -> RecordID? {
    try connection.firstRow(
      "SELECT \(column.column.quotedIdentifier) FROM \(entity.table.quotedIdentifier) WHERE _tombolo_id = ?1",
      { $0.bind(id, at: 1) }, { $0.recordID(0) }) ?? nil
  }

  /// - Parameter rooted: records from which a walk has come to a root: none of them is in a cycle.
  private func checkCycle(
    _ entity: EntityPlan, _ column: ColumnPlan, from id: RecordID, _ first: RecordID, _ rooted: inout Set<RecordID>
  ) throws {
    var next: RecordID? = first
    // What was pulled may hold a cycle of its own until a push is answered: the walk ends on it.
    var seen: Set<RecordID> = []
    while let ancestor = next, !rooted.contains(ancestor) {
      guard seen.insert(ancestor).inserted else { return }
      if ancestor == id {
        throw TomboloError(
          .cyclicReference, "A record of \(entity.name) would become its own ancestor through \(column.property).",
          remedy: "Choose \(column.property.withArticle) that is not below the record.",
          details: [
            TomboloError.Detail(
              code: "cyclic_reference", entity: entity.name, property: column.property, text: "the tree would be closed"
            )
          ])
      }
      next = try target(of: column, entity, ancestor)
    }
    rooted.formUnion(seen)
    rooted.insert(id)
  }

  private func displaced(_ holder: EntityPlan, _ column: ColumnPlan) -> TomboloError {
    TomboloError(
      .requiredReference,
      "\(holder.name).\(column.property) is required, and another record claims the same partner.",
      remedy: "Give the record that has the partner now another one in the same save.",
      details: [
        TomboloError.Detail(
          code: "required_reference", entity: holder.name, property: column.property, text: "the partner is taken")
      ])
  }

  /// Whether the attribute's policy (`.max`, `.min`, `.firstWriter`) keeps what is stored, as the server would.
  func keepsStored(_ column: ColumnPlan, _ old: Value, _ new: Value, stamps: [UInt8]?) throws -> Bool {
    guard case .attribute(let attribute) = column.kind,
      attribute.merge == .max || attribute.merge == .min || attribute.merge == .firstWriter,
      let stamp = recorder?.stamp, let stamps
    else { return false }
    let under = try RowStamps(stamps, statements.replicas).stamp(of: column.number)
    if under.isZero { return false }
    let standing = FieldMerge.fold(
      attribute.merge, of: attribute.type, FieldMerge.Version(value: old, stamp: under),
      FieldMerge.Version(value: new, stamp: stamp))
    return standing.value == old
  }
}
