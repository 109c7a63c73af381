import TomboloProtocol

/// Collects what a model class says of itself. Generated code calls it; the overloads tell attributes from relationships.
public final class _$SchemaBuilder {
  /// A default that is another value each time.
  public enum Generated: Sendable { case uuid, now }

  private let type: any PersistentModel.Type
  private(set) var className: String
  private(set) var superclass: (any PersistentModel.Type)?
  private(set) var properties: [ClassDescription.Property] = []
  private(set) var unique: [UniqueConstraint] = []
  private(set) var indexes: [SchemaIndex] = []
  private(set) var deletePolicy = TomboloProtocol.DeletePolicy.deleteWins
  private(set) var otherPaths: [(path: AnyKeyPath, name: String)] = []
  private(set) var faults: [TomboloError.Detail] = []
  /// By property: the name of its value transformer.
  private(set) var transformers: [Int: String] = [:]
  /// The class whose own properties are being listed.
  private var level: any PersistentModel.Type
  private var relationshipCount = 0

  init(_ type: any PersistentModel.Type) {
    self.type = type
    level = type
    className = String(describing: type)
  }

  /// Begins a class of the lineage; the described one comes last.
  public func _$class(_ type: any PersistentModel.Type, _ name: String, superclass: (any PersistentModel.Type)?) {
    level = type
    className = name
    self.superclass = superclass
  }

  /// Lists a base class's property again under the subclass's override.
  public func _$override(_ name: String, _ path: AnyKeyPath) { otherPaths.append((path, name)) }

  // MARK: Attributes

  /// Lists an attribute.
  @_disfavoredOverload
  public func _$property<Model: PersistentModel, Owner: PersistentModel, Value: Codable>(
    _ name: String, _ path: KeyPath<Model, Value>, declared: KeyPath<Owner, Value>, slot: AnyKeyPath,
    default: (() -> Value)? = nil, generated: Generated? = nil, attribute: _$AttributeOptions = .init(),
    relationship: _$RelationshipOptions = .init()
  ) {
    let reader = AttributeReader(Value.self)
    var attribute = reader.attribute(named: name, options: attribute, fault: { self.fault(name, $0, $1) })
    switch generated {
    case .uuid: attribute.defaultValue = .generatedUUID
    case .now: attribute.defaultValue = .generatedNow
    case nil:
      if let value = `default`?(), let constant = reader.constant(value) {
        attribute.defaultValue = .constant(constant)
      }
    }
    add(name, path, declared, .attribute(attribute))
  }

  /// Says what a property's type has to be.
  @available(
    *, unavailable,
    message: "A persisted property's type must be Codable or a model: make it Codable, or mark the property @Transient."
  )
  @_disfavoredOverload
  public func _$property<Model, Owner, Value>(
    _ name: String, _ path: KeyPath<Model, Value>, declared: KeyPath<Owner, Value>, slot: AnyKeyPath,
    default: (() -> Value)? = nil, generated: Generated? = nil, attribute: _$AttributeOptions = .init(),
    relationship: _$RelationshipOptions = .init(), unsupported: Void = ()
  ) {}

  // MARK: Relationships

  /// Lists a required to-one.
  public func _$property<Model: PersistentModel, Owner: PersistentModel, Value: PersistentModel>(
    _ name: String, _ path: KeyPath<Model, Value>, declared: KeyPath<Owner, Value>,
    slot: ReferenceWritableKeyPath<Owner, Value?>, default: (() -> Value)? = nil,
    attribute: _$AttributeOptions = .init(),
    relationship: _$RelationshipOptions = .init()
  ) {
    let description = ToOne(
      name: name, property: properties.count, cell: relationshipCount, isOptional: false, options: relationship,
      declared: declared, slot: slot)
    add(name, path, declared, .relationship(description))
  }
  /// Lists an optional to-one.
  public func _$property<Model: PersistentModel, Owner: PersistentModel, Value: PersistentModel>(
    _ name: String, _ path: KeyPath<Model, Value?>, declared: KeyPath<Owner, Value?>,
    slot: ReferenceWritableKeyPath<Owner, Value?>, default: (() -> Value?)? = nil,
    attribute: _$AttributeOptions = .init(), relationship: _$RelationshipOptions = .init()
  ) {
    let description = ToOne(
      name: name, property: properties.count, cell: relationshipCount, isOptional: true, options: relationship,
      declared: declared, slot: slot)
    add(name, path, declared, .relationship(description))
  }
  /// Lists a to-many.
  public func _$property<Model: PersistentModel, Owner: PersistentModel, Value: PersistentModel>(
    _ name: String, _ path: KeyPath<Model, [Value]>, declared: KeyPath<Owner, [Value]>,
    slot: ReferenceWritableKeyPath<Owner, [Value]?>, default: (() -> [Value])? = nil,
    attribute: _$AttributeOptions = .init(), relationship: _$RelationshipOptions = .init()
  ) {
    let description = ToMany(
      name: name, property: properties.count, cell: relationshipCount, options: relationship, declared: declared,
      slot: slot)
    add(name, path, declared, .relationship(description))
  }
  /// Lists a to-many declared optional.
  public func _$property<Model: PersistentModel, Owner: PersistentModel, Value: PersistentModel>(
    _ name: String, _ path: KeyPath<Model, [Value]?>, declared: KeyPath<Owner, [Value]?>,
    slot: ReferenceWritableKeyPath<Owner, [Value]?>, default: (() -> [Value]?)? = nil,
    attribute: _$AttributeOptions = .init(), relationship: _$RelationshipOptions = .init()
  ) {
    let description = ToMany(
      name: name, property: properties.count, cell: relationshipCount, options: relationship, declared: declared,
      slot: slot)
    add(name, path, declared, .relationship(description))
  }

