package import TomboloProtocol

/// The names and numbers that one store has given to entities, columns and link tables.
///
/// A place is fixed when its property is added and never changes later: SQLite folds the case of names, and two subclasses
/// may own one name with different types. Change rows and stamps use the numbers.
package struct StoreLayout: Sendable {
  package enum Kind: Int, Sendable {
    /// An entity: its table, and its number in the store.
    case table = 0
    /// An attribute or reference: its column, and its number in the table.
    case column = 1
    /// The source side of a many-to-many: the table of pairs, and its number in the store.
    case link = 2
  }

  package struct Key: Hashable, Sendable {
    package var entity: String
    /// Empty for the entity itself.
    package var property: String
  }

  package struct Place: Hashable, Sendable {
    package var kind: Kind
    package var name: String
    package var number: Int
  }

  package private(set) var places: [Key: Place] = [:]
  /// What is new since the layout was read from the store, in order.
  package private(set) var added: [(key: Key, place: Place)] = []
  private var tableNames: Set<String> = []
  private var columnNames: [String: Set<String>] = [:]
  private var nextEntity = 0
  private var nextLink = 0
  private var nextColumn: [String: Int] = [:]

  package init() {}

  /// Above every column number in the table.
  package func columnCount(ofTable table: String) -> Int { nextColumn[table] ?? 0 }

  /// Takes over a place as the store has it. Entities come before their columns.
  package mutating func restore(_ key: Key, _ place: Place) {
    places[key] = place
    switch place.kind {
    case .table:
      tableNames.insert(Self.folded(place.name))
      nextEntity = max(nextEntity, place.number + 1)
    case .link:
      tableNames.insert(Self.folded(place.name))
      nextLink = max(nextLink, place.number + 1)
    case .column:
      let table = tableName(of: key.entity)
      columnNames[table, default: []].insert(Self.folded(place.name))
      nextColumn[table] = max(nextColumn[table] ?? 0, place.number + 1)
    }
  }

  /// Finds a place for everything in the schema that has none yet.
  package mutating func extend(by schema: ResolvedSchema) {
    let roots = schema.document.entities.filter { schema.entity($0.name)?.root == $0.name }
    let others = schema.document.entities.filter { schema.entity($0.name)?.root != $0.name }
    for entity in roots + others {
      let key = Key(entity: entity.name, property: "")
      guard places[key] == nil, let resolved = schema.entity(entity.name) else { continue }
      let name: String
      if resolved.root == entity.name {
        name = Self.free(entity.name, fallback: "\(entity.name)_entity", in: tableNames)
      } else {
        name = tableName(of: resolved.root)
      }
      add(key, Place(kind: .table, name: name, number: nextEntity))
    }
    for entity in roots + others { addColumns(of: entity.name, in: schema) }
    for link in schema.links.values.sorted(by: { $0.key < $1.key }) {
      let key = Key(entity: link.source, property: link.sourceName)
      guard places[key] == nil else { continue }
      let name = "\(link.source)_\(link.sourceName)"
      add(key, Place(kind: .link, name: Self.free(name, fallback: "\(name)_link", in: tableNames), number: nextLink))
    }
  }

  private mutating func addColumns(of entity: String, in schema: ResolvedSchema) {
    guard let resolved = schema.entity(entity) else { return }
    let table = tableName(of: resolved.root)
    let own = schema.document.entities.first { $0.name == entity }?.attributes.map(\.name).sorted() ?? []
    let references = resolved.references.filter { $0.declaringEntity == entity }.map(\.name)
    for property in own + references {
      let key = Key(entity: entity, property: property)
      guard places[key] == nil else { continue }
      let name = Self.free(property, fallback: "\(entity)_\(property)", in: columnNames[table] ?? [])
      add(key, Place(kind: .column, name: name, number: nextColumn[table] ?? 0))
    }
    for order in resolved.orders where order.declaringEntity == entity {
      let key = Key(entity: entity, property: order.name)
      guard places[key] == nil else { continue }
      // Nobody can declare the name; two subclasses may have a reference of one name.
      let name = (columnNames[table] ?? []).contains(Self.folded(order.name)) ? "\(order.name)_\(entity)" : order.name
      add(key, Place(kind: .column, name: name, number: nextColumn[table] ?? 0))
    }
  }

  private mutating func add(_ key: Key, _ place: Place) {
    restore(key, place)
    added.append((key, place))
  }

  private func tableName(of entity: String) -> String { places[Key(entity: entity, property: "")]?.name ?? entity }

  private static func free(_ name: String, fallback: String, in taken: Set<String>) -> String {
    // `rowid` and its other names stay SQLite's own: the order in which records were made is read through them.
    let isReserved =
      folded(name).hasPrefix("_tombolo_") || folded(name).hasPrefix("sqlite_")
      || ["rowid", "oid", "_rowid_"].contains(folded(name))
    if !isReserved, !taken.contains(folded(name)) { return name }
    let base = isReserved ? "entity_\(name)" : fallback
    if !taken.contains(folded(base)) { return base }
    // Ends: among one more candidate than there are names taken, one is free.
    for number in 2...(taken.count + 3) where !taken.contains(folded("\(base)_\(number)")) {
      return "\(base)_\(number)"
    }
    return base
  }

  /// SQLite holds names equal that differ in the case of ASCII letters only.
  package static func folded(_ name: String) -> String {
    String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
