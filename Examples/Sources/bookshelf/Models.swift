import SwiftData

enum BookshelfV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Book.self, Note.self, Tag.self] }
}

typealias Book = BookshelfV1.Book
typealias Note = BookshelfV1.Note
typealias Tag = BookshelfV1.Tag

extension BookshelfV1 {
  @Model
  final class Book {
    #Unique<Book>([\.title, \.author])
    #Index<Book>([\.title], [\.status, \.addedAt])

    var title: String
    var author: String
    private(set) var addedAt: Date = Date.now
    var status: ReadingStatus = ReadingStatus.wanted
    var rating: Rating?
    private(set) var finishedOn: Date?

    @Relationship(deleteRule: .cascade, inverse: \Note.book) var notes: [Note] = []
    @Relationship(inverse: \Tag.books) var tags: [Tag] = []

    init(title: String, author: String = "") {
      self.title = title
      self.author = author
    }

    var byline: String { author.isEmpty ? title : "\(title), by \(author)" }

    func finish(at date: Date = .now, rating: Rating? = nil) {
      status = .read
      finishedOn = date
      if let rating { self.rating = rating }
    }
  }

  @Model
  final class Note {
    var text: String
    var page: Int?
    var writtenAt: Date
    var book: Book?

    init(_ text: String, page: Int? = nil, writtenAt: Date = .now) {
      self.text = text
      self.page = page
      self.writtenAt = writtenAt
    }
  }

  @Model
  final class Tag {
    @Attribute(.unique) var name: String
    var books: [Book] = []

    init(name: String) {
      self.name = name
    }
  }
}

enum ReadingStatus: String, Codable, CaseIterable {
  case wanted, reading, read
}

struct Rating: Codable, Hashable {
  var stars: Int
  var remark: String?
}
