import OlderMode
import SwiftData

enum LibraryV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Book.self, Note.self] }

  @Model
  final class Book {
    #Index<Book>([\.title])
    @Attribute(.unique) var isbn: String
    var title: String
    var id: UUID = UUID()
    @Relationship(deleteRule: .cascade, inverse: \Note.book) var notes: [Note] = []

    init(isbn: String, title: String) {
      self.isbn = isbn
      self.title = title
    }
  }

  @Model
  final class Note {
    var text: String
    var at: Date = Date.now
    var book: Book?

    init(text: String, book: Book? = nil) {
      self.text = text
      self.book = book
    }
  }
}

typealias Book = LibraryV1.Book
typealias Note = LibraryV1.Note

struct Failure: Error {}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("consumer-\(UUID())")
defer { try? FileManager.default.removeItem(at: folder) }
let configuration = ModelConfiguration(url: folder.appendingPathComponent("library.store"))

do {
  let container = try ModelContainer(for: Schema(versionedSchema: LibraryV1.self), configurations: configuration)
  let context = container.mainContext
  let book = Book(isbn: "1", title: "Dunes")
  context.insert(book)
  book.notes.append(Note(text: "Read it again"))
  try context.save()
}

let container = try ModelContainer(for: Schema(versionedSchema: LibraryV1.self), configurations: configuration)
let context = ModelContext(container)
let title = "Dunes"
let books = try context.fetch(
  FetchDescriptor<Book>(predicate: #Predicate { $0.title == title }, sortBy: [SortDescriptor(\.title)]))
guard books.count == 1, books[0].notes.map(\.text) == ["Read it again"], books[0].notes[0].book === books[0],
  try plantATree() == 1
else { throw Failure() }

let librarian = Librarian(modelContainer: container)
let added = try await librarian.add(["Shores", "Tides"])
let (inserted, token) = try newBooks(since: nil, by: "librarian", in: context)
let shelf = ShelfModel(container: container)
shelf.load()
shelf.rename(shelf.books[0], to: "Cliffs")
shelf.undo()
guard try await librarian.count() == 3, added.count == 2, inserted == 3, token != nil,
  shelf.books.map(\.title) == ["Dunes", "Shores", "Tides"], try newBooks(since: token, by: "x", in: context).0 == 0,
  try await fillWorkshop() == 2
else { throw Failure() }
print("OK")
