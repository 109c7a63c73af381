import SwiftData

/// Work that would keep a window waiting: runs off the main actor, on a context of its own.
@ModelActor
actor Librarian {
  /// Puts a book on the shelf for each line, `TITLE; AUTHOR`; one that is there stays as it is.
  ///
  /// - Returns: how many are new.
  func importBooks(_ lines: [String]) throws -> Int {
    let before = try modelContext.fetchCount(FetchDescriptor<Book>())
    let known = Set(try modelContext.fetch(FetchDescriptor<Book>()).map(\.byline))
    for line in lines {
      let parts = line.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
      guard let title = parts.first, !title.isEmpty else { continue }
      let book = Book(title: title, author: parts.count > 1 ? parts[1] : "")
      if !known.contains(book.byline) { modelContext.insert(book) }
    }
    try modelContext.save()
    return try modelContext.fetchCount(FetchDescriptor<Book>()) - before
  }
}
