import Foundation
import Tombolo
import TomboloProtocol

// Plain classes in the place of models: what a predicate sees of them is the same.

/// The identifier of a test object, as the model layer's identifier is to a model.
struct TestID: Hashable, Codable, Sendable, RecordReferencing {
  var high: UInt64
  var low: UInt64
  init(_ id: RecordID) { (high, low) = (id.high, id.low) }
  var recordReference: RecordID? { RecordID(high: high, low: low) }
}

enum Kind: String, Codable, Sendable, CaseIterable { case plain, fancy, café }
enum Level: Int, Codable, Sendable, Comparable {
  case low = 1, high = 10
  static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
}

class TestObject: Equatable {
  let key: RecordID
  init(_ number: UInt64) { key = RecordID(high: 7, low: number) }
  static func == (a: TestObject, b: TestObject) -> Bool { a === b }
  var modelID: TestID { TestID(key) }
}

final class Person: TestObject {
  var name = ""
  var age: Int?
  var folders: [Folder] = []
}

final class Folder: TestObject {
  var name = ""
  var nick: String?
  var owner: Person?
  var parent: Folder?
  var children: [Folder] = []
  var items: [Item] = []
}

final class Tag: TestObject {
  var name = ""
  var weight = 0
  var items: [Item] = []
}

final class Badge: TestObject {
  var title = ""
  var item: Item?
}

final class Item: TestObject {
  var name = ""
  var nick: String?
  var count = 0
  var optionalCount: Int?
  var small: Int8 = 0
  var unsigned: UInt16 = 0
  var score = 0.0
  var optionalScore: Double?
  var ratio: Float = 0
  var price: Decimal = 0
  var optionalPrice: Decimal?
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var optionalDate: Date?
  var flag = false
  var optionalFlag: Bool?
  var kind = Kind.plain
  var optionalKind: Kind?
  var level = Level.low
  var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var link: URL?
  var data = Data()
  var words: [String] = []
  var numbers: [Int] = []
  var folder: Folder?
  var tags: [Tag] = []
  var optionalTags: [Tag]? { tags }
  var badge: Badge?
  var order = ""
  var computed: Int { count + 1 }
}

class Animal: TestObject {
  var name = ""
  var mother: Animal?
  var young: [Animal] = []
}

class Dog: Animal { var breed = "" }
final class Puppy: Dog { var weeks: Int? }
final class Cat: Animal { var isTame = false }
