import SwiftData
import Testing
import Tombolo
import TomboloClient
import TomboloProtocol
import TomboloSQLite

@Model final class Book {
  @Attribute(.unique, .preserveValueOnDeletion) var title: String
  var pages: Int?
  @Attribute(.externalStorage) var cover: Data?
  @Relationship(inverse: \Label.books) var labels: [Label] = []
  init(title: String) { self.title = title }
}

@Model final class Label {
  var name: String
  var books: [Book] = []
  init(name: String) { self.name = name }
}

enum BooksV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Book.self, Label.self] }
}

/// Two containers on stores that sync with one server.
private final class TwoContainers {
  let hub: ServiceHub
  let clock = ReplicaPair.Clock()
  let here: ModelContainer
  let there: ModelContainer

  init() throws {
    let hub = try ServiceHub()
    let clock = clock
    let schema = Schema(versionedSchema: BooksV1.self)
    func container(_ name: String) throws -> ModelContainer {
      let store = try Store(
        .file(path: hub.folder + "/\(name).store"), document: schema.document,
        options: Store.Options(clock: clock, randomness: SystemRandomness()))
      try store.setRemote(ServiceHub.url, tokenFile: nil)
      return ModelContainer(schema, on: store)
    }
    self.hub = hub
    here = try container("here")
    there = try container("there")
  }

  func sync(_ container: ModelContainer) throws {
    var engine = try SyncEngine(
      store: container.store, token: hub.token, randomness: SystemRandomness(), options: SyncEngine.Options())
    let line = ServiceHub.Line(hub)
    var instruction = try engine.handle(.start)
    for _ in 0..<200 {
      switch instruction {
      case .finished: return
      case .wait: instruction = try engine.handle(.timer)
      case .send(let request): instruction = try engine.handle(.response(try line.perform(request)))
      }
    }
    throw TomboloError(.syncStalled, "The sync does not end.")
  }

  func exchange() throws {
    for container in [here, there, here] { try sync(container) }
  }
}

@Suite("What a sync brings: history, observation, large values")
struct PulledHistoryTests {
  private typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>

  private func words(_ transaction: DefaultHistoryTransaction) -> [String] {
    transaction.changes.map { change in
      switch change {
      case .insert: "insert \(change.changedPersistentIdentifier.entityName)"
      case .delete: "delete \(change.changedPersistentIdentifier.entityName)"
      case .update(let update):
        if let update = update as? DefaultHistoryUpdate<Book> {
          "update Book \(update.updatedAttributes == [\Book.pages] ? "pages" : update.updatedAttributes == [\Book.labels] ? "labels" : "?")"
        } else {
          "update \(change.changedPersistentIdentifier.entityName)"
        }
      }
    }.sorted()
  }

