import SwiftData
import Testing

@Model final class Album {
  var name: String
  @Relationship(.ordered, deleteRule: .cascade, inverse: \Track.album) var songs: [Track] = []
  @Relationship(inverse: \Stamping.albums) var marks: [Stamping] = []
  @Relationship(inverse: \Sleeve.album) var cover: Sleeve?
  var others: [Stamping] = []
  init(_ name: String) { self.name = name }
}
@Model final class Track {
  var name: String
  var album: Album?
  var original: Track?
  @Relationship(inverse: \Track.original) var versions: [Track] = []
  init(_ name: String) { self.name = name }
}
@Model final class Stamping {
  var name: String
  var albums: [Album] = []
  init(_ name: String) { self.name = name }
}
@Model final class Sleeve {
  var name: String
  var album: Album?
  init(_ name: String) { self.name = name }
}

/// Edits by chance, in two contexts with rollbacks, or in one with undo and redo.
private struct RandomEdits {
  let container: ModelContainer
  let contexts: [ModelContext]
  let undoes: Bool
  private let manager = UndoManager()
  private var generator: Generator
  private var number = 0

  struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state ^ (state >> 29)) &* 0x9E37_79B9_7F4A_7C15
    }
  }

  init(seed: UInt64, undoes: Bool) throws {
    container = try ModelContainer(
      for: Album.self, Track.self, Stamping.self, Sleeve.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    contexts = [ModelContext(container), ModelContext(container)]
    self.undoes = undoes
    generator = Generator(state: seed &* 7_919)
    if undoes { contexts[0].undoManager = manager }
  }

  private mutating func chance(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  private mutating func any<Model: PersistentModel>(_ type: Model.Type, in context: ModelContext) throws -> Model? {
    let all = try context.fetch(FetchDescriptor<Model>())
    return all.sorted { $0.persistentModelID < $1.persistentModelID }.randomElement(using: &generator)
  }

  /// One edit, or a save.
  /// - Returns: the context that was saved.
  mutating func step() throws -> ModelContext? {
    let context = contexts[undoes ? 0 : chance(4) / 3]
    number += 1
    let kind = chance(22)
    if kind < 9 {
      try insertOrRelate(kind, in: context)
    } else if kind < 17 {
      try change(kind, in: context)
    } else {
      context.processPendingChanges()
      switch kind {
      case 17: undoes ? manager.undo() : context.rollback()
      case 18 where manager.canRedo: manager.redo()
      default:
        try context.save()
        return context
      }
    }
    return nil
  }

  private mutating func insertOrRelate(_ kind: Int, in context: ModelContext) throws {
    guard kind > 0, let album = try any(Album.self, in: context) else {
      return context.insert(Album("album \(number)"))
    }
    switch kind {
    case 1: album.songs.append(Track("song \(number)"))
    case 2:
      let mark = Stamping("mark \(number)")
      album.marks.append(mark)
      album.others.append(mark)
    case 3: album.cover = Sleeve("cover \(number)")
    case 4: try any(Track.self, in: context)?.album = album
    case 5: album.songs.shuffle(using: &generator)
    case 6: if !album.songs.isEmpty { album.songs.remove(at: chance(album.songs.count)) }
    case 7:
      guard let song = try any(Track.self, in: context), !album.songs.contains(song) else { return }
      album.songs.insert(song, at: chance(album.songs.count + 1))
    default: try any(Sleeve.self, in: context)?.album = album
    }
  }

  private mutating func change(_ kind: Int, in context: ModelContext) throws {
    let (song, mark) = (try any(Track.self, in: context), try any(Stamping.self, in: context))
    let album = try any(Album.self, in: context)
    switch kind {
    case 9: song?.album = nil
    case 10: song?.name += "'"
    case 11: if let other = try any(Track.self, in: context), other !== song { song?.original = other }
    case 12: if let song { context.delete(song) }
    case 13: if let album { context.delete(album) }
    case 14: if let mark { context.delete(mark) }
    case 15: album?.others = mark.map { [$0] } ?? []
    default:
      guard let album, let mark else { return }
      if let index = album.marks.firstIndex(of: mark) {
        album.marks.remove(at: index)
      } else {
        mark.albums.append(album)
      }
    }
  }

  /// All that a context shows, a line an object.
  static func image(_ context: ModelContext) throws -> [String] {
    let albums = try context.fetch(FetchDescriptor<Album>()).map { album in
      "\(album.name): \(album.songs.map(\.name)) \(album.marks.map(\.name).sorted()) \(album.cover?.name ?? "-") "
        + "\(album.others.map(\.name).sorted())"
    }
    let songs = try context.fetch(FetchDescriptor<Track>()).map { song in
      "\(song.name): \(song.album?.name ?? "-") \(song.original?.name ?? "-") \(song.versions.map(\.name).sorted())"
    }
    let marks = try context.fetch(FetchDescriptor<Stamping>()).map { "\($0.name): \($0.albums.map(\.name).sorted())" }
    let covers = try context.fetch(FetchDescriptor<Sleeve>()).map { "\($0.name): \($0.album?.name ?? "-")" }
    return (albums + songs + marks + covers).sorted()
  }
}

@Suite("Edits by chance")
struct RandomEditTests {
  @Test(
    "After every save a context shows what the store has, whatever was edited, undone or rolled back",
    arguments: [false, true])
  func agreement(undoes: Bool) throws {
    var saves = 0
    for seed in 0..<80 as Range<UInt64> {
      var edits = try RandomEdits(seed: seed, undoes: undoes)
      for step in 0..<40 {
        guard let context = try edits.step() else { continue }
        saves += 1
        let shown = try RandomEdits.image(context)
        let stored = try RandomEdits.image(ModelContext(edits.container))
        try #require(shown == stored, "seed \(seed), step \(step)")
      }
    }
    #expect(saves > 200)
  }
}
