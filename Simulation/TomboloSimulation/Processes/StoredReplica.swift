import Foundation
import Tombolo
import TomboloProtocol

/// A replica's file that real processes write, seen by the checkers: opened to be looked at, and closed again.
final class StoredReplica: CheckedReplica {
  let name: String
  let path: String
  private(set) var store: Store?
  var memory = ReplicaMemory()

  init(name: String, path: String) {
    self.name = name
    self.path = path
    // Whoever looks does not know what a process was at.
    memory.wasBusy = true
  }

  func content() throws -> StoreContent? { try store.map { try StoreContent(of: $0) } }

  /// Runs `body` while the file is open for reading.
  func look<Result>(_ body: (Store) throws -> Result) throws -> Result {
    var options = Store.Options(clock: SystemClock(), randomness: SystemRandomness())
    options.isReadOnly = true
    let store = try Store(existing: path, options: options)
    self.store = store
    defer { self.store = nil }
    return try body(store)
  }
}
