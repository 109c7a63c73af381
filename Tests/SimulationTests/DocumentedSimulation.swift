import SwiftData
import Testing
import TomboloSimulation

// The code of Documentation/TestingYourModels.md: `DocumentationTests` holds the two together.

@Model final class LibraryBook {
  @Attribute(.unique) var isbn: String
  var title: String
  @Attribute(.merge(.counter)) var bought = 0
  @Attribute(.merge(.counter)) var inStock = 0
  @Attribute(.merge(.counter)) var lent = 0
  @Relationship(deleteRule: .cascade, inverse: \LibraryNote.book) var notes: [LibraryNote] = []

  init(isbn: String, title: String) {
    self.isbn = isbn
    self.title = title
  }
}

@Model final class LibraryNote {
  var text: String
  var book: LibraryBook?
  init(_ text: String) { self.text = text }
}

@Suite("The library in sync")
struct LibrarySyncTests {
  @Test("Replicas agree, whatever goes wrong")
  func converges() throws {
    #expect(try Simulation(models: LibraryBook.self, LibraryNote.self).converges(seeds: 10))
  }

  @Test("Every copy is in stock or lent, on every replica, at every moment")
  func copies() throws {
    let simulation = try Simulation(models: LibraryBook.self, LibraryNote.self)
      .operation("buy a copy", share: 0.5) { save in
        let isbn = "isbn \(save.number(in: 1...4))"
        let known = try save.context.fetch(FetchDescriptor<LibraryBook>(predicate: #Predicate { $0.isbn == isbn }))
        let book = known.first ?? LibraryBook(isbn: isbn, title: "Bought at \(save.now.timeIntervalSince1970)")
        if known.isEmpty { save.context.insert(book) }
        book.bought += 1
        book.inStock += 1
      }
      .operation("lend a copy", share: 0.5) { save in
        guard let book = try save.pick(LibraryBook.self), book.inStock > 0 else { return }
        book.inStock -= 1
        book.lent += 1
      }
      .invariant("every copy is in stock or lent") { view in
        try view.all(LibraryBook.self).allSatisfy { $0.inStock + $0.lent == $0.bought }
      }
    #expect(try simulation.converges(seeds: 10))
  }
}
