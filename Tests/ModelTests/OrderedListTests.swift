import SwiftData
import Testing
import Tombolo

@Model final class Playlist {
  var name: String
  @Relationship(.ordered, inverse: \Song.playlist) var songs: [Song] = []
  init(_ name: String = "", _ songs: [Song] = []) {
    self.name = name
    self.songs = songs
  }
}

@Model final class Song {
  var name: String
  var playlist: Playlist?
  init(_ name: String, _ playlist: Playlist? = nil) {
    self.name = name
    self.playlist = playlist
  }
}

/// One way to change a list in place; applied to a plain array as well, which says what is right.
struct SongChange: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let body: @Sendable (_ list: inout [Song], _ others: [Song]) -> Void

  static let all: [SongChange] = [
    SongChange(testDescription: "append") { $0.append($1[0]) },
    SongChange(testDescription: "append in another order than made") { $0 += [$1[2], $1[0], $1[1]] },
    SongChange(testDescription: "insert first") { $0.insert($1[0], at: 0) },
    SongChange(testDescription: "insert a block") { $0.insert(contentsOf: $1, at: 2) },
    SongChange(testDescription: "insert and append") {
      $0.insert($1[1], at: 1)
      $0.append($1[0])
    },
    SongChange(testDescription: "move up") { list, _ in list.insert(list.remove(at: 3), at: 1) },
    SongChange(testDescription: "move to the end") { list, _ in list.append(list.remove(at: 0)) },
    SongChange(testDescription: "remove in the middle") { list, _ in list.remove(at: 1) },
    SongChange(testDescription: "remove all and append") {
      $0.removeAll()
      $0.append($1[1])
      $0.append($1[0])
    },
    SongChange(testDescription: "replace one") { $0[1] = $1[2] },
    SongChange(testDescription: "swap two") { list, _ in list.swapAt(0, 3) },
    SongChange(testDescription: "reverse") { list, _ in list.reverse() },
    SongChange(testDescription: "sort") { list, _ in list.sort { $0.name > $1.name } },
    SongChange(testDescription: "pop last and append it behind another") {
      if let last = $0.popLast() { $0.append($1[1]); $0.append(last) }
    },
    SongChange(testDescription: "remove and append again") { list, _ in
      let first = list.remove(at: 0)
      list.append(first)
    },
  ]
}

