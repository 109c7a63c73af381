import Testing
import Tombolo
import TomboloClient
import TomboloCommand
import TomboloProtocol

@Suite("The command explain")
struct ExplainTests {
  typealias Setting = SyncCommandTests.Setting

  @Test("A record that is here is shown with whence and when each value came")
  func here() throws {
    let setting = try Setting()
    let told = setting.run("explain", setting.store, "Book", setting.book)
    #expect(told.status == 0, "\(told.errors)")
    #expect(told.lines.first == "Book “Dune” \(setting.book)")
    #expect(told.output.contains("It is here, created "))
    #expect(told.output.contains("here, in save "))
    #expect(told.output.contains("lent") && told.output.contains("nobody assigned it"))
    let clone = try setting.clone()
    let there = setting.run("explain", clone, "Book", String(setting.book.prefix(20)))
    #expect(there.output.contains("by replica "), "\(there.output)")
  }

  @Test("A value that is not sent is shown with the confirmed one beneath it")
  func pending() throws {
    let setting = try Setting()
    #expect(setting.run("set", setting.store, "Book", setting.book, "title=Emma").status == 0)
    let told = setting.run("explain", setting.store, "Book", setting.book).output
    #expect(told.contains("writes title; the save is not sent so far"), "\(told)")
    #expect(told.contains("confirmed is “Dune”"), "\(told)")
    let json = setting.run("explain", setting.store, "Book", setting.book, "--json").output
    #expect(json.contains("\"fate\":\"here\"") && json.contains("\"state\":\"pending\""), "\(json)")
  }

  @Test("A record that went with another is told with the other's deletion, and by whom it was made")
  func deleted() throws {
    let setting = try Setting()
    let clone = try setting.clone()
    #expect(setting.run("delete", clone, "Shelf", setting.shelf).status == 0)
    let own = setting.run("explain", clone, "Book", setting.book)
    #expect(own.status == 1)
    #expect(
      own.output.contains("with \(setting.shelf), by a delete rule; the save is not sent so far"), "\(own.output)")
    for store in [clone, setting.store] { #expect(setting.run("sync", store).status == 0) }
    let book = setting.run("explain", setting.store, "Book", setting.book)
    #expect(book.output.contains("It went, by a delete rule, with \(setting.shelf)"), "\(book.output)")
    #expect(book.output.contains("by replica "))
    let shelf = setting.run("explain", setting.store, "Shelf", setting.shelf, "--json")
    #expect(shelf.status == 1)
    #expect(shelf.output.contains("\"fate\":\"deleted\"") && shelf.output.contains("\"root\":\"\(setting.shelf)\""))
  }

  @Test("A record that was merged away is explained by the one that stands for it")
  func merged() throws {
    let setting = try Setting()
    let clone = try setting.clone()
    let first = try setting.fixture.add(setting.store, "Shelf", "code=B2")
    let second = try setting.fixture.add(clone, "Shelf", "code=B2")
    for store in [setting.store, clone, setting.store] { #expect(setting.run("sync", store).status == 0) }
    let (standing, gone) = first < second ? (first, second) : (second, first)
    let told = [gone, standing].map { setting.run("explain", setting.store, "Shelf", $0) }
    #expect(told[0].status == 0 && told[1].status == 0)
    let texts = told.map(\.output)
    #expect(texts.contains { $0.contains("It was merged into ") }, "\(texts)")
    #expect(texts.contains { $0.contains("was merged into it") }, "\(texts)")
  }

  @Test("What was overridden is told with the rule")
  func overridden() throws {
    let setting = try Setting()
    let clone = try setting.clone()
    #expect(setting.run("set", setting.store, "Book", setting.book, "title=Dune I").status == 0)
    #expect(setting.run("set", clone, "Book", setting.book, "title=Dune II").status == 0)
    for store in [setting.store, clone, setting.store] { #expect(setting.run("sync", store).status == 0) }
    let told = setting.run("explain", setting.store, "Book", setting.book).output
    #expect(told.contains("Overridden: Your title “Dune I”") && told.contains("[later_edit]"), "\(told)")
  }

  @Test("A reference that is empty because its target was deleted is a consequence, not somebody's edit")
  func consequence() throws {
    let setting = try Setting()
    let sequel = try setting.fixture.add(setting.store, "Book", "title=Messiah", "prequel=\(setting.book)")
    #expect(setting.run("sync", setting.store).status == 0)
    let clone = try setting.clone()
    #expect(setting.run("delete", clone, "Book", setting.book).status == 0)
    for store in [clone, setting.store] { #expect(setting.run("sync", store).status == 0) }
    let told = setting.run("explain", setting.store, "Book", sequel, "--json").output
    #expect(told.contains("\"state\":\"derived\"") || told.contains("\"state\":\"hidden\""), "\(told)")
  }

  @Test("The server is asked only with --server, and what it has is compared")
  func server() throws {
    let setting = try Setting()
    let clone = try setting.clone()
    let count = setting.server.requests.count
    #expect(setting.run("explain", setting.store, "Book", setting.book).status == 0)
    #expect(setting.server.requests.count == count)
    let same = setting.run("explain", setting.store, "Book", setting.book, "--server").output
    #expect(same.contains("The server has it with the same values."), "\(same)")
    #expect(setting.run("set", clone, "Book", setting.book, "title=Emma").status == 0)
    let fresh = try setting.fixture.add(clone, "Book", "title=Sense")
    #expect(setting.run("sync", clone).status == 0)
    let other = setting.run("explain", setting.store, "Book", setting.book, "--server").output
    #expect(other.contains("The server has other values of title"), "\(other)")
    let unknown = setting.run("explain", setting.store, "Book", fresh, "--server")
    #expect(unknown.status == 1)
    #expect(unknown.output.contains("this replica has not received it"), "\(unknown.output)")
    let offline = setting.fixture.run(
      ["explain", setting.store, "Book", setting.book, "--server"], transport: DeadTransport())
    #expect(offline.status == 0)
    #expect(offline.output.contains("The server could not be asked"), "\(offline.output)")
  }

  @Test("What nobody has heard of, what is something else, and what is no identifier are told apart")
  func unknown() throws {
    let setting = try Setting()
    let nobody = "00000000-0000-7000-8000-000000000001"
    let unknown = setting.run("explain", setting.store, "Book", nobody)
    #expect(unknown.status == 1)
    #expect(unknown.output.contains("never heard of it"))
    #expect(setting.run("explain", setting.store, "Book", "000000").errors.contains("error[unknown_record]"))
    #expect(setting.run("explain", setting.store, "Book", "wrong").errors.contains("error[unknown_record]"))
    let shelf = setting.run("explain", setting.store, "Book", setting.shelf)
    #expect(shelf.output.contains("It is a Shelf, not a Book."), "\(shelf.output)")
    #expect(setting.run("explain", setting.store, "Bok", nobody).errors.contains("did you mean Book?"))
  }
}

/// A network on which nobody answers.
struct DeadTransport: Transport {
  func perform(_ request: TransportRequest) throws -> TransportResponse {
    throw TransportFailure(.unreachable, reason: "nobody is there")
  }
}
