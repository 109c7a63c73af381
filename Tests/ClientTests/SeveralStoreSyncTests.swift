import SwiftData
import Testing
import Tombolo
import TomboloClient
import TomboloProtocol

@Model final class Diary {
  var text: String = ""
  init(text: String) { self.text = text }
}

enum HouseholdV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Book.self, Label.self, Diary.self] }
}

@Suite("Sync of a container with several stores")
struct SeveralStoreSyncTests {
  @Test("Each store has a synchronizer of its own, named by its configuration")
  func named() throws {
    let hub = try ServiceHub()
    func url(_ name: String) -> URL { URL(fileURLWithPath: hub.folder + "/\(name).store") }
    let container = try ModelContainer(
      for: Schema(versionedSchema: HouseholdV1.self),
      configurations: [
        ModelConfiguration("shared", schema: Schema([Book.self]), url: url("shared")),
        ModelConfiguration("own", url: url("own")),
      ])
    let unnamed = #expect(throws: TomboloError.self) { try Synchronizer(container: container, remote: hub.remote()) }
    #expect(unnamed?.code == .ambiguous && unnamed?.remedy.contains("shared") == true)
    let unknown = #expect(throws: TomboloError.self) {
      try Synchronizer(container: container, remote: hub.remote(), configuration: "other")
    }
    #expect(unknown?.code == .modelNotInSchema)
    _ = try Synchronizer(container: container, remote: hub.remote(), configuration: "shared")
    #expect(try container.store(of: "shared").replicaState()?.remoteURL == ServiceHub.url)
    #expect(try container.store(of: "own").replicaState() == nil)
    #expect(throws: TomboloError.self) { try Remote.known(to: container) }
    #expect(try Remote.known(to: container, configuration: "own") == nil)
  }
}
