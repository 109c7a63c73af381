import SwiftData
import Terminal

let program = Program(
  "bookshelf", "Books, what you think of them, your notes and tags.", schema: BookshelfV1.self,
  app: { container in Desk(container) },
  commands: [
    .init("add", "TITLE [--by AUTHOR] [--tag TAG]", "put a book on the shelf") { desk, arguments in
      let author = try arguments.option("by") ?? ""
      let tag = try arguments.option("tag")
      let book = try desk.shelf.add(arguments.next("TITLE"), by: author)
      if let tag { try desk.shelf.tag(book, with: [tag]) }
    },
    .init("list", "[TEXT] [--status wanted|reading|read]", "the books, or those with a text anywhere") {
      desk, arguments in
      desk.shelf.status = try arguments.option("status", as: ReadingStatus.self)
      desk.shelf.searchText = try arguments.nextIfAny() ?? ""
      for book in desk.shelf.books { print(line(book)) }
      if desk.shelf.books.isEmpty { print("No books.") }
    },
    .init("show", "BOOK", "all of a book; BOOK is any part of its title or author") { desk, arguments in
      let book = try desk.shelf.book(arguments.next("BOOK"))
      print(line(book))
      if let remark = book.rating?.remark { print("  “\(remark)”") }
      for note in book.notes.sorted(by: { $0.writtenAt < $1.writtenAt }) {
        print("  \(note.page.map { "p. \($0): " } ?? "")\(note.text)")
      }
    },
    .init("start", "BOOK", "begin to read it") { desk, arguments in
      try desk.shelf.book(arguments.next("BOOK")).status = .reading
      try desk.shelf.save()
    },
    .init("finish", "BOOK [--stars 1…5] [--remark TEXT]", "say that you have read it") { desk, arguments in
      let remark = try arguments.option("remark")
      let stars = try arguments.option("stars", as: Int.self)
      if let stars, !(1...5).contains(stars) { throw UsageError("--stars are from 1 to 5.") }
      try desk.shelf.book(arguments.next("BOOK")).finish(rating: stars.map { Rating(stars: $0, remark: remark) })
      try desk.shelf.save()
    },
    .init("note", "BOOK TEXT [--page N]", "write something down about it") { desk, arguments in
      let page = try arguments.option("page", as: Int.self)
      let book = try desk.shelf.book(arguments.next("BOOK"))
      try desk.shelf.note(arguments.next("TEXT"), page: page, on: book)
    },
    .init("tag", "BOOK TAG…", "tag it") { desk, arguments in
      let book = try desk.shelf.book(arguments.next("BOOK"))
      try desk.shelf.tag(book, with: arguments.rest())
    },
    .init("tags", "", "the tags, the most used first") { desk, _ in
      for tag in try desk.shelf.tags() { print("\(tag.name) (\(tag.count))") }
    },
    .init("remove", "BOOK", "take it from the shelf, with its notes") { desk, arguments in
      try desk.shelf.remove(desk.shelf.book(arguments.next("BOOK")))
    },
    .init("import", "FILE", "add a book for each line, TITLE; AUTHOR") { desk, arguments in
      let text = try String(contentsOfFile: arguments.next("FILE"), encoding: .utf8)
      print("\(try await desk.librarian.importBooks(text.components(separatedBy: .newlines))) new")
    },
  ])

/// What the commands work with.
@MainActor
final class Desk {
  let shelf: Shelf
  let librarian: Librarian

  init(_ container: ModelContainer) {
    shelf = Shelf(container: container)
    librarian = Librarian(modelContainer: container)
  }
}

@MainActor
func line(_ book: Book) -> String {
  var parts = [book.byline, "(\(book.status.rawValue))"]
  if let rating = book.rating { parts.append(String(repeating: "★", count: rating.stars)) }
  if !book.notes.isEmpty { parts.append(book.notes.count == 1 ? "1 note" : "\(book.notes.count) notes") }
  parts += book.tags.map(\.name).sorted().map { "#\($0)" }
  return parts.joined(separator: " ")
}

await program.main()
