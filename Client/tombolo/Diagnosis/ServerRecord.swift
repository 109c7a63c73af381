import TomboloProtocol

/// What the server has under one identity.
enum ServerRecord {
  case record(RecordState)
  case tombstone(Tombstone)
  case unknown

  init(_ item: FeedItem?) {
    switch item {
    case .record(let state): self = .record(state)
    case .tombstone(let tombstone): self = .tombstone(tombstone)
    case .link, .conflict, nil: self = .unknown
    }
  }
}

/// What was learned from the server, or why nothing was.
struct ServerAnswer {
  var record: Result<ServerRecord, TomboloError>
  var replicas: [ReplicaID: String] = [:]
}