  @Test("History has what a sync brought: inserts, updates with their attributes, pairs, and tombstones")
  func history() throws {
    let two = try TwoContainers()
    let (mine, theirs) = (ModelContext(two.here), ModelContext(two.there))
    let (book, label) = (Book(title: "Emma"), Label(name: "old"))
    theirs.insert(book)
    theirs.insert(label)
    try theirs.save()
    try two.sync(two.there)
    mine.insert(Book(title: "Dune"))
    try mine.save()
    try two.exchange()
    func pulled() throws -> [DefaultHistoryTransaction] {
      let author = "sync"
      return try mine.fetchHistory(Descriptor(predicate: #Predicate { $0.author == author }))
    }
    #expect(try pulled().map(words) == [["insert Book", "insert Label"]])
    let all = try mine.fetchHistory(Descriptor())
    #expect(all.map(\.author) == [nil, "sync"] && all[1].bundleIdentifier == "tombolo.sync")
    #expect(all[0].token < all[1].token && all[1].timestamp >= all[0].timestamp)
    let token = all[1].token

    book.pages = 400
    try theirs.save()
    book.labels = [label]
    try theirs.save()
    try two.exchange()
    let newer = try mine.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token }))
    #expect(newer.flatMap(words).contains("update Book ?") || newer.flatMap(words).contains("update Book pages"))
    let update = try #require(
      newer.flatMap(\.changes).compactMap { change -> DefaultHistoryUpdate<Book>? in
        guard case .update(let update) = change else { return nil }
        return update as? DefaultHistoryUpdate<Book>
      }.first)
    #expect(Set(update.updatedAttributes) == [\Book.pages, \Book.labels])

    theirs.delete(book)
    try theirs.save()
    try two.exchange()
    let deletion = try #require(
      try pulled().last?.changes.compactMap { change -> DefaultHistoryDelete<Book>? in
        guard case .delete(let delete) = change else { return nil }
        return delete as? DefaultHistoryDelete<Book>
      }.first)
    #expect(deletion.tombstone[\.title] as? String == "Emma" && deletion.tombstone[\.pages] == nil)
    // What this replica sent itself does not come back as news.
    #expect(try mine.fetchHistory(Descriptor()).filter { $0.author == nil }.count == 1)
    #expect(
      try ModelContext(two.there).fetchHistory(Descriptor()).filter { $0.author == "sync" }.map(words) == [
        ["insert Book"]
      ])
  }

  @Test("What syncs brought is deleted by deleteHistory, and forgotten after 90 days; older tokens have expired then")
  func expiry() throws {
    let two = try TwoContainers()
    let (mine, theirs) = (ModelContext(two.here), ModelContext(two.there))
    for number in 0..<3 {
      theirs.insert(Book(title: "\(number)"))
      try theirs.save()
      try two.sync(two.there)
      try two.sync(two.here)
    }
    let all = try mine.fetchHistory(Descriptor())
    #expect(all.count == 3 && Set(all.map(\.id)).count == 3)
    let (first, second) = (all[0].token, all[1].token)
    try mine.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= second }))
    #expect(try mine.fetchHistory(Descriptor()) == [all[2]])
    #expect(throws: TomboloError.self) {
      try mine.fetchHistory(Descriptor(predicate: #Predicate { $0.token > first }))
    }
    let third = all[2].token
    two.clock.advance(by: 91 * 24 * 3_600 * 1_000)
    theirs.insert(Book(title: "late"))
    try theirs.save()
    try two.sync(two.there)
    try two.sync(two.here)
    let rest = try mine.fetchHistory(Descriptor())
    #expect(rest.count == 1 && rest.first?.changes.count == 1)
    #expect(try mine.fetchHistory(Descriptor(predicate: #Predicate { $0.token > third })) == rest)
    let error = #expect(throws: TomboloError.self) {
      try mine.fetchHistory(Descriptor(predicate: #Predicate { $0.token > second }))
    }
    #expect(error?.code == .historyTokenExpired)
  }

  @Test("A sync that changes an object fires its observers; one that deletes it makes it a deleted object")
  func observation() throws {
    let two = try TwoContainers()
    let (mine, theirs) = (ModelContext(two.here), ModelContext(two.there))
    let book = Book(title: "Emma")
    theirs.insert(book)
    try theirs.save()
    try two.exchange()
    try two.sync(two.there)
    let seen = try #require(try mine.fetch(FetchDescriptor<Book>()).first)
    let calls = Guarded(0)
    withObservationTracking {
      _ = seen.pages
    } onChange: {
      calls.withLock { $0 += 1 }
    }
    book.pages = 7
    try theirs.save()
    try two.sync(two.there)
    try two.sync(two.here)
    mine.processPendingChanges()
    #expect(calls.withLock { $0 } == 1 && seen.pages == 7)
    theirs.delete(book)
    try theirs.save()
    try two.sync(two.there)
    try two.sync(two.here)
    #expect(seen.isDeleted && seen.title == "Emma")
  }

  @Test("A sync posts a remote change with the identities of what it inserted, updated and deleted, and nothing else")
  func notifications() throws {
    let two = try TwoContainers()
    let (mine, theirs) = (ModelContext(two.here), ModelContext(two.there))
    typealias Key = ModelContext.NotificationKey
    let posted = Guarded<[[String: Set<PersistentIdentifier>]]>([])
    let titles = Guarded<[[String]]>([])
    let here = two.here
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: here, queue: nil
    ) { note in
      let keys = [Key.insertedIdentifiers, .updatedIdentifiers, .deletedIdentifiers].map(\.rawValue)
      let lists = keys.map { key in (key, Set(note.userInfo?[key] as? [PersistentIdentifier] ?? [])) }
      let isFile = (note.userInfo?[NSPersistentStoreURLKey] as? URL)?.lastPathComponent == "here.store"
      posted.withLock { $0.append(Dictionary(uniqueKeysWithValues: isFile ? lists.filter { !$0.1.isEmpty } : [])) }
      let found = (try? ModelContext(here).fetch(FetchDescriptor<Book>())) ?? []
      titles.withLock { $0.append(found.map(\.title).sorted()) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }

    let own = Book(title: "Dune")
    mine.insert(own)
    try mine.save()
    try two.exchange()
    #expect(posted.withLock { $0 } == [])
    let (kept, doomed) = (Book(title: "Emma"), Book(title: "Ulysses"))
    theirs.insert(kept)
    theirs.insert(doomed)
    try theirs.save()
    try two.exchange()
    #expect(
      posted.withLock { $0 } == [
        [Key.insertedIdentifiers.rawValue: [kept.persistentModelID, doomed.persistentModelID]]
      ])
    #expect(titles.withLock { $0 } == [["Dune", "Emma", "Ulysses"]])
    posted.withLock { $0 = [] }
    kept.pages = 3
    theirs.delete(doomed)
    try theirs.save()
    let gone = doomed.persistentModelID
    try two.exchange()
    #expect(
      posted.withLock { $0 } == [
        [Key.updatedIdentifiers.rawValue: [kept.persistentModelID], Key.deletedIdentifiers.rawValue: [gone]]
      ])
  }

  @Test("In the main context, Observations give each value that a sync brings")
  @MainActor func observations() async throws {
    let two = try TwoContainers()
    let theirs = ModelContext(two.there)
    let book = Book(title: "Emma")
    theirs.insert(book)
    try theirs.save()
    try two.exchange()
    try two.sync(two.there)
    let seen = try #require(try two.here.mainContext.fetch(FetchDescriptor<Book>()).first)
    var pages: [Int?] = []
    for await value in Observations({ seen.pages }) {
      pages.append(value)
      if pages.count == 3 { break }
      book.pages = pages.count
      try theirs.save()
      try two.sync(two.there)
      try two.sync(two.here)
    }
    #expect(pages == [nil, 1, 2])
  }

  @Test("What was done and undone before it was sent stays in the history, and goes with it")
  func undoneBeforeSending() throws {
    let two = try TwoContainers()
    let (mine, theirs) = (ModelContext(two.here), ModelContext(two.there))
    let (kept, gone, label) = (Book(title: "Emma"), Book(title: "Dune"), Label(name: "new"))
    mine.insert(kept)
    mine.insert(label)
    try mine.save()
    try two.exchange()
    mine.insert(gone)
    try mine.save()
    kept.pages = 9
    kept.labels = [label]
    try mine.save()
    kept.pages = nil
    kept.labels = []
    mine.delete(gone)
    try mine.save()
    func told() throws -> [DefaultHistoryTransaction] {
      try mine.fetchHistory(Descriptor()).filter { $0.author == nil }
    }
    let before = try told()
    let expected = [
      ["insert Book", "insert Label"], ["insert Book"], ["update Book ?"], ["delete Book", "update Book ?"],
    ]
    #expect(before.map(words) == expected)
    try two.exchange()
    let after = try told()
    #expect(after == before && after.map(words) == expected)
    #expect(after.map(\.token) == before.map(\.token))
    let tombstones = after[3].changes.compactMap { change -> String? in
      guard case .delete(let delete as DefaultHistoryDelete<Book>) = change else { return nil }
      return delete.tombstone[\.title] as? String
    }
    #expect(tombstones == ["Dune"])
    // Nothing of it travels.
    #expect(try theirs.fetchHistory(Descriptor()).map(words) == [["insert Book", "insert Label"]])
    theirs.insert(Book(title: "more"))
    try theirs.save()
    kept.pages = 2
    try mine.save()
    try two.exchange()
    let last = after[3].token
    try mine.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= last }))
    #expect(try told().map(words) == [["update Book pages"]])
    let left = try two.here.store.read {
      try $0.firstRow("SELECT count(*) FROM _tombolo_cancelled") { $0.int64(0) }
    }
    #expect(left == 0)
  }

  @Test(
    "A large value travels, lies outside of its row on the other side, and is refused where the server takes no such record"
  )
  func externalValues() throws {
    let two = try TwoContainers()
    let (mine, theirs) = (ModelContext(two.here), ModelContext(two.there))
    let cover = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    let book = Book(title: "Emma")
    book.cover = cover
    theirs.insert(book)
    try theirs.save()
    try two.exchange()
    let seen = try #require(try mine.fetch(FetchDescriptor<Book>()).first)
    #expect(seen.cover == cover)
    let outside = try two.here.store.read {
      try $0.firstRow("SELECT length(body) FROM _tombolo_external") { $0.int64(0) }
    }
    #expect(outside == 300_000)
    #expect(try two.here.store.checksum() == two.there.store.checksum())
    seen.pages = 3
    try mine.save()
    seen.cover = cover.prefix(150_000)
    try mine.save()
    try two.exchange()
    try two.sync(two.there)
    #expect(book.cover == cover.prefix(150_000) && book.pages == 3)
    #expect(try two.here.store.checksum() == two.there.store.checksum())
    seen.cover = Data(count: 2 << 20)
    let error = #expect(throws: TomboloError.self) { try mine.save() }
    #expect(error?.code == .recordTooLarge && error?.message.contains("cover") == true)
    mine.rollback()
    mine.delete(seen)
    try mine.save()
    try two.exchange()
    try two.sync(two.there)
    #expect(book.isDeleted)
    let left = try two.there.store.read {
      try $0.firstRow("SELECT count(*) FROM _tombolo_external") { $0.int64(0) }
    }
    #expect(left == 0)
  }
}
