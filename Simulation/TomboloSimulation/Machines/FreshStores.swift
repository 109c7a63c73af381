import Synchronization
import Tombolo
import TomboloProtocol
import TomboloSQLite

/// Stores that nothing was saved in yet, as files: to make one anew for each replica of each run would be a good part of
/// all the work.
///
/// The sixteen of a schema differ in the identity of the replica. A run takes its own from some place on, so that
/// identities come in many orders.
final class FreshStores: Sendable {
  static let shared = FreshStores()
  /// How many identities there are.
  static let count = 16
  private static let schemasMax = 8

  private struct Key: Hashable {
    var document: SchemaDocument
    var number: Int
  }
  private let images = Guarded<[Key: [String: [UInt8]]]>([:])
  private let disks = Atomic<UInt64>(0)

  /// The files of a store with a remote, by their paths.
  ///
  /// - Parameter number: which identity, from 0.
  func image(of document: SchemaDocument, number: Int) throws -> [String: [UInt8]] {
    let key = Key(document: document, number: number % Self.count)
    if let image = images.withLock({ $0[key] }) { return image }
    let image = try make(document, number: key.number)
    images.withLock { images in
      if images.count >= Self.schemasMax * Self.count { images = [:] }
      images[key] = image
    }
    return image
  }

  private func make(_ document: SchemaDocument, number: Int) throws -> [String: [UInt8]] {
    let time = VirtualTime(milliseconds: SimulationRun.startMilliseconds)
    let clock = SkewedClock(time, skewMilliseconds: 0)
    let randomness = SeededRandomness(SeededGenerator(seed: UInt64(number) &+ 0x7012_B010))
    let disk = try MemoryFileSystem(
      name: "tombolo-fresh-\(disks.add(1, ordering: .relaxed).newValue)",
      environment: .init(
        milliseconds: { clock.milliseconds() }, random: { randomness.next() },
        sleep: { time.advance(byMicroseconds: $0) }))
    var options = Store.Options(clock: clock, randomness: randomness)
    options.vfs = disk.name
    do {
      let store = try Store(.file(path: SimulatedReplica.path), document: document, options: options)
      try store.setRemote(SimulatedServer.url, tokenFile: nil)
    }
    return disk.image().filter { !$0.value.isEmpty }
  }
}
