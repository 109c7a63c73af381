/// An actor with a model context of its own: the place for work in the background. ``ModelActor()`` makes one.
///
/// ```swift
/// @ModelActor actor Importer {
///   func add(_ titles: [String]) throws {
///     for title in titles { modelContext.insert(Book(title: title)) }
///     try modelContext.save()
///   }
/// }
/// ```
///
/// Models do not leave the actor: it returns their `persistentModelID`s, and takes those.
public protocol ModelActor: Actor {
  /// The container whose store the actor works on.
  nonisolated var modelContainer: ModelContainer { get }
  /// What runs the actor's work, and owns its context. It has to be a ``SerialModelExecutor``.
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  /// The executor that the actor runs on.
  ///
  /// - Precondition: `modelExecutor` is a ``SerialModelExecutor``, as ``DefaultSerialModelExecutor`` is.
  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    guard let executor = modelExecutor as? any SerialModelExecutor else {
      preconditionFailure(
        "The modelExecutor of a ModelActor has to be a SerialModelExecutor: take DefaultSerialModelExecutor.")
    }
    return executor.asUnownedSerialExecutor()
  }

  /// The actor's context.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The object of a record in the actor's context, fetched if need be; nil if there is none, or it is of another class.
  public subscript<Model: PersistentModel>(id: PersistentIdentifier, as type: Model.Type) -> Model? {
    try? modelContext.existingModel(for: id)
  }
}

/// An executor that owns a context.
public protocol ModelExecutor: Executor {
  /// The context; only work that the executor runs may use it.
  var modelContext: ModelContext { get }
}

/// An executor that owns a context and runs one piece of work after another.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}
