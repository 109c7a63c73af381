import Tombolo
import TomboloClient
import TomboloProtocol

/// Single questions to a server, outside of a sync.
struct ServerAccess {
  private let requests: RequestMaker
  private let transport: any Transport

  init(url: String, token: String, context: CommandContext) throws {
    requests = RequestMaker(address: try RemoteAddress(url), token: token)
    transport = context.makeTransport()
  }

  /// The server that a store syncs with.
  ///
  /// - Throws: `no_remote`; `file_unreadable`, `token_invalid`, `remote_invalid`.
  init(of store: Store, tokenFile: String?, context: CommandContext) throws {
    guard let state = try store.replicaState(), let file = tokenFile ?? state.tokenFile else {
      throw TomboloError(
        .noRemote, "The store has no server, or no token file was named for it.",
        remedy: "Name one: tombolo remote add STORE URL --token-file FILE.")
    }
    try self.init(url: state.remoteURL, token: TokenFile.read(file), context: context)
  }

  /// The newest schema that the store's clients registered.
  ///
  /// - Throws: what ``SingleExchange`` throws; `unknown_schema` when none is registered yet.
  func latestSchema() throws -> SchemaDocument {
    let request = requests.request("GET", "/schemas/latest", headers: ["accept": "application/json"])
    return try SchemaDocument(parsing: try SingleExchange.body(of: request, on: transport))
  }

  /// The server's checksum at the replica's own position.
  ///
  /// - Throws: `nothing_to_compare` when the replica is behind.
  func checksum(after cursor: Cursor, of store: Store, _ state: ReplicaState) throws -> Checksum {
    guard let version = store.schema.document.version else {
      throw TomboloError(.storeUnversioned, "The store has no version.")
    }
    let introduction = Introduction(
      replica: state.replica, schemaVersion: version, highestSave: state.highestSave, holds: state.holds,
      epoch: state.epoch)
    let request = requests.pull(PullRequest(introduction: introduction, cursor: cursor, limit: 1))
    let page = try Page(decoding: try SingleExchange.body(of: request, on: transport), as: .cbor)
    guard let checksum = page.checksum, page.items.isEmpty, page.cursor.position == cursor.position else {
      throw TomboloError(
        .nothingToCompare, "Nothing can be compared: the server has changes that this replica does not have yet.",
        remedy: "Sync first, then verify again.")
    }
    return checksum
  }

  /// The records that differ, as far as one comparison names them.
  struct Difference {
    struct Record {
      var entity: String?
      var id: RecordID
      var kind: RecordDifference.Kind
    }
    var records: [Record] = []
    var isComplete = true
  }

  /// - Throws: what ``SingleExchange`` throws.
  func differences(at cursor: Cursor, of store: Store) throws -> Difference {
    var difference = Difference()
    var comparison = ComparisonRequest(cursor: cursor)
    let sums = try ComparisonResponse(
      decoding: try SingleExchange.body(of: requests.compare(comparison), on: transport), as: .cbor)
    let buckets = try store.differingBuckets(sums, at: cursor) ?? []
    guard !buckets.isEmpty else { return difference }
    comparison.buckets = Array(buckets.prefix(ComparisonRequest.bucketsMax))
    let parts = try ComparisonResponse(
      decoding: try SingleExchange.body(of: requests.compare(comparison), on: transport), as: .cbor)
    let found = try store.differingRecords(parts, at: cursor) ?? []
    let named = found.prefix(ComparisonRequest.recordsMax)
    difference.isComplete = parts.buckets.count == buckets.count && named.count == found.count
    comparison = ComparisonRequest(cursor: cursor, records: named.map(\.id))
    let page = try Page(
      decoding: try SingleExchange.body(of: requests.compareRecords(comparison), on: transport), as: .cbor)
    difference.records = try named.map {
      Difference.Record(entity: try store.entity(of: $0.id, in: page), id: $0.id, kind: $0.kind)
    }
    return difference
  }

  /// The whole state of single records; those that the server does not know are left out.
  func records(_ ids: [RecordID]) throws -> [FeedItem] {
    let body = JSONText.object([("records", .array(ids.map { .string($0.description) }))]).text
    let request = requests.request(
      "POST", "/records", headers: ["content-type": "application/json"], body: Array(body.utf8))
    return try Page(decoding: try SingleExchange.body(of: request, on: transport), as: .cbor).items
  }

  /// What the server calls each replica: the name of the token that it last came with.
  func replicaNames() throws -> [ReplicaID: String] {
    let answer = try json("GET", "/replicas")
    guard case .array(let entries)? = answer["replicas"] else { return [:] }
    var names: [ReplicaID: String] = [:]
    for entry in entries {
      guard case .string(let digits)? = entry["replica"], let number = UInt64(digits, radix: 16) else { continue }
      if case .string(let name)? = entry["token"] { names[ReplicaID(number)] = name }
    }
    return names
  }

  /// An answer in JSON, of a path below the store's.
  func json(_ method: String, _ path: String) throws -> JSONValue {
    let request = requests.request(method, path, headers: ["accept": "application/json"])
    return try JSONValue(parsing: try SingleExchange.body(of: request, on: transport))
  }

  /// An answer in JSON, of a path of the server's own, for which no token is sent.
  func publicJSON(_ path: String) throws -> JSONValue {
    let request = TransportRequest(
      method: "GET", url: requests.address.server + path, headers: ["accept": "application/json"])
    return try JSONValue(parsing: try SingleExchange.body(of: request, on: transport))
  }
}