@Suite("Ordered to-many relationships")
struct OrderedListTests {
  private func container() throws -> ModelContainer {
    try ModelContainer(
      for: Playlist.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  private func names(_ container: ModelContainer) throws -> [String] {
    let context = ModelContext(container)
    let list = try #require(
      try context.fetch(FetchDescriptor<Playlist>(predicate: #Predicate { $0.name == "list" })).first)
    return list.songs.map(\.name)
  }

  private func filled(_ context: ModelContext, _ count: Int = 5) throws -> (Playlist, others: [Song]) {
    let list = Playlist("list", (0..<count).map { Song("\($0)") })
    context.insert(list)
    let others = ["a", "b", "c"].map { Song($0) }
    for other in others { context.insert(other) }
    try context.save()
    return (list, others)
  }

  @Test("Whatever is done to the array is there after a save, in it and in another context", arguments: SongChange.all)
  func changes(change: SongChange) throws {
    let context = ModelContext(try container())
    let (list, others) = try filled(context)
    var expected = list.songs
    change.body(&expected, others)
    change.body(&list.songs, others)
    #expect(list.songs.map(\.name) == expected.map(\.name))
    try context.save()
    #expect(list.songs.map(\.name) == expected.map(\.name))
    #expect(try names(context.container) == expected.map(\.name))
  }

  @Test("The same with members that were never saved", arguments: SongChange.all)
  func newMembers(change: SongChange) throws {
    let context = ModelContext(try container())
    let list = Playlist("list", (0..<5).map { Song("\($0)") })
    let others = ["a", "b", "c"].map { Song($0) }
    var expected = list.songs
    change.body(&expected, others)
    change.body(&list.songs, others)
    context.insert(list)
    try context.save()
    #expect(try names(context.container) == expected.map(\.name))
  }

  @Test("The other side appends, and a move alone is a change") func otherSide() throws {
    let context = ModelContext(try container())
    let (list, others) = try filled(context, 2)
    others[1].playlist = list
    others[0].playlist = list
    try context.save()
    #expect(try names(context.container) == ["0", "1", "b", "a"])
    #expect(!context.hasChanges)
    list.songs.swapAt(0, 3)
    #expect(context.hasChanges)
    try context.save()
    #expect(try names(context.container) == ["a", "1", "b", "0"])
  }

  @Test("A list that is not loaded is appended to in the order of appending") func unloaded() throws {
    let container = try container()
    _ = try filled(ModelContext(container))
    let context = ModelContext(container)
    let list = try #require(try context.fetch(FetchDescriptor<Playlist>()).first)
    let others = try context.fetch(FetchDescriptor<Song>(predicate: #Predicate { $0.playlist == nil }))
    let members = list.members(of: \.songs)
    for name in ["c", "a"] { if let song = others.first(where: { $0.name == name }) { members.append(song) } }
    members.append(Song("new"))
    let first = try #require(try context.fetch(FetchDescriptor<Song>(predicate: #Predicate { $0.name == "0" })).first)
    members.remove(first)
    members.append(first)
    let expected = ["1", "2", "3", "4", "c", "a", "new", "0"]
    try context.save()
    #expect(try names(container) == expected)
    #expect(list.songs.map(\.name) == expected)
  }

  @Test("A save of another context is shown in its order; an order that is pending is kept, and both saves stand")
  func twoContexts() throws {
    let container = try container()
    let (mine, other) = (ModelContext(container), ModelContext(container))
    let (list, _) = try filled(mine)
    let theirs = try #require(try other.fetch(FetchDescriptor<Playlist>()).first)
    theirs.songs.swapAt(0, 4)
    try other.save()
    #expect(try mine.fetch(FetchDescriptor<Playlist>()).first?.songs.map(\.name) == ["4", "1", "2", "3", "0"])
    list.songs.swapAt(1, 2)
    theirs.songs.append(Song("x"))
    try other.save()
    _ = try mine.fetch(FetchDescriptor<Playlist>())
    #expect(list.songs.map(\.name) == ["4", "2", "1", "3", "0"])
    try mine.save()
    #expect(try names(container) == ["4", "2", "1", "3", "0", "x"])
    #expect(list.songs.map(\.name) == ["4", "2", "1", "3", "0", "x"])
  }

  @Test("A rollback and an undo bring the order back") func takenBack() throws {
    let context = ModelContext(try container())
    let (list, others) = try filled(context)
    list.songs.reverse()
    context.rollback()
    #expect(list.songs.map(\.name) == ["0", "1", "2", "3", "4"])
    #expect(!context.hasChanges)
    let manager = UndoManager()
    context.undoManager = manager
    list.songs.insert(others[0], at: 1)
    list.songs.remove(at: 3)
    context.processPendingChanges()
    manager.undo()
    #expect(list.songs.map(\.name) == ["0", "1", "2", "3", "4"])
    try context.save()
    #expect(try names(context.container) == ["0", "1", "2", "3", "4"])
  }

  @Test("Prefetching loads the order") func prefetched() throws {
    let container = try container()
    let context = ModelContext(container)
    let (list, _) = try filled(context)
    list.songs.reverse()
    try context.save()
    var descriptor = FetchDescriptor<Playlist>()
    descriptor.relationshipKeyPathsForPrefetching = [\.songs]
    #expect(try ModelContext(container).fetch(descriptor)[0].songs.map(\.name) == ["4", "3", "2", "1", "0"])
  }

  @Test("Moving one of many writes one record") func oneWrite() throws {
    let context = ModelContext(try container())
    let (list, _) = try filled(context, 100)
    let before = try StoreCounts(context.container).changes()
    list.songs.insert(list.songs.remove(at: 90), at: 10)
    try context.save()
    #expect(try StoreCounts(context.container).changes() == before + 1)
  }

  @Test("Appending ten thousand is not quadratic", .timeLimit(.minutes(1))) func many() throws {
    let container = try container()
    let context = ModelContext(container)
    let list = Playlist("list")
    context.insert(list)
    for index in 0..<10_000 { list.songs.append(Song("\(index)")) }
    try context.save()
    for index in 10_000..<10_100 {
      list.songs.append(Song("\(index)"))
      try context.save()
    }
    #expect(try names(container) == (0..<10_100).map(String.init))
  }

  @Test("Appending loads no members, and asks for none without the option") func queries() throws {
    let store = try TracedStore(Playlist.self)
    _ = try filled(ModelContext(store.container))
    let context = ModelContext(store.container)
    let list = try #require(try context.fetch(FetchDescriptor<Playlist>()).first)
    let queries = try store.queries {
      list.members(of: \.songs).append(Song("new"))
      try context.save()
    }
    #expect(queries == [])
    #expect(try names(store.container) == ["0", "1", "2", "3", "4", "new"])
  }
}