  private func add(
    _ name: String, _ path: AnyKeyPath, _ declared: AnyKeyPath, _ kind: ClassDescription.Property.Kind
  ) {
    if case .relationship = kind { relationshipCount += 1 }
    properties.append(
      ClassDescription.Property(
        name: name, path: path, declaredPath: declared, declaringClass: String(describing: level), kind: kind))
    if case .attribute(let attribute) = kind, attribute.options.contains(_$AttributeOptions.unique), level == type {
      unique.append(UniqueConstraint(attributes: [name]))
    }
  }

  func addTransformed(
    _ attribute: SchemaAttribute, _ path: AnyKeyPath, _ declared: AnyKeyPath, transformer: String
  ) {
    transformers[properties.count] = transformer
    add(attribute.name, path, declared, .attribute(attribute))
  }

  private func fault(_ property: String, _ text: String, _ fix: String) {
    faults.append(
      TomboloError.Detail(
        code: ErrorCode.invalidSchema.rawValue, entity: String(describing: level), property: property, text: text,
        fix: fix))
  }

  // MARK: Constraints

  /// Takes the arguments of `#Unique`.
  public func _$unique<Model: PersistentModel>(
    _: Model.Type, _ constraints: [PartialKeyPath<Model>]..., onConflict: UniqueConflictPolicy = .merge
  ) {
    guard Model.self == type else { return }
    for paths in constraints {
      unique.append(
        UniqueConstraint(
          attributes: names(of: paths, in: "#Unique"), onConflict: onConflict == .reject ? .reject : .merge))
    }
  }
  /// Takes the arguments of `#Index`.
  public func _$index<Model: PersistentModel>(_: Model.Type, _ indices: [PartialKeyPath<Model>]...) {
    guard Model.self == type else { return }
    for paths in indices { indexes.append(SchemaIndex(attributes: names(of: paths, in: "#Index"))) }
  }
  /// Takes the arguments of `#Index` with kinds.
  public func _$index<Model: PersistentModel>(_: Model.Type, _ indices: Schema.Index<Model>.Types<Model>...) {
    guard Model.self == type else { return }
    for index in indices {
      let names = names(of: index.paths, in: "#Index")
      if index.isTree { checkTree(names) }
      indexes.append(SchemaIndex(attributes: names, kind: index.isTree ? .rtree : .binary))
    }
  }

  private func checkTree(_ names: [String]) {
    if names.count > TreePlan.dimensionsMax {
      fault(
        names[0], "A tree (.rtree) of \(className) has \(names.count) dimensions.",
        "Name at most \(TreePlan.dimensionsMax) attributes.")
    }
    for name in names {
      guard let property = properties.first(where: { $0.name == name }), case .attribute(let attribute) = property.kind,
        attribute.type.isTreeDimension
      else {
        fault(name, "\(className).\(name) is in a tree (.rtree), and is no number or date.", "Use .binary for it.")
        continue
      }
    }
  }
  /// Takes the class's `concurrentDelete`.
  public func _$concurrentDelete(_ policy: DeletePolicy) {
    if policy == .editWins { deletePolicy = .editWins }
  }

  private func names(of paths: [AnyKeyPath], in macro: String) -> [String] {
    paths.compactMap { path in
      if let property = properties.first(where: { $0.path == path || $0.declaredPath == path }) { return property.name }
      fault(
        "", "\(macro) of \(className) names a key path that is not a persisted property.",
        "Name stored properties of \(className) itself.")
      return nil
    }
  }
}
