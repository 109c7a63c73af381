package import Tombolo
package import TomboloProtocol
package import TomboloSQLite

/// Looks entities and records up by what a person types.
package enum RecordAccess {
  /// Records named in the error for an ambiguous identifier.
  private static let examplesMax = 4

  /// - Throws: `unknown_entity` with the nearest name.
  package static func entity(_ name: String, in schema: StoreSchema) throws -> EntityPlan {
    if let plan = schema.entity(name) { return plan }
    let names = schema.entities.map(\.name)
    throw TomboloError(
      .unknownEntity, "The schema has no entity '\(name)'\(NearestName.suggestion(for: name, among: names)).",
      remedy: "It has: \(names.joined(separator: ", ")).")
  }

  /// - Throws: `unknown_attribute` with the nearest name.
  package static func column(_ name: String, of entity: EntityPlan) throws -> ColumnPlan {
    if let column = entity.column(name), !column.isPosition { return column }
    let names = entity.declaredColumns.map(\.property)
    let isRelationship =
      entity.farSides.contains { $0.property == name } || entity.links.contains { $0.property == name }
    if isRelationship {
      throw TomboloError(
        .unknownAttribute, "'\(name)' of \(entity.name) is a to-many relationship, which has no column of its own.",
        remedy: "Set the reference at the other side.")
    }
    throw TomboloError(
      .unknownAttribute,
      "\(entity.name) has no attribute or reference '\(name)'\(NearestName.suggestion(for: name, among: names)).",
      remedy: "It has: \(names.joined(separator: ", ")).")
  }

  /// The identifiers that begin as a person typed: one, where all digits are there.
  ///
  /// - Throws: `unknown_record` for what is no identifier.
  static func bounds(_ text: String) throws -> ClosedRange<RecordID> {
    let digits = text.filter { $0 != "-" }.lowercased()
    guard (1...32).contains(digits.count), digits.allSatisfy(\.isHexDigit), digits.utf8.count == digits.count else {
      throw TomboloError(
        .unknownRecord, "'\(text)' is not an identifier.",
        remedy: "Identifiers have 32 hexadecimal digits; a unique beginning is enough. 'tombolo list' shows them.")
    }
    let missing = 32 - digits.count
    guard let low = RecordID(digits + String(repeating: "0", count: missing)),
      let high = RecordID(digits + String(repeating: "f", count: missing))
    else { throw TomboloError(.unknownRecord, "'\(text)' is not an identifier.") }
    return low...high
  }

  /// The record that an identifier, or the beginning of one, names.
  ///
  /// - Throws: `unknown_record`, `ambiguous`.
  package static func record(_ text: String, of entity: EntityPlan, on connection: Connection) throws -> RecordID {
    let bounds = try Self.bounds(text)
    let statement = try connection.prepare(
      "SELECT _tombolo_id FROM \(entity.table.quotedIdentifier) WHERE _tombolo_id BETWEEN ?1 AND ?2"
        + "\(entityCondition(entity).map { " AND \($0)" } ?? "") ORDER BY _tombolo_id LIMIT \(examplesMax)",
      persistent: false)
    statement.bind(bounds.lowerBound.bytes, at: 1)
    statement.bind(bounds.upperBound.bytes, at: 2)
    var found: [RecordID] = []
    while try statement.step() {
      if let halves = statement.halves(0) { found.append(RecordID(high: halves.high, low: halves.low)) }
    }
    guard let first = found.first else {
      throw TomboloError(
        .unknownRecord, "There is no \(entity.name) with the identifier \(text).",
        remedy: "'tombolo list STORE \(entity.name)' shows those that there are.")
    }
    guard found.count == 1 else {
      let examples = found.prefix(examplesMax - 1).map(\.description).joined(separator: ", ")
      throw TomboloError(
        .ambiguous,
        "More than one \(entity.name) has an identifier that begins with \(text): \(examples)\(found.count == examplesMax ? ", …" : "").",
        remedy: "Give more of its digits.")
    }
    return first
  }

  /// Restricts a hierarchy's table to an entity and those below it; nil where the table has only one.
  package static func entityCondition(_ entity: EntityPlan) -> String? {
    guard entity.hasEntityColumn else { return nil }
    let names = entity.concreteNames.map {
      "'" + $0.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
    return "_tombolo_entity IN (\(names.joined(separator: ", ")))"
  }
}
