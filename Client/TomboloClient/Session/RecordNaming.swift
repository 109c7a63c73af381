package import Tombolo
package import TomboloProtocol
import TomboloSQLite

/// What a person calls a record: the value of its first unique attribute, or of the one named `name` or `title`.
package struct RecordNaming: Sendable {
  private let store: Store

  package init(_ store: Store) { self.store = store }

  /// - Returns: nil where the record is not there, or has nothing to be recognised by.
  package func name(of id: RecordID, entity name: String) throws -> String? {
    guard let entity = store.schema.entity(name), let column = Self.column(of: entity),
      case .attribute(let attribute) = column.kind
    else { return nil }
    guard let value = try store.row(entity, id)?[column.property] else { return nil }
    return ValueText.text(value, type: attribute.type)
  }

  private static func column(of entity: EntityPlan) -> ColumnPlan? {
    let keys = entity.uniqueKeys.filter { $0.columns.count == 1 }.flatMap(\.columns).map { entity.columns[$0] }
    let known = ["name", "title"].compactMap(entity.column)
    return
      (keys.filter { isReadable($0, [.string, .url, .int64, .int32]) } + known.filter { isReadable($0, [.string]) })
      .first
  }

  private static func isReadable(_ column: ColumnPlan, _ types: Set<AttributeType>) -> Bool {
    guard case .attribute(let attribute) = column.kind else { return false }
    return types.contains(attribute.type)
  }
}
