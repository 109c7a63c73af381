import SwiftData
import TomboloClient

/// What every program here can do with a server. The models know nothing of it.
struct SyncCommand {
  let name: String
  let usage: String
  let summary: String
  let run: @MainActor (ModelContainer, inout Arguments) async throws -> Void

  @MainActor static let all = [
    SyncCommand(
      name: "sync", usage: "[URL --token-file FILE]", summary: "send what is new here, receive what is new elsewhere"
    ) { container, arguments in
      let report = try await synchronizer(of: container, &arguments).sync()
      print("sent \(report.pushed) saves, received \(report.pulled) changes")
      if report.parked > 0 { print("\(report.parked) saves were refused: 'tombolo parked STORE' says why") }
      if report.conflicts > 0 { print("\(report.conflicts) edits did not stand: see 'conflicts'") }
    },
    SyncCommand(name: "conflicts", usage: "", summary: "edits made here that did not stand, and why") {
      container, arguments in
      try arguments.finish()
      let remote = try Remote.known(to: container)
      let conflicts = try remote.map { try Synchronizer(container: container, remote: $0).conflicts } ?? []
      for (index, conflict) in conflicts.enumerated() { print("\(index + 1). \(conflict.sentence)") }
      if conflicts.isEmpty { print("Everything that was written here stands.") }
    },
    SyncCommand(name: "restore", usage: "NUMBER", summary: "make one of those edits again") { container, arguments in
      let word = try arguments.next("NUMBER")
      let synchronizer = try synchronizer(of: container, &arguments)
      let conflicts = try synchronizer.conflicts
      guard let number = Int(word), conflicts.indices.contains(number - 1) else {
        throw UsageError("There is no conflict \(word); 'conflicts' numbers them.")
      }
      try synchronizer.restore(conflicts[number - 1])
    },
  ]

  /// The server is named once; the store remembers it, and where its token is.
  @MainActor private static func synchronizer(
    of container: ModelContainer, _ arguments: inout Arguments
  ) throws -> Synchronizer {
    let file = try arguments.option("token-file")
    let url = try arguments.nextIfAny()
    try arguments.finish()
    switch (url, file) {
    case (let url?, let file?):
      return try Synchronizer(
        container: container, remote: Remote(url: url, tokenFile: URL(fileURLWithPath: file)))
    case (nil, nil):
      guard let remote = try Remote.known(to: container) else {
        throw UsageError("No server is known yet: name it once, with 'sync URL --token-file FILE'.")
      }
      return try Synchronizer(container: container, remote: remote)
    default: throw UsageError("A server's URL and --token-file go together.")
    }
  }
}
