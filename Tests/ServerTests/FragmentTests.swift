import TomboloSQLite
import Testing
import TomboloProtocol
import TomboloServer

@Suite("Fragments")
struct FragmentTests {
  private func pieces(of save: ChangeSet, size: Int, replica: TestReplica) -> [PushRequest] {
    let bytes = save.encoded(as: .cbor)
    let count = (bytes.count + size - 1) / size
    return (0..<count).map { index in
      let piece = Array(bytes[index * size..<min(bytes.count, (index + 1) * size)])
      return PushRequest(
        introduction: replica.introduction, changeSets: [],
        fragment: .init(save: save.id, index: UInt32(index), count: UInt32(count), bytes: piece))
    }
  }

  private func large() -> (TestReplica, ChangeSet) {
    var ada = TestReplica(1)
    return (ada, ada.save((1...40).map { .create("Tag", record($0), ["label": .text("number \($0)")]) }))
  }

  @Test("A save in pieces is merged when the last is there, whole, over a restart")
  func assembled() throws {
    let server = try ServerFixture()
    var (ada, save) = large()
    ada.number = save.number
    let pieces = pieces(of: save, size: 150, replica: ada)
    #expect(pieces.count > 3)
    for piece in pieces.dropLast() {
      #expect(try server.push(piece).answers.map(\.verdict) == [.fragmentStored])
      #expect(try server.page(ada).items.isEmpty)
    }
    try server.powerCut(.synced)
    let answers = try server.push(pieces[pieces.count - 1]).answers
    #expect(answers.map(\.verdict) == [.accepted(fell: [])])
    #expect(answers.map(\.number) == [save.number])
    #expect(try server.page(ada).items.count == 40)
  }

  @Test("Pieces may come in any order and twice; a piece of a save that was taken is answered with that")
  func anyOrder() throws {
    let server = try ServerFixture()
    let (ada, save) = large()
    let pieces = pieces(of: save, size: 150, replica: ada)
    for piece in pieces.dropFirst().reversed() {
      #expect(try server.push(piece).answers.map(\.verdict) == [.fragmentStored])
      #expect(try server.push(piece).answers.map(\.verdict) == [.fragmentStored])
    }
    #expect(try server.push(pieces[0]).answers.map(\.verdict) == [.accepted(fell: [])])
    let again = try server.push(pieces[1]).answers
    #expect(again.map(\.verdict) == [.known(stamp: save.stamp)])
    #expect(again.map(\.number) == [save.number])
    #expect(try server.page(ada).items.count == 40)
  }

  @Test("Pieces that make no sense are malformed, and the next try starts clean")
  func nonsense() throws {
    let server = try ServerFixture()
    let (ada, save) = large()
    for (index, count) in [(0, 0), (3, 3), (7, 2)] as [(UInt32, UInt32)] {
      let push = PushRequest(
        introduction: ada.introduction, changeSets: [],
        fragment: .init(save: save.id, index: index, count: count, bytes: [1]))
      let response = server.send(
        "POST", "/v1/stores/library/changes", token: server.writer, body: push.encoded(as: .cbor))
      #expect(response.status == 400)
    }
    let other = PushRequest(
      introduction: ada.introduction, changeSets: [],
      fragment: .init(save: SaveID(record(77)), index: 0, count: 1, bytes: save.encoded(as: .cbor)))
    let response = server.send(
      "POST", "/v1/stores/library/changes", token: server.writer, body: other.encoded(as: .cbor))
    #expect(response.status == 400)
    for piece in pieces(of: save, size: 500, replica: ada) { _ = try server.push(piece) }
    #expect(try server.page(ada).items.count == 40)
  }

  @Test("Bytes and number of unfinished saves are limited; stale ones make room")
  func limits() throws {
    var limits = ServiceLimits()
    limits.changeSetBytesMax = 1_000
    limits.fragmentedSavesMax = 2
    let server = try ServerFixture(limits: limits)
    func send(_ save: UInt64, bytes: Int) -> ServiceResponse {
      let push = PushRequest(
        introduction: TestReplica(1).introduction, changeSets: [],
        fragment: .init(save: SaveID(record(save)), index: 0, count: 9, bytes: [UInt8](repeating: 0, count: bytes)))
      return server.send("POST", "/v1/stores/library/changes", token: server.writer, body: push.encoded(as: .cbor))
    }
    #expect(send(1, bytes: 1_001).status == 413)
    #expect(send(1, bytes: 10).status == 200)
    #expect(send(2, bytes: 10).status == 200)
    #expect(try send(3, bytes: 10).error().code == .limitExceeded)
    server.clock.advance(milliseconds: 25 * 3_600 * 1_000)
    #expect(send(3, bytes: 10).status == 200)
  }
}
