import TomboloSimulation
import TomboloProtocol
import Foundation
import Testing

@Suite("End to end, with real processes", .serialized, .timeLimit(.minutes(5)))
struct FaultTests {
  /// A server with a store, and replica A with the airports imported.
  private static func island() throws -> (sandbox: Sandbox, token: String) {
    let sandbox = try Sandbox()
    let token = try Daemon.token(in: sandbox, store: "airports")
    try sandbox.tombolo("init", "a.store", "--schema", Sandbox.data("airports.schema.json"))
    try sandbox.tombolo(
      "import", "a.store", Sandbox.data("airports.csv"), "--entity", "State", "--key", "code", "--map", "code=state")
    try sandbox.tombolo(
      "import", "a.store", Sandbox.data("airports.csv"), "--entity", "Airport", "--key", "iata", "--link",
      "state=state:State.code")
    return (sandbox, token)
  }

  private static func url(_ port: UInt16) -> String { "http://127.0.0.1:\(port)/v1/stores/airports" }

  @Test("The answer to a push is lost and the daemon is killed: everything arrives once")
  func lostAnswerAndKilledDaemon() throws {
    let (sandbox, token) = try Self.island()
    var daemon = try Daemon(in: sandbox)
    let swallowed = Guarded(0)
    let proxy = try Proxy(
      upstream: daemon.port,
      decide: { line in
        guard line.hasPrefix("POST "), line.contains("/changes ") else { return .pass }
        return swallowed.withLock { $0 == 0 } ? .swallowAnswer : .hold
      },
      done: { _, action in if action == .swallowAnswer { swallowed.withLock { $0 += 1 } } })
    defer { proxy.close() }
    try sandbox.tombolo("remote", "add", "a.store", Self.url(proxy.port), "--token-file", token)
    // The client tries again by itself and then hangs in the proxy: it is killed as well.
    let client = try sandbox.start("tombolo", ["sync", "a.store"])
    while swallowed.withLock({ $0 }) == 0, client.isRunning { usleep(1000) }
    #expect(swallowed.withLock { $0 } == 1, "no push came through the proxy")
    daemon.kill()
    kill(client.processIdentifier, SIGKILL)
    client.waitUntilExit()

    daemon = try Daemon(in: sandbox)
    let direct = try Proxy(upstream: daemon.port, decide: { _ in .pass })
    defer { direct.close() }
    proxy.close()
    try sandbox.tombolo("remote", "add", "a.store", Self.url(daemon.port), "--token-file", token)
    try sandbox.tombolo("sync", "a.store")
    try sandbox.tombolo("clone", Self.url(daemon.port), "b.store", "--token-file", token)
    #expect(try sandbox.count("b.store", "Airport") == 3376)
    #expect(try sandbox.count("b.store", "State") == sandbox.count("a.store", "State"))
    let sums = try (sandbox.object("verify", "a.store", "--json"), sandbox.object("verify", "b.store", "--json"))
    #expect(sums.0["local"] as? String == sums.1["local"] as? String)
    #expect(sums.0["local"] as? String == sums.0["server"] as? String)
    #expect(daemon.stop() == 0)
  }

  @Test("A client is killed between two pages: nothing half is shown, and the pull goes on")
  func clientKilledBetweenPages() throws {
    let (sandbox, token) = try Self.island()
    let daemon = try Daemon(in: sandbox, options: ["--page-records", "500"])
    try sandbox.tombolo("remote", "add", "a.store", Self.url(daemon.port), "--token-file", token)
    try sandbox.tombolo("sync", "a.store")
    try sandbox.tombolo("init", "b.store", "--schema", Sandbox.data("airports.schema.json"))

    let pages = Guarded(0)
    let held = Guarded(false)
    let isOpen = Guarded(false)
    let proxy = try Proxy(
      upstream: daemon.port,
      decide: { line in
        guard line.hasPrefix("GET "), line.contains("/changes?") else { return .pass }
        let page = pages.withLock {
          $0 += 1
          return $0
        }
        return page >= 2 && !isOpen.withLock({ $0 }) ? .hold : .pass
      },
      done: { _, action in if action == .hold { held.withLock { $0 = true } } })
    defer { proxy.close() }
    try sandbox.tombolo("remote", "add", "b.store", Self.url(proxy.port), "--token-file", token)
    let client = try sandbox.start("tombolo", ["sync", "b.store"])
    while !held.withLock({ $0 }), client.isRunning { usleep(1000) }
    #expect(held.withLock { $0 }, "the pull had a single page")
    kill(client.processIdentifier, SIGKILL)
    client.waitUntilExit()
    #expect(try sandbox.count("b.store", "Airport") == 0, "pages of an unfinished pull are shown")

    let before = pages.withLock { $0 }
    isOpen.withLock { $0 = true }
    try sandbox.tombolo("sync", "b.store")
    #expect(try sandbox.count("b.store", "Airport") == 3376)
    #expect(pages.withLock { $0 } - before <= 2, "the pull began again instead of going on")
    let sums = try sandbox.object("verify", "b.store", "--json")
    #expect(sums["local"] as? String == sums["server"] as? String)
    #expect(daemon.stop() == 0)
  }

  @Test("The daemon stops cleanly while a watcher waits")
  func stopsWithAWatcher() throws {
    let (sandbox, token) = try Self.island()
    let daemon = try Daemon(in: sandbox)
    let waiting = Guarded(false)
    let proxy = try Proxy(
      upstream: daemon.port,
      decide: { line in
        if line.contains("wait="), !line.contains("wait=0") { waiting.withLock { $0 = true } }
        return .pass
      })
    defer { proxy.close() }
    try sandbox.tombolo("remote", "add", "a.store", Self.url(proxy.port), "--token-file", token)
    let watcher = try sandbox.start("tombolo", ["sync", "a.store", "--watch"])
    while !waiting.withLock({ $0 }), watcher.isRunning { usleep(1000) }
    #expect(watcher.isRunning, "the watcher ended by itself")
    #expect(daemon.stop() == 0)
    watcher.interrupt()
    watcher.waitUntilExit()
    #expect(watcher.terminationReason == .exit)
  }

  @Test("The replica is a plain SQLite file that the sqlite3 shell reads and writes, and its writes are synced")
  func shell() throws {
    let (sandbox, token) = try Self.island()
    let daemon = try Daemon(in: sandbox)
    let store = sandbox.path("a.store")
    let read = try sandbox.run("/usr/bin/sqlite3", [store, "select name, city from Airport where iata = 'JFK'"])
    #expect(read.output == "John F Kennedy Intl|New York\n")
    try sandbox.tombolo("remote", "add", "a.store", Self.url(daemon.port), "--token-file", token)
    try sandbox.tombolo("sync", "a.store")
    let write = try sandbox.run(
      "/usr/bin/sqlite3",
      [
        store,
        "update Airport set city = 'Queens' where iata = 'JFK'; insert into Airport(iata, name) values ('ZZZ', 'Nowhere');"
          + "delete from Airport where iata = 'SEA';",
      ])
    #expect(write.status == 0, "\(write.errors)")
    try sandbox.tombolo("sync", "a.store")
    try sandbox.tombolo("clone", Self.url(daemon.port), "b.store", "--token-file", token)
    let cities = try sandbox.run(
      "/usr/bin/sqlite3",
      [
        sandbox.path("b.store"),
        "select iata, name, city from Airport where iata in ('JFK', 'ZZZ', 'SEA') order by iata",
      ])
    #expect(cities.output == "JFK|John F Kennedy Intl|Queens\nZZZ|Nowhere|\n")
    #expect(daemon.stop() == 0)
  }
}
