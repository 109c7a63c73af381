import SwiftData
import Tombolo
import TomboloProtocol

/// A container on a store in memory, or on a file, that tells what SQL it runs.
final class TracedStore: Sendable {
  private let statements: Guarded<[String]>
  let container: ModelContainer

  init(_ types: any PersistentModel.Type..., url: URL? = nil) throws {
    let statements = Guarded<[String]>([])
    self.statements = statements
    let schema = Schema(types)
    var options = Store.Options(clock: SystemClock(), randomness: SystemRandomness())
    options.trace = { sql in statements.withLock { $0.append(sql) } }
    let location = url.map { Store.Location.file(path: $0.path) } ?? .memory(name: "traced")
    container = ModelContainer(schema, on: try Store(location, document: schema.document, options: options))
  }

  /// The queries for records that `body` runs, without those of bookkeeping.
  func queries(_ body: () throws -> Void) rethrows -> [String] {
    statements.withLock { $0 = [] }
    try body()
    return statements.withLock { all in all.filter { $0.hasPrefix("SELECT ") && $0.contains(" AS t0") } }
  }
}
