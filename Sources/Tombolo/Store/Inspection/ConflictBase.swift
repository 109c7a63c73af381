package import TomboloProtocol
import TomboloSQLite

extension Store {
  /// The value that the author of a lost write had before him.
  ///
  /// - Returns: nil where the replica no longer has it: a pull put a newer one beneath the write before it was lost.
  package func base(of entry: ConflictEntry) throws -> FieldMerge.Version? {
    guard let field = entry.field, let entity = schema.entity(entry.entity), let column = entity.column(field) else {
      return nil
    }
    return try read { connection in
      var found: FieldMerge.Version?
      try connection.eachRow(
        "SELECT detail FROM _tombolo_save JOIN _tombolo_change ON save = number "
          + "WHERE clock = ?1 AND replica = ?2 AND record = ?3 AND kind = \(ChangeKind.update.rawValue)",
        {
          $0.bind(Int64(bitPattern: entry.lost.stamp.clock.rawValue), at: 1)
          $0.bind(entry.lost.stamp.replica.bytes, at: 2)
          $0.bind(entry.record, at: 3)
        }
      ) { row in
        let detail = try ChangeDetail(.update, decoding: row.isNull(0) ? nil : row.bytes(0))
        guard case .update(let update) = detail else { return }
        // The server names no base for a write that lost later; the save has its own.
        for part in update.fields where part.column == column.number {
          guard let base = part.base, part.underStamp?.written == base else { continue }
          found = FieldMerge.Version(value: part.under, stamp: base)
        }
      }
      return found
    }
  }
}
