import SwiftData

/// The view model of the shelf: what a list of books in a window would show.
@Observable @MainActor
final class Shelf {
  var searchText = "" { didSet { load() } }
  var status: ReadingStatus? { didSet { load() } }
  private(set) var books: [Book] = []
  private(set) var errorMessage: String?

  @ObservationIgnored private let context: ModelContext

  init(container: ModelContainer) {
    context = container.mainContext
    load()
  }

  func load() {
    do {
      books = try context.fetch(
        FetchDescriptor(predicate: filter, sortBy: [SortDescriptor(\.title), SortDescriptor(\.author)]))
      errorMessage = nil
    } catch {
      errorMessage = error.localizedDescription
    }
  }

  private var filter: Predicate<Book>? {
    let text = searchText
    if let status {
      return #Predicate { book in
        book.status == status
          && (text.isEmpty || book.title.localizedStandardContains(text) || book.author.localizedStandardContains(text))
      }
    }
    if text.isEmpty { return nil }
    return #Predicate { book in
      book.title.localizedStandardContains(text) || book.author.localizedStandardContains(text)
        || book.notes.contains { $0.text.localizedStandardContains(text) }
        || book.tags.contains { $0.name.localizedStandardContains(text) }
    }
  }

  /// The only book whose title or author has these words.
  func book(_ words: String) throws -> Book {
    let matches = try context.fetch(
      FetchDescriptor<Book>(
        predicate: #Predicate {
          $0.title.localizedStandardContains(words) || $0.author.localizedStandardContains(words)
        }))
    if let exact = matches.first(where: { $0.title == words }) { return exact }
    guard let book = matches.first else { throw ShelfError.noBook(words) }
    guard matches.count == 1 else { throw ShelfError.severalBooks(words, matches.map(\.byline)) }
    return book
  }

  @discardableResult
  func add(_ title: String, by author: String = "") throws -> Book {
    let book = Book(title: title, author: author)
    context.insert(book)
    try save()
    return book
  }

  func note(_ text: String, page: Int?, on book: Book) throws {
    book.notes.append(Note(text, page: page))
    try save()
  }

  func tag(_ book: Book, with names: [String]) throws {
    for name in names where !book.tags.contains(where: { $0.name == name }) {
      book.tags.append(try tag(named: name))
    }
    try save()
  }

  func remove(_ book: Book) throws {
    context.delete(book)
    try save()
  }

  /// All tags with the number of their books, the most used first.
  func tags() throws -> [(name: String, count: Int)] {
    try context.fetch(FetchDescriptor<Tag>(sortBy: [SortDescriptor(\.name)]))
      .map { ($0.name, $0.books.count) }
      .sorted { $0.count > $1.count }
  }

  func save() throws {
    try context.save()
    load()
  }

  private func tag(named name: String) throws -> Tag {
    var descriptor = FetchDescriptor<Tag>(predicate: #Predicate { $0.name == name })
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first ?? Tag(name: name)
  }
}

enum ShelfError: LocalizedError {
  case noBook(String)
  case severalBooks(String, [String])

  var errorDescription: String? {
    switch self {
    case .noBook(let words): "There is no book “\(words)” on the shelf."
    case .severalBooks(let words, let books): "“\(words)” could be \(books.joined(separator: " or "))."
    }
  }
}
