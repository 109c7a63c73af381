import TomboloProtocol

/// What a path names, with the methods that it understands.
enum Route: Hashable {
  case page
  case health
  case metrics
  case capabilities
  case store(String)
  case schemas(String)
  case schema(String, version: String)
  case changes(String)
  case known(String)
  case reupload(String)
  case records(String)
  case checksum(String)
  case checksumRecords(String)
  case replicas(String)
  case tokens(String)
  case token(String, id: String)

  /// - Throws: `not_found`.
  init(path: String) throws {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
    switch (parts.count, parts.first) {
    case (0, _): self = .page
    case (1, "metrics"): self = .metrics
    case (1, "v1"): self = .capabilities
    case (2, "v1") where parts[1] == "health": self = .health
    case (3..., "v1") where parts[1] == "stores":
      self = try Self.inStore(parts[2], Array(parts.dropFirst(3)), path: path)
    default: throw TomboloError.pathUnknown
    }
  }

  private static func inStore(_ store: String, _ rest: [String], path: String) throws -> Route {
    switch (rest.count, rest.first) {
    case (0, _): return .store(store)
    case (1, "schemas"): return .schemas(store)
    case (2, "schemas"): return .schema(store, version: rest[1])
    case (1, "changes"): return .changes(store)
    case (2, "changes") where rest[1] == "known": return .known(store)
    case (1, "reupload"): return .reupload(store)
    case (1, "records"): return .records(store)
    case (1, "checksum"): return .checksum(store)
    case (2, "checksum") where rest[1] == "records": return .checksumRecords(store)
    case (1, "replicas"): return .replicas(store)
    case (1, "tokens"): return .tokens(store)
    case (2, "tokens"): return .token(store, id: rest[1])
    default: throw TomboloError.pathUnknown
    }
  }

  var methods: [String] {
    switch self {
    case .page, .health, .metrics, .capabilities, .schemas, .replicas: ["GET"]
    case .store, .schema: ["GET", "PUT"]
    case .changes, .checksum: ["GET", "POST"]
    case .known, .records, .reupload, .checksumRecords: ["POST"]
    case .tokens: ["GET", "POST"]
    case .token: ["DELETE"]
    }
  }

  /// The store that the path names, nil outside of one.
  var store: String? {
    switch self {
    case .page, .health, .metrics, .capabilities: nil
    case .store(let name), .schemas(let name), .schema(let name, _), .changes(let name), .known(let name),
      .reupload(let name), .records(let name), .checksum(let name), .checksumRecords(let name), .replicas(let name),
      .tokens(let name),
      .token(let name, _):
      name
    }
  }
}
