/// Makes a class a model: its stored properties become columns, and its objects records.
///
/// The class gets the conformances ``PersistentModel`` and `Observable`; a subclass of a model is marked as well.
/// Reading a property costs about as much as in an `@Observable` class.
///
/// ```swift
/// @Model final class Book {
///   var title: String
///   @Relationship(deleteRule: .cascade, inverse: \Note.book) var notes: [Note] = []
///   init(title: String) { self.title = title }
/// }
/// ```
@attached(
  member, conformances: PersistentModel,
  names: named(_$state), named(_$firstProperty), named(_$propertyCount), named(init), named(_$reload), named(_$bind),
  named(_$describe))
@attached(memberAttribute)
@attached(extension, conformances: PersistentModel, Sendable)
public macro Model() = #externalMacro(module: "TomboloMacros", type: "ModelMacro")

/// Options of a persisted attribute, and what it was called in the schema version before.
///
/// - Parameters:
///   - options: as `.unique`, or `.merge(.counter)`.
///   - originalName: the property's name in the version before.
///   - hashModifier: any text; another one makes the attribute another one.
@attached(peer)
public macro Attribute(
  _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "TomboloMacros", type: "AttributeMacro")

/// How a relationship behaves.
///
/// - Parameters:
///   - options: `.unique`, `.ordered` (a to-many whose order is saved and synced), `.acyclic` (a tree).
///   - deleteRule: what happens to the destination when the record is deleted.
///   - inverse: the other side, written on one side only.
@attached(peer)
public macro Relationship(
  _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
  minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
  hashModifier: String? = nil
) = #externalMacro(module: "TomboloMacros", type: "RelationshipMacro")

/// Leaves a stored property out of the store: it has its default value again after a fetch, and keeps what it was
/// given as long as the object lives.
@attached(peer)
public macro Transient() = #externalMacro(module: "TomboloMacros", type: "TransientMacro")

/// Declares attributes, alone or together, to be unique; nil never collides.
///
/// An insert that matches a stored or pending record updates that record, unless `onConflict` is `.reject`: then `save()`
/// throws `unique_violation`.
@freestanding(declaration)
public macro Unique<T: PersistentModel>(
  _ constraints: [PartialKeyPath<T>]..., onConflict: UniqueConflictPolicy = .merge
) = #externalMacro(module: "TomboloMacros", type: "UniqueMacro")

/// Declares indexes, each over one or more attributes in the given order.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...) =
  #externalMacro(module: "TomboloMacros", type: "IndexMacro")

/// Declares indexes of given kinds.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: Schema.Index<T>.Types<T>...) =
  #externalMacro(module: "TomboloMacros", type: "IndexMacro")

/// Storage and accessors of a persisted property; ``Model()`` puts it there.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_), prefixed(_$willSet_), prefixed(_$didSet_))
public macro _PersistedProperty(_ model: String, _ index: Int, initializes: Bool = true) =
  #externalMacro(module: "TomboloMacros", type: "PersistedPropertyMacro")

/// Makes an actor a ``ModelActor``: with a container, a context of its own, and an executor for it.
///
/// The actor gets `init(modelContainer:)`, unless it declares that itself or has properties without a default; an
/// initializer of its own assigns `modelContainer` and `modelExecutor`.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "TomboloMacros", type: "ModelActorMacro")
