import Synchronization

/// Finds out which properties a composed key path reads, as `\\Note.folder?.name` reads `folder` and then `name`.
///
/// A key path cannot be taken apart, and its description names a generated accessor by an address that differs between
/// modules. So the key path is followed on an object made for it, whose accessors tell what is read.
enum KeyPathProbe {
  private final class Recorder {
    var steps: [AnyKeyPath] = []
  }

  @TaskLocal private static var recorder: RecorderBox?

  private struct RecorderBox: @unchecked Sendable {
    // Guarded by being used by the one task that made it, while it waits for the key path.
    let recorder: Recorder
  }

  /// The properties' own key paths in the order of their reading; nil where the model allows no object to be made.
  static func steps(of path: AnyKeyPath, in model: any PersistentModel.Type) -> [AnyKeyPath]? {
    guard let object = object(of: model) else { return nil }
    let recorder = Recorder()
    $recorder.withValue(RecorderBox(recorder: recorder)) {
      let root: Any = object
      _ = root[keyPath: path]
    }
    return recorder.steps
  }

  /// An object whose accessors tell what is read, and that key paths can be followed on.
  static func object(of model: any PersistentModel.Type) -> (any PersistentModel)? {
    let object = DeletedPlaceholder.make(model, nil)
    object?._$state.flags.insert(.probe)
    return object
  }

  static func note(_ path: AnyKeyPath) { recorder?.recorder.steps.append(path) }

  /// Gives a probe's empty to-one an object that goes on telling.
  static func extend(_ model: some PersistentModel, _ relationship: RelationshipDescription) {
    guard relationship.one(model) == nil else { return }
    let next = DeletedPlaceholder.make(relationship.destination, nil)
    next?._$state.flags.insert(.probe)
    relationship.setOne(model, next)
  }
}
