import Foundation
import Testing
import TomboloClient
import TomboloCommand
import TomboloProtocol
import TomboloServer

@Suite("Commands when something went wrong with a server or a file")
struct RecoveryCommandTests {
  typealias Setting = SyncCommandTests.Setting

  @Test("After a restore sync stops and names both ways on; each of them works", arguments: ["--reupload", "--reset"])
  func restoredServer(way: String) throws {
    let setting = try Setting()
    try setting.server.service.beginEpoch(store: "library")
    let later = try setting.fixture.add(setting.store, "Book", "title=Later")
    let stopped = setting.run("sync", setting.store)
    #expect(stopped.status == 1)
    #expect(stopped.errors.contains("other_epoch"))
    #expect(stopped.errors.contains("--reupload") && stopped.errors.contains("--reset"))
    let done = setting.run("sync", setting.store, way, "--json")
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.output.contains("\"checksum\":\"equal\""))
    #expect(done.output.contains("\"uploaded\":0") == (way == "--reset"))
    #expect(setting.run("get", try setting.clone(), "Book", later, "--json").output.contains("Later"))
    #expect(setting.run("verify", setting.store).status == 0)
  }

  @Test("Both ways at once are wrong usage")
  func twoWays() throws {
    let setting = try Setting()
    #expect(setting.run("sync", setting.store, "--reupload", "--reset").status == 64)
  }

  @Test("A server that lost nothing needs no upload")
  func needless() throws {
    let setting = try Setting()
    let refused = setting.run("sync", setting.store, "--reupload")
    #expect(refused.status == 1 && refused.errors.contains("reupload_needless"))
    #expect(setting.run("sync", setting.store).status == 0)
  }

  @Test("93, C61: a file copied with cp and used in two places: both send what they wrote, once")
  func copiedFile() throws {
    let setting = try Setting()
    _ = try setting.fixture.add(setting.store, "Book", "title=Before the copy")
    let copy = setting.fixture.path("copy.store")
    try FileManager.default.copyItem(atPath: setting.store, toPath: copy)
    for (index, store) in [setting.store, copy].enumerated() {
      _ = try setting.fixture.add(store, "Book", "title=Written in \(index)")
    }
    for store in [setting.store, copy, setting.store, copy, setting.store] {
      let synced = setting.run("sync", store)
      #expect(synced.status == 0, "\(synced.errors)")
    }
    for store in [setting.store, copy, try setting.clone()] {
      let titles = setting.run("list", store, "Book", "--json").output
      for title in ["Before the copy", "Written in 0", "Written in 1"] {
        #expect(titles.components(separatedBy: title).count == 2, "\(title) in \(store)")
      }
      #expect(setting.run("verify", store).status == 0)
    }
  }

  @Test("C103: a token that was revoked between pushes loses nothing; a new one in its file goes on")
  func revokedToken() throws {
    let setting = try Setting()
    _ = try setting.fixture.add(setting.store, "Book", "title=Unsent")
    let good = try setting.fixture.read("owner.token")
    _ = try setting.fixture.write("tmb_nobody\n", to: "owner.token")
    let refused = setting.run("sync", setting.store)
    #expect(refused.status == 1 && refused.errors.contains("unauthorized"))
    #expect(setting.run("status", setting.store, "--json").output.contains("\"unsent\":1"))
    _ = try setting.fixture.write(good, to: "owner.token")
    #expect(setting.run("sync", setting.store).output.contains("sent 1 save"))
  }

  @Test("C103: another store is refused while something is unsent, and until somebody says what is right")
  func otherStore() throws {
    let setting = try Setting()
    let unsent = try setting.fixture.add(setting.store, "Book", "title=Unsent")
    let other = try ServiceTransport(directory: setting.fixture.path("other"))
    let token = try other.token(in: setting.fixture)
    let url = "http://elsewhere:1/v1/stores/library2"
    let refused = setting.run("remote", "add", setting.store, url, "--token-file", token)
    #expect(refused.status == 1 && refused.errors.contains("remote_exists") && refused.errors.contains("--switch"))
    #expect(
      setting.fixture.run("remote", "add", setting.store, setting.server.url, "--switch", "--token-file", token).status
        == 0)
    // The same name on another server: another store, by its epoch.
    let stopped = setting.fixture.run("sync", setting.store, transport: other)
    #expect(stopped.status == 1 && stopped.errors.contains("other_epoch"), "\(stopped.errors)")
    let taken = setting.fixture.run("sync", setting.store, "--reset", transport: other)
    #expect(taken.status == 0, "\(taken.errors)")
    // What is unsent is kept, although what it hung on is not in the other store.
    #expect(setting.run("get", setting.store, "Book", unsent, "--json").output.contains("Unsent"))
    #expect(setting.run("get", setting.store, "Book", setting.book).status == 1)
  }

  // MARK: One sync at a time

  @Test("A store that another process syncs is left alone; a lock whose holder is gone blocks nobody")
  func lease() throws {
    let setting = try Setting()
    let path = setting.store + "-sync"
    // A crashed holder leaves the file.
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    #expect(setting.run("sync", setting.store).status == 0)
    #expect(!setting.fixture.exists("library.store-sync"))

    let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    let busy = setting.run("sync", setting.store)
    #expect(busy.status == 1 && busy.errors.contains("sync_under_way"), "\(busy.errors)")
    #expect(busy.errors.contains("--wait"))
    // Reading and writing go on meanwhile.
    #expect(setting.run("add", setting.store, "Book", "title=Meanwhile").status == 0)

    let waiting = Guarded<CommandFixture.Result?>(nil)
    let thread = Thread { waiting.withLock { $0 = setting.run("sync", setting.store, "--wait") } }
    thread.start()
    close(descriptor)
    let synced = waitFor { waiting.withLock { $0 } }
    #expect(synced?.status == 0, "\(synced?.errors ?? "it still waits")")
    #expect(synced?.output.contains("sent 1 save") ?? false)
  }

  private func waitFor<Result>(_ body: () -> Result?) -> Result? {
    let deadline = Date(timeIntervalSinceNow: 30)
    while Date() < deadline {
      if let result = body() { return result }
      sched_yield()
    }
    return nil
  }
}
