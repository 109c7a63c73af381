import Foundation
import TomboloProtocol

/// The sync server without a socket: requests in, responses out, everything synchronous.
///
/// A listener (or the simulation) hands requests in from any thread. ``handle(_:)`` commits what it changes before it
/// returns; ``handle(batch:)`` takes the pushes that wait and commits them together.
package final class Service: @unchecked Sendable {
  // Guarded by `lock`: the control store, the open stores, the metrics. Everything else never changes.
  let lock = NSLock()
  let options: ServiceOptions
  let directory: String
  let control: ControlStore
  private var stores: [String: StoreFile] = [:]
  var metrics = Metrics()

  /// Opens the data directory, which is made if it does not exist.
  /// - Throws: `data_directory_unusable`, or SQLite's error.
  package init(directory: String, options: ServiceOptions) throws {
    self.directory = directory
    self.options = options
    control = try ControlStore(directory: directory, vfs: options.vfs)
  }

  // MARK: Requests

  /// Handles one request; what it changes is durable when it returns.
  package func handle(_ request: ServiceRequest) -> ServiceReply {
    lock.withLock { reply(to: request, since: nil) }
  }

  /// Handles pushes to any stores with one commit a store: each change set in a savepoint of its own.
  ///
  /// Requests that are no pushes are handled one by one.
  /// - Returns: a reply for each request, in order; none of them before the commit is durable.
  package func handle(batch: [ServiceRequest]) -> [ServiceReply] {
    lock.withLock {
      var groups: [String: Group] = [:]
      var replies = [ServiceReply?](repeating: nil, count: batch.count)
      for (index, request) in batch.enumerated() {
        guard request.isPush, batch.count > 1, let route = try? Route(path: request.path), let name = route.store,
          let file = openStore(named: name)
        else {
          replies[index] = reply(to: request, since: nil)
          continue
        }
        groups[name, default: Group(file: file)].indexes.append(index)
      }
      for group in groups.sorted(by: { $0.key < $1.key }).map(\.value) { commit(group, of: batch, into: &replies) }
      return replies.enumerated().map { index, reply in reply ?? .response(groupFailure(for: batch[index])) }
    }
  }

  private struct Group {
    let file: StoreFile
    var indexes: [Int] = []
  }

  /// One transaction around all pushes to a store. If the commit fails, none of their answers is given.
  private func commit(_ group: Group, of batch: [ServiceRequest], into replies: inout [ServiceReply?]) {
    let file = group.file
    do {
      let answers = try file.grouped {
        try group.indexes.map { index in
          let answer = reply(to: batch[index], since: nil)
          // SQLite may undo the whole transaction by itself (a full disk, a failing one): then all of them failed.
          guard file.isInTransaction else { throw TomboloError(.diskFailure, "The group was undone.") }
          return answer
        }
      }
      metrics.groupCommits += 1
      for (index, answer) in zip(group.indexes, answers) { replies[index] = answer }
    } catch {
      log(error, requestID: "group")
      for index in group.indexes { replies[index] = .response(groupFailure(for: batch[index])) }
    }
  }

  /// Whether a suspended pull has something to deliver now; cheap.
  package func hasNews(for poll: LongPoll) -> Bool {
    lock.withLock { stores[poll.store].map { $0.position.rawValue != poll.position } ?? true }
  }

  /// Asks again for a suspended pull: it waits on while there is nothing new and its time is not up.
  package func resume(_ poll: LongPoll) -> ServiceReply {
    lock.withLock { reply(to: poll.request, since: poll) }
  }

  /// The answer to a request whose own failure the listener has found out; counted like every other.
  func failure(_ error: any Error, for request: ServiceRequest) -> ServiceResponse {
    lock.withLock { failureResponse(error, for: request) }
  }

  // MARK: Stores

  /// The open file of a store, from the cache where it is open already; nil if the store does not exist.
  func store(named name: String) throws -> StoreFile? {
    if let file = stores[name] { return file }
    try StoreName.validate(name)
    guard try control.hasStore(name) else { return nil }
    let file = try StoreFile(name: name, directory: directory, options: options)
    stores[name] = file
    return file
  }

  private func openStore(named name: String) -> StoreFile? { try? store(named: name) }

  /// The store, made if it does not exist.
  func makeStore(named name: String) throws -> (file: StoreFile, isNew: Bool) {
    if let file = try store(named: name) { return (file, false) }
    guard try control.storeNames().count < options.limits.storesMax else {
      throw TomboloError.storesExhausted(options.limits.storesMax)
    }
    // The file first: a name without a file would look like a store that lost its data.
    let file = try StoreFile(name: name, directory: directory, options: options)
    try control.addStore(name, created: options.clock.milliseconds())
    stores[name] = file
    return (file, true)
  }

  /// Forgets tombstones that no living replica needs any more, in every store; called now and then, never in a request.
  /// - Returns: the number of tombstones that were removed.
  @discardableResult
  package func collectTombstones() throws -> Int {
    try lock.withLock {
      try control.storeNames().reduce(0) { sum, name in sum + (try store(named: name)?.collectTombstones() ?? 0) }
    }
  }

  /// Sums up a part of every store's rows anew, of 64 in turn, so that damage of a server's file is noticed by the replicas.
  /// - Returns: the number of buckets whose sum was another one.
  @discardableResult
  package func recountChecksums(part: Int) throws -> Int {
    let width = Checksum.bucketCount / Self.recountParts
    let first = part % Self.recountParts * width
    return try lock.withLock {
      try control.storeNames().reduce(0) { sum, name in
        sum + (try store(named: name)?.recountChecksum(of: first..<first + width) ?? 0)
      }
    }
  }

  package static let recountParts = 64

  /// Makes a token as the daemon's owner, outside of any request.
  package func createToken(store: String, role: Role, name: String = "") throws -> String {
    try lock.withLock {
      try control.createToken(
        store: store, role: role, name: name, randomness: options.randomness, clock: options.clock,
        limit: options.limits.tokensMax
      ).secret
    }
  }

  /// Writes what was only noted (who polled, and when), and closes the stores. A service that is dropped without it, as
  /// by a crash, loses nothing else.
  package func close() {
    lock.withLock {
      for file in stores.values {
        do {
          try file.transaction {}
        } catch {
          log(error, requestID: "close")
        }
      }
      stores.removeAll()
    }
  }

  /// Asserted by tests at teardown: no statement is busy, no transaction open.
  package var isIdle: Bool { lock.withLock { control.isIdle && stores.values.allSatisfy(\.isIdle) } }
}
