import SwiftData

/// Work in the background, as an app writes it in Swift 6 mode.
@ModelActor
actor Librarian {
  func add(_ titles: [String]) throws -> [PersistentIdentifier] {
    modelContext.author = "librarian"
    let books = titles.map { Book(isbn: $0, title: $0) }
    for book in books { modelContext.insert(book) }
    try modelContext.save()
    return books.map(\.persistentModelID)
  }

  func count() throws -> Int {
    var count = 0
    try modelContext.enumerate(FetchDescriptor<Book>(), batchSize: 10) { _ in count += 1 }
    return count
  }
}

/// A view model, as an app writes it.
@Observable @MainActor
final class ShelfModel {
  private let context: ModelContext
  private(set) var books: [Book] = []

  init(container: ModelContainer) {
    context = container.mainContext
    context.undoManager = UndoManager()
  }

  func load() {
    do {
      books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))
    } catch SwiftDataError.unsupportedPredicate {
      books = []
    } catch {
      books = []
    }
  }

  func rename(_ book: Book, to title: String) { book.title = title }
  func undo() { context.undoManager?.undo() }
}

/// Who has inserted books since a token.
func newBooks(
  since token: DefaultHistoryToken?, by author: String, in context: ModelContext
) throws -> (Int, DefaultHistoryToken?) {
  var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
  if let token {
    descriptor.predicate = #Predicate { transaction in transaction.token > token && transaction.author == author }
  }
  var inserted = 0
  let transactions = try context.fetchHistory(descriptor)
  for transaction in transactions {
    for change in transaction.changes {
      switch change {
      case .insert(_ as DefaultHistoryInsert<Book>): inserted += 1
      case .update(let update as DefaultHistoryUpdate<Book>): _ = update.updatedAttributes.contains(\.title)
      case .delete(let delete as DefaultHistoryDelete<Book>): _ = delete.tombstone[\.isbn] as? String
      default: break
      }
    }
  }
  return (inserted, transactions.last?.token)
}
