import TomboloProtocol
import TomboloSQLite

/// The errors of the model layer, each with its sentence and remedy.
enum ModelErrors {
  static func notInSchema(_ type: any PersistentModel.Type) -> TomboloError {
    TomboloError(
      .modelNotInSchema, "The model \(type) is not part of the container's schema.",
      remedy: "Name it in ModelContainer(for:), or in the models of the VersionedSchema.")
  }
  static func otherContext(_ type: any PersistentModel.Type) -> TomboloError {
    TomboloError(
      .otherContext, "An object of \(type) belongs to another context.",
      remedy: "Fetch it in this context by its persistentModelID.")
  }
  static func incomplete(_ type: any PersistentModel.Type) -> TomboloError {
    TomboloError(
      .deletedModel, "An object of \(type) was inserted again whose record was deleted before all of it was read.",
      remedy: "Read its large values, and what propertiesToFetch left out, before deleting it; or insert a new object.")
  }
  static func readOnly(_ name: String) -> TomboloError {
    TomboloError(
      .readOnlyStore, "The configuration \(name) does not allow saves.",
      remedy: "Make the ModelConfiguration with allowsSave: true.")
  }
  /// A row that no object can stand for: leaving it out would pass a part off as the whole.
  static func malformedIdentity(_ entity: EntityPlan) -> TomboloError {
    TomboloError(
      .corruptStore, "A record of \(entity.name) has an identity that is not sixteen bytes.",
      remedy: "Give it one in sqlite3: UPDATE \(entity.table.quotedIdentifier) SET _tombolo_id = randomblob(16) "
        + "WHERE length(_tombolo_id) <> 16; or delete the row.")
  }
  static func unsupported(_ what: String, _ remedy: String) -> TomboloError {
    TomboloError(.unsupportedFeature, what, remedy: remedy)
  }
}
