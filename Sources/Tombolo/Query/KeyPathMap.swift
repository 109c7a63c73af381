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
