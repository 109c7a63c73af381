import Foundation
import Tombolo
import TomboloProtocol
import TomboloSQLite

/// Records by the value of one attribute: read once, so that an import of a large file asks the store once a record at
/// most, index or none.
struct KeyIndex {
  private enum Entry {
    case one(RecordID)
    case many
  }

  private var entries: [Value: Entry] = [:]

  init(_ entity: EntityPlan, _ column: ColumnPlan, on connection: Connection) throws {
    let name = column.column.quotedIdentifier
    let condition = RecordAccess.entityCondition(entity).map { " AND \($0)" } ?? ""
    try connection.eachRow(
      "SELECT \(name), _tombolo_id FROM \(entity.table.quotedIdentifier) WHERE \(name) IS NOT NULL\(condition)"
    ) { row in
      guard let id = row.recordID(1) else { return }
      add(row.value(0), id)
    }
  }

  mutating func add(_ value: Value, _ id: RecordID) {
    // Text is one value in all its composed and decomposed forms, as in the store's own rules for unique keys.
    entries[Self.key(value)] = entries[Self.key(value)] == nil ? .one(id) : .many
  }

  /// - Throws: `ambiguous` when more than one record has the value.
  func record(_ value: Value, describing place: String) throws -> RecordID? {
    switch entries[Self.key(value)] {
    case nil: return nil
    case .one(let id): return id
    case .many:
      throw TomboloError(
        .ambiguous, "More than one record has this value of \(place).",
        remedy: "Use an attribute that tells records apart.")
    }
  }

  /// The value in the form that is equal exactly where the store holds two values for one.
  static func key(_ value: Value) -> Value {
    guard case .text(let text) = value, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return value }
    return .text(text.precomposedStringWithCanonicalMapping)
  }
}
