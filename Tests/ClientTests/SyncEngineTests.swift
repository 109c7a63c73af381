import Testing
import Tombolo
import TomboloClient
import TomboloProtocol

@Suite("Sync engine")
struct SyncEngineTests {
  @Test("An unversioned store is refused before any request is made, with the recipe of two releases")
  func unversioned() throws {
    let store = ScriptedStore(version: nil)
    let error = #expect(throws: TomboloError.self) {
      try SyncEngine(store: store, token: "secret", randomness: FixedRandomness())
    }
    #expect(error?.code == .storeUnversioned)
    #expect(error?.remedy.contains("two releases") == true)
  }

  @Test("A store without a remote is refused")
  func noRemote() throws {
    let error = #expect(throws: TomboloError.self) {
      try SyncEngine(store: ScriptedStore(hasRemote: false), token: "secret", randomness: FixedRandomness())
    }
    #expect(error?.code == .noRemote)
  }

  @Test("The first contact registers the schema before any data, creates the store where it is missing, pushes, pulls")
  func firstContact() throws {
    let store = ScriptedStore(epoch: nil)
    store.enqueue(ScriptedStore.changeSet(1))
    let exchange = try Exchange(store) { request, index in
      index == 0 ? Answer.error(.unknownStore, status: 404) : try Answer.usual(request)
    }
    #expect(
      exchange.paths == ["PUT /schemas/1.0.0", "PUT ", "PUT /schemas/1.0.0", "POST /changes", "GET /changes"])
    #expect(exchange.report?.pushed == 1)
    #expect(exchange.requests[0].body == store.document.canonicalJSON)
    #expect(exchange.requests.allSatisfy { $0.headers["authorization"] == "Bearer secret" })
  }

  @Test("A known server is not asked to register again, until it says that it does not know the version")
  func unknownSchema() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1))
    let exchange = try Exchange(store) { request, index in
      index == 0 ? Answer.error(.unknownSchema, status: 409) : try Answer.usual(request)
    }
    #expect(exchange.paths == ["POST /changes", "PUT /schemas/1.0.0", "POST /changes", "GET /changes"])
    #expect(exchange.report?.pushed == 1)
  }

  @Test("A schema that is refused ends the sync with every violation, and nothing is pushed")
  func schemaRefused() throws {
    let store = ScriptedStore(epoch: nil)
    store.enqueue(ScriptedStore.changeSet(1))
    let violations = [
      TomboloError.Detail(
        code: "attribute_removed", entity: "Book", property: "title", text: "It is gone.", fix: "Keep it."),
      TomboloError.Detail(code: "type_changed", entity: "Book", property: "stock", text: "It was int64."),
    ]
    let exchange = try Exchange(store) { _, _ in
      Answer.cbor(
        WireError(TomboloError(.schemaNotAdditive, "Two violations.", details: violations)), status: 409)
    }
    #expect(exchange.paths == ["PUT /schemas/1.0.0"])
    #expect(exchange.error?.code == .schemaNotAdditive)
    #expect(exchange.error?.details == violations)
    #expect(exchange.error?.remedy.isEmpty == false)
    #expect(store.now.queue.count == 1)
  }

  @Test("Saves are marked as attempted before their request leaves")
  func attemptedFirst() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1), ScriptedStore.changeSet(2))
    _ = try Exchange(store) { request, _ in
      if request.method == "POST" { #expect(store.now.attempted == SaveNumber(2)) }
      return try Answer.usual(request)
    }
  }

  @Test("After a lost answer the same saves are sent again under their ids, and 'known' settles them")
  func lostAnswer() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1))
    let exchange = try Exchange(store) { request, index in
      switch index {
      case 0: .transportFailed(TransportFailure(.lost, reason: "cut"))
      case 1:
        try Answer.push(
          request, verdict: .known(stamp: Stamp(clock: ClockReading(milliseconds: 1), replica: ReplicaID(10))))
      default: Answer.page()
      }
    }
    let ids = try exchange.requests.prefix(2).map {
      try PushRequest(decoding: $0.body, as: .cbor).changeSets.map(\.id)
    }
    #expect(ids.count == 2 && ids[0] == ids[1])
    #expect(exchange.report?.pushed == 1)
    #expect(exchange.report?.retries == 1)
  }

  @Test("A sync ends though others save faster than it sends; the rest is for the next one")
  func endlessSaves() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1))
    let exchange = try Exchange(store) { request, index in
      let answer = try Answer.usual(request)
      if index < 1_000, request.method == "POST" { store.enqueue(ScriptedStore.changeSet(UInt64(index) + 2)) }
      return answer
    }
    #expect(exchange.error == nil)
    #expect(exchange.requests.count < 40)
    #expect(store.now.queue.count == 1)
    #expect(exchange.paths.last == "GET /changes")
  }

  @Test("A save made while a push is under way travels with the next one")
  func editDuringPush() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1))
    let exchange = try Exchange(store) { request, index in
      let answer = try Answer.usual(request)
      if index == 0 { store.enqueue(ScriptedStore.changeSet(2)) }
      return answer
    }
    #expect(exchange.paths == ["POST /changes", "POST /changes", "GET /changes"])
    #expect(exchange.report?.pushed == 2)
  }

  @Test("A save made while a pull is under way is pushed before the sync ends")
  func editDuringPull() throws {
    let store = ScriptedStore()
    let exchange = try Exchange(store) { request, index in
      if index == 0 { store.enqueue(ScriptedStore.changeSet(1)) }
      return try Answer.usual(request)
    }
    #expect(exchange.paths == ["GET /changes", "POST /changes", "GET /changes"])
    #expect(exchange.report?.pushed == 1)
  }

  @Test("Pages are pulled until the last one, each after the cursor of the one before")
  func pages() throws {
    let store = ScriptedStore()
    let exchange = try Exchange(store) { _, index in Answer.page(UInt64(index) + 1, hasMore: index < 2) }
    #expect(exchange.requests.count == 3)
    #expect(!exchange.requests[0].url.contains("since="))
    #expect(exchange.requests[1].url.contains("since="))
    #expect(exchange.requests[1].url != exchange.requests[2].url)
    #expect(exchange.report?.checksum == .equal)
  }

  @Test("The replica introduces itself with every pull")
  func introduction() throws {
    let store = ScriptedStore()
    let exchange = try Exchange(store) { request, _ in try Answer.usual(request) }
    let introduction = try Introduction(headers: exchange.requests[0].headers)
    #expect(introduction.replica == ReplicaID(0xA))
    #expect(introduction.schemaVersion == SchemaVersion(1, 0, 0))
    #expect(introduction.epoch == Epoch(7))
  }

  @Test("Restamped saves are pushed again; a server that refuses every clock ends the sync as stalled")
  func clockSkew() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1))
    let mended = try Exchange(store) { request, index in
      index == 0 ? try Answer.push(request, verdict: .clockSkew) : try Answer.usual(request)
    }
    #expect(mended.report?.pushed == 1)
    store.enqueue(ScriptedStore.changeSet(2))
    let hopeless = try Exchange(store) { request, _ in try Answer.push(request, verdict: .clockSkew) }
    #expect(hopeless.error?.code == .syncStalled)
    #expect(store.now.queue.count == 1)
  }

  @Test("A server that answers and settles nothing is called stalled, and nothing is lost")
  func settlesNothing() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1))
    let exchange = try Exchange(store) { _, _ in
      Answer.cbor(PushResponse(epoch: Answer.epoch, serverTime: 1, answers: []))
    }
    #expect(exchange.error?.code == .syncStalled)
    #expect(exchange.error?.isRetryable == true)
    #expect(store.now.queue.count == 1)
  }

  @Test("A refused save is parked and those behind it go on")
  func refusedSave() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1), ScriptedStore.changeSet(2))
    let exchange = try Exchange(store) { request, index in
      guard index == 0 else { return try Answer.usual(request) }
      let sets = try PushRequest(decoding: request.body, as: .cbor).changeSets
      return Answer.cbor(
        PushResponse(
          epoch: Answer.epoch, serverTime: 1,
          answers: [
            PushAnswer(
              save: sets[0].id, number: sets[0].number, verdict: .refused(code: .uniqueViolation, message: "Taken.")),
            PushAnswer(save: sets[1].id, number: sets[1].number, verdict: .accepted(fell: [])),
          ]))
    }
    #expect(exchange.report?.pushed == 1)
    #expect(exchange.report?.parked == 1)
  }

  @Test("A copied replica asks which saves are known, takes a new id and sends only the others")
  func copiedReplica() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1), ScriptedStore.changeSet(2))
    let exchange = try Exchange(store) { request, index in
      switch index {
      case 0: return try Answer.push(request, verdict: .copiedReplica)
      case 1:
        let asked = try KnownRequest(decoding: request.body, as: .cbor).saves
        #expect(asked.count == 2)
        return Answer.cbor(
          KnownResponse(saves: [
            KnownResponse.Known(
              save: asked[0], stamp: Stamp(clock: ClockReading(milliseconds: 1), replica: ReplicaID(10)))
          ]))
      default: return try Answer.usual(request)
      }
    }
    #expect(exchange.paths == ["POST /changes", "POST /changes/known", "POST /changes", "GET /changes"])
    #expect(exchange.report?.pushed == 1)
    #expect(store.now.identities == 1)
    let last = try PushRequest(decoding: exchange.requests[2].body, as: .cbor)
    #expect(last.introduction.replica == ReplicaID(0xB))
    #expect(last.changeSets.map(\.number) == [SaveNumber(2)])
  }

  @Test("A server that knows more saves than the file meets an older copy of it: the replica takes a new id")
  func restoredReplica() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(3))
    let exchange = try Exchange(store) { request, index in
      switch index {
      case 0: try Answer.push(request, verdict: .gap(expected: SaveNumber(9)))
      case 1: Answer.cbor(KnownResponse(saves: []))
      default: try Answer.usual(request)
      }
    }
    #expect(store.now.identities == 1)
    #expect(exchange.report?.pushed == 1)
  }

  @Test("A server that waits for a save it had answered has lost data: the sync stops and says so")
  func serverLostSaves() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(5))
    let exchange = try Exchange(store) { request, _ in try Answer.push(request, verdict: .gap(expected: SaveNumber(2)))
    }
    #expect(exchange.error?.code == .otherEpoch)
    #expect(exchange.error?.remedy.contains("--reupload") ?? false)
    #expect(store.now.queue.count == 1)
  }

  @Test(
    "Another epoch stops the sync, whether a push, a page or an error says it", arguments: ["push", "page", "error"])
  func otherEpoch(_ source: String) throws {
    let store = ScriptedStore()
    if source == "push" { store.enqueue(ScriptedStore.changeSet(1)) }
    let exchange = try Exchange(store) { _, _ in
      switch source {
      case "push": Answer.cbor(PushResponse(epoch: Epoch(8), serverTime: 1, answers: []))
      case "page": Answer.page(epoch: Epoch(8))
      default: Answer.error(.otherEpoch, status: 409)
      }
    }
    #expect(exchange.error?.code == .otherEpoch)
    #expect(exchange.error?.remedy.contains("--reupload") == true)
  }

  @Test("An expired cursor starts a snapshot, once")
  func cursorExpired() throws {
    let store = ScriptedStore()
    let mended = try Exchange(store) { _, index in
      index == 0 ? Answer.error(.cursorExpired, status: 410) : Answer.page()
    }
    #expect(mended.report != nil)
    #expect(store.now.snapshots == 1)
    let hopeless = try Exchange(store) { _, _ in Answer.error(.cursorExpired, status: 410) }
    #expect(hopeless.error?.code == .cursorExpired)
    #expect(hopeless.requests.count == 2)
  }

  @Test("A token that expires in the middle of a push loses nothing")
  func tokenExpires() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1), ScriptedStore.changeSet(2))
    var options = SyncEngine.Options()
    options.limits.recordsMax = 1
    let exchange = try Exchange(store, options: options) { request, index in
      index == 0 ? try Answer.usual(request) : Answer.error(.unauthorized, status: 401)
    }
    #expect(exchange.error?.code == .unauthorized)
    #expect(exchange.error?.remedy.contains("token") == true)
    #expect(store.now.queue.map(\.number) == [SaveNumber(2)])
    let later = try Exchange(store) { request, _ in try Answer.usual(request) }
    #expect(later.report?.pushed == 1)
  }

  @Test("A reader still receives what others wrote, and hears that its own changes stay here")
  func readerPushes() throws {
    let store = ScriptedStore()
    store.enqueue(ScriptedStore.changeSet(1))
    let exchange = try Exchange(store) { request, _ in
      request.method == "POST" ? Answer.error(.forbidden, status: 403) : Answer.page()
    }
    #expect(exchange.paths == ["POST /changes", "GET /changes"])
    #expect(exchange.error?.code == .forbidden)
    #expect(store.now.pages.count == 1)
    #expect(store.now.queue.count == 1)
  }

  @Test("A writer's token cannot create a store that is missing")
  func mayNotCreate() throws {
    let exchange = try Exchange(ScriptedStore(epoch: nil)) { _, index in
      index == 0 ? Answer.error(.unknownStore, status: 404) : Answer.error(.forbidden, status: 403)
    }
    #expect(exchange.error?.code == .forbidden)
    #expect(exchange.error?.message.contains("library") == true)
  }

  @Test("A long poll waits with the last pull, and not with a first one")
  func longPoll() throws {
    let store = ScriptedStore()
    var options = SyncEngine.Options()
    options.waitSeconds = 25
    let exchange = try Exchange(store, options: options) { _, index in
      Answer.page(UInt64(index) + 1, hasMore: index == 0)
    }
    #expect(!exchange.requests[0].url.contains("wait="))
    #expect(exchange.requests[1].url.contains("wait=25"))
    #expect(exchange.requests[1].waitSeconds == 25)
  }

  @Test("A duplicate of an answer is passed over")
  func duplicateAnswer() throws {
    let store = ScriptedStore()
    var engine = try SyncEngine(store: store, token: "secret", randomness: FixedRandomness())
    _ = try engine.handle(.start)
    guard case .finished = try engine.handle(Answer.page()) else {
      Issue.record("the sync did not finish")
      return
    }
    guard case .wait(0) = try engine.handle(Answer.page()) else {
      Issue.record("the duplicate was taken")
      return
    }
    #expect(store.now.pages.count == 1)
  }
}
