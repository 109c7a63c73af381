public import Foundation

extension ModelContext {
  /// Posted before a context saves; `userInfo` has the identities by ``NotificationKey``.
  public static let willSave = Notification.Name("ModelContext.willSave")
  /// Posted after a context has saved; `userInfo` has the identities by ``NotificationKey``.
  public static let didSave = Notification.Name("ModelContext.didSave")

  /// The keys of the notifications' `userInfo`; the values are arrays of ``PersistentIdentifier``.
  public enum NotificationKey: String, Sendable {
    /// The identities of records that are new.
    case insertedIdentifiers = "inserted"
    /// The identities of records that were changed.
    case updatedIdentifiers = "updated"
    /// The identities of records that were deleted by the program; those that delete rules add are not among them.
    case deletedIdentifiers = "deleted"
    /// Kept for source compatibility: nothing is posted under it.
    case refreshedIdentifiers = "refreshed"
    /// Kept for source compatibility: nothing is posted under it.
    case invalidatedAllIdentifiers = "invalidatedAll"
    /// Kept for source compatibility: nothing is posted under it.
    case queryGeneration
  }

  /// What is pending, as `userInfo` has it.
  ///
  /// - Parameter part: the store of what is listed; nil for all.
  func changedIdentifiers(of part: StorePart?) -> [AnyHashable: Any] {
    var inserted: [PersistentIdentifier] = []
    var updated: [PersistentIdentifier] = []
    var deleted: [PersistentIdentifier] = []
    inserted.reserveCapacity(insertedCount)
    for case let model? in pending {
      if let part, plan(of: model)?.part !== part { continue }
      let flags = model._$state.flags
      if flags.contains(.deletePending) {
        deleted.append(model.persistentModelID)
      } else if flags.contains(.inserted) {
        inserted.append(model.persistentModelID)
      } else {
        updated.append(model.persistentModelID)
      }
    }
    return [
      NotificationKey.insertedIdentifiers.rawValue: inserted, NotificationKey.updatedIdentifiers.rawValue: updated,
      NotificationKey.deletedIdentifiers.rawValue: deleted,
    ]
  }
}
