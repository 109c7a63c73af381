import SwiftData

enum Genre: String, Codable, CaseIterable { case novel, poems, essays }

struct Measure: Codable, Hashable {
  var width: Double
  var height: Double
}

@Model final class Folder {
  @Attribute(.unique) var name: String
  @Relationship(deleteRule: .cascade, inverse: \Note.folder) var notes: [Note] = []
  init(name: String) { self.name = name }
}

@Model final class Note {
  var text: String = ""
  var at: Date?
  var position: Int = 0
  var folder: Folder?
  @Relationship(inverse: \Tag.notes) var tags: [Tag] = []
  init(text: String, folder: Folder? = nil) {
    self.text = text
    self.folder = folder
  }
}

@Model final class Tag {
  var name: String
  var notes: [Note] = []
  init(name: String) { self.name = name }
}

@Model final class Person {
  #Unique<Person>([\.email])
  var email: String?
  var name: String
  var age: Int = 0
  @Relationship(inverse: \Order.person) var orders: [Order] = []
  @Relationship(inverse: \Passport.holder) var passport: Passport?
  init(email: String?, name: String) {
    self.email = email
    self.name = name
  }
}

@Model final class Order {
  var number: Int
  var person: Person?
  init(number: Int, person: Person? = nil) {
    self.number = number
    self.person = person
  }
}

@Model final class Passport {
  var code: String
  var holder: Person?
  init(code: String) { self.code = code }
}

@Model final class Line {
  var text: String
  var sheet: Sheet
  init(sheet: Sheet, text: String) {
    self.text = text
    self.sheet = sheet
  }
}

@Model final class Sheet {
  var title: String
  @Relationship(deleteRule: .deny, inverse: \Line.sheet) var lines: [Line] = []
  init(title: String) { self.title = title }
}

@Model final class Sample {
  var flag: Bool = false
  var int: Int = 0
  var int8: Int8 = 0
  var int16: Int16 = 0
  var int32: Int32 = 0
  var int64: Int64 = 0
  var unsigned: UInt64 = 0
  var float: Float = 0
  var double: Double = 0
  var optionalDouble: Double?
  var decimal: Decimal = 0
  var text: String = ""
  var optionalText: String?
  var date: Date = Date(timeIntervalSinceReferenceDate: 0)
  var data: Data = Data()
  var optionalData: Data?
  var identifier: UUID = UUID()
  var link: URL?
  var genre: Genre = Genre.novel
  var optionalGenre: Genre?
  var measure: Measure?
  var words: [String] = []
  var counts: [String: Int] = [:]
  @Transient var scratch: Int = 7
  init() {}
}

@Model class Animal {
  @Attribute(.unique) var name: String
  var keeper: Keeper?
  init(name: String) { self.name = name }
}

@Model class Dog: Animal {
  var breed: String
  init(name: String, breed: String) {
    self.breed = breed
    super.init(name: name)
  }
}

@Model final class Puppy: Dog {
  var weeks: Int = 0
  init(name: String) { super.init(name: name, breed: "mixed") }
}

@Model final class Keeper {
  var name: String
  @Relationship(inverse: \Animal.keeper) var animals: [Animal] = []
  init(name: String) { self.name = name }
}

@Model final class Watched {
  var log: [String] = []
  var count: Int = 0 {
    willSet { log.append("will \(newValue)") }
    didSet {
      log.append("did \(oldValue)")
      if count > 10 { count = 10 }
    }
  }
  init() {}
}
