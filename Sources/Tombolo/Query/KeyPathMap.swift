package import TomboloProtocol

/// What the key paths of one model type are called in the store.
///
/// The model layer makes one for every entity, from the list of key paths that each class emits.
package struct KeyPathMap: @unchecked Sendable {
  // Guarded by being immutable; the key paths are literals that the macro wrote, and capture nothing.

  /// The entity's name, as in the schema document.
  package let entity: String
  /// The class itself, as `is` and `as?` name it.
  package let model: any Any.Type
  /// Key paths rooted at ``model`` itself, inherited properties included.
  private let names: [AnyKeyPath: String]
  /// The same, by name.
  package let paths: [String: AnyKeyPath]

  /// - Parameter properties: every persisted property, inherited ones included, with its key path rooted at `model`.
  package init(entity: String, model: any Any.Type, properties: [(path: AnyKeyPath, name: String)]) {
    self.entity = entity
    self.model = model
    names = Dictionary(properties.map { ($0.path, $0.name) }, uniquingKeysWith: { first, _ in first })
    paths = Dictionary(properties.map { ($0.name, $0.path) }, uniquingKeysWith: { first, _ in first })
  }

  /// The property's name; nil for transient and computed properties, and for the identifier.
  package func name(of path: AnyKeyPath) -> String? { names[path] }
}

/// The key-path maps of a container's schema, by entity and by class.
package struct KeyPathMaps: Sendable {
  private let byEntity: [String: KeyPathMap]
  private let byModel: [ObjectIdentifier: KeyPathMap]
  /// Sort paths that were taken apart already.
  let sortPaths = SortPathCache()

  package init(_ maps: [KeyPathMap]) {
    byEntity = Dictionary(maps.map { ($0.entity, $0) }, uniquingKeysWith: { first, _ in first })
    byModel = Dictionary(maps.map { (ObjectIdentifier($0.model), $0) }, uniquingKeysWith: { first, _ in first })
  }

  package func map(entity: String) -> KeyPathMap? { byEntity[entity] }
  package func map(model: any Any.Type) -> KeyPathMap? { byModel[ObjectIdentifier(model)] }
}

/// A value that names a record: the identifier of a model object conforms, so that predicates may compare it.
///
/// A key path of a model whose value is of such a type stands for the record's own key.
package protocol RecordReferencing {
  /// The record's key; nil where the value names a record of another store or none.
  var recordReference: RecordID? { get }
}

/// The key paths of sort descriptors, taken apart once: their descriptions take microseconds to make.
final class SortPathCache: Sendable {
  private struct Key: Hashable, @unchecked Sendable {
    // Guarded by being immutable; a key path of a sort descriptor captures nothing that changes.
    let entity: String
    let path: AnyKeyPath
  }
  /// An application sorts by few key paths; more than this many are not kept.
  private static let countMax = 1_000
  private let paths = Guarded<[Key: SortPath]>([:])

  /// The path's parts, made by `make` if they are not known yet.
  func parts(of path: AnyKeyPath, in entity: String, make: () throws -> SortPath) rethrows -> SortPath {
    let key = Key(entity: entity, path: path)
    if let known = paths.withLock({ $0[key] }) { return known }
    let made = try make()
    paths.withLock { paths in
      if paths.count < Self.countMax { paths[key] = made }
    }
    return made
  }
}
