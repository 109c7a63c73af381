public import Foundation
import TomboloProtocol

extension Notification.Name {
  /// Posted after a sync has changed a container's store, once for each commit, from the thread of the sync.
  ///
  /// `object` is the container. `userInfo` has the identities of the records by ``ModelContext/NotificationKey``, as
  /// ``ModelContext/didSave`` has them, and the store's file under ``NSPersistentStoreURLKey`` (none for one in memory). When it
  /// is posted, contexts of the container see the changes, and `fetchHistory` has them by the author `sync`.
  ///
  /// The name is Core Data's, so that one observer serves both platforms. Unlike there, the container's own saves are not
  /// told under it: they post ``ModelContext/didSave``.
  public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}

/// The key of a store's file in the `userInfo` of `NSPersistentStoreRemoteChange`.
public let NSPersistentStoreURLKey = "storeURL"

/// Posts what syncs bring to the stores of a container.
final class RemoteChanges: Sendable {
  private struct Listening {
    weak var container: ModelContainer?
    var observations: [StoreObservation] = []
  }
  private let listening = Guarded(Listening())

  /// Begins to post on behalf of a container.
  func begin(_ container: ModelContainer) {
    let observations = container.core.parts.map { part in
      // What is observed does not hold its observer.
      part.store.observe(isLast: true) { [weak self, weak part] summary in
        if summary.isRemote, let part { self?.post(summary, part) }
      }
    }
    listening.withLock { $0 = Listening(container: container, observations: observations) }
  }

  private func post(_ summary: CommitSummary, _ part: StorePart) {
    guard let container = listening.withLock({ $0.container }) else { return }
    func identifiers(_ records: [(entity: String, id: RecordID)]) -> [PersistentIdentifier] {
      records.map {
        PersistentIdentifier(
          record: $0.id, entityName: $0.entity, storeIdentifier: part.storeIdentifier, isTemporary: false)
      }
    }
    typealias Key = ModelContext.NotificationKey
    var userInfo: [AnyHashable: Any] = [
      Key.insertedIdentifiers.rawValue: identifiers(summary.inserted),
      Key.updatedIdentifiers.rawValue: identifiers(summary.updated),
      Key.deletedIdentifiers.rawValue: identifiers(summary.deleted),
    ]
    if case .file(let path) = part.store.location {
      userInfo[NSPersistentStoreURLKey] = URL(fileURLWithPath: path)
    }
    NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: container, userInfo: userInfo)
  }
}
