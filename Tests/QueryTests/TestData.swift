import Foundation
import TomboloProtocol

@testable import Tombolo

/// Rows that have tripped query layers before.
extension TestStore {
  static let names = [
    "", "a", "A", "b", "a2", "a10", "A1", "7% rise", "a_c", "abc", "x\\y", "café", "CAFÉ", "cafe", "Straße", "STRASSE",
    "İstanbul", "istanbul", "ВАЛЯ", "валя", "Über", "über", "\u{FF21}", "\u{F8FF}", "😀", "👨‍👩‍👧", "🇩🇪", "line\r\nend",
    "O'Brien", "say \"hi\"", "NULL", "null", "nul\u{0}inside", "한글", "\u{10FFFF}",
  ]

  /// The same in forms that are not composed.
  static let decomposedNames = ["cafe\u{301}", "CAFE\u{301}", "cafe\u{301} s", "\u{301}", "한글", "A\u{30A}"]

  static func filled(composedOnly: Bool) throws -> TestStore {
    let store = try TestStore(textForms: composedOnly ? .composed : .unknown)
    try store.fill(names: composedOnly ? names : names + decomposedNames)
    return store
  }

  private func fill(names: [String]) throws {
    var number: UInt64 = 0
    func next() -> UInt64 {
      number += 1
      // Keys in another order than rows.
      return number &* 7919 % 10_007
    }
    for (index, name) in ["ann", "Bob", "café"].enumerated() {
      let person = Person(next())
      person.name = name
      person.age = index == 1 ? nil : 30 + index
      people.append(person)
    }
    for (index, name) in ["home", "work", "x", ""].enumerated() {
      let folder = Folder(next())
      folder.name = name
      folder.nick = index == 1 ? "w" : nil
      folder.owner = index < 2 ? people[index] : nil
      folder.owner?.folders.append(folder)
      if index > 1 { folder.parent = folders[index - 2] }
      folder.parent?.children.append(folder)
      folders.append(folder)
    }
    for (index, name) in ["red", "blue", "green", "a"].enumerated() {
      let tag = Tag(next())
      tag.name = name
      tag.weight = index
      tags.append(tag)
    }
    for (index, name) in names.enumerated() {
      items.append(item(index, name: name, key: next()))
    }
    try insertAll(badgeKey: next())
    try fillAnimals(next: next)
  }

  private func item(_ index: Int, name: String, key: UInt64) -> Item {
    let item = Item(key)
    let integers = [0, 1, -1, 2, 3, Int.max, Int.min, 5, 9_007_199_254_740_993, 100]
    let reals = [0.0, -0.0, 1.5, -2.25, .infinity, -.infinity, 1e300, 5e-300, 0.1, 100]
    item.name = name
    item.nick = index % 3 == 0 ? nil : index % 3 == 1 ? "b" : name
    item.count = integers[index % integers.count]
    item.optionalCount = index % 4 == 0 ? nil : index % 7
    item.small = Int8(truncatingIfNeeded: index * 37)
    item.unsigned = UInt16(index * 1_500 % 65_536)
    item.score = reals[index % reals.count]
    item.optionalScore = index % 5 == 0 ? nil : reals[(index + 3) % reals.count]
    item.ratio = Float(index) / 3
    item.price = Decimal(index * 25 - 200) / 10
    item.optionalPrice = index % 3 == 0 ? nil : Decimal(index) * Decimal(1_000_000_000_000_000_000)
    item.date =
      [Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0.1 * Double(index))][index % 3]
    item.optionalDate = index % 2 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(index) - 20)
    item.flag = index % 2 == 1
    item.optionalFlag = index % 3 == 0 ? nil : index % 3 == 1
    item.kind = Kind.allCases[index % 3]
    item.optionalKind = index % 4 == 3 ? nil : Kind.allCases[index % 3]
    item.level = index % 5 == 0 ? .high : .low
    item.uuid = UUID(uuid: (UInt8(index), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
    item.link = index % 2 == 0 ? nil : URL(string: "https://example.org/\(index)")
    item.data = Data(repeating: UInt8(index), count: index % 4)
    item.words = index % 3 == 0 ? [] : ["w\(index % 5)", name]
    item.numbers = Array(0..<index % 4)
    item.folder = index % 5 == 4 ? nil : folders[index % folders.count]
    item.folder?.items.append(item)
    for tag in 0..<index % 4 {
      item.tags.append(tags[(index + tag) % tags.count])
      tags[(index + tag) % tags.count].items.append(item)
    }
    item.order = "\(index % 2)"
    return item
  }

  private func insertAll(badgeKey: UInt64) throws {
    for person in people {
      try insert(person, as: "Person", ["name": .text(person.name), "age": integer(person.age)])
    }
    for folder in folders {
      try insert(
        folder, as: "Folder",
        [
          "name": .text(folder.name), "nick": text(folder.nick), "owner": Value(reference: folder.owner?.key),
          "parent": Value(reference: folder.parent?.key),
        ])
    }
    for tag in tags {
      try insert(tag, as: "Tag", ["name": .text(tag.name), "weight": .integer(Int64(tag.weight))])
    }
    let badge = Badge(badgeKey)
    badge.title = "gold"
    badge.item = items[3]
    items[3].badge = badge
    // Of the two sides of the one-to-one, the smaller (entity, name) holds the reference: Badge.item.
    try insert(badge, as: "Badge", ["title": .text("gold"), "item": Value(reference: items[3].key)])
    for item in items {
      try insert(item, as: "Item", try values(of: item))
      for tag in item.tags { try link("Item_tags", source: item.key, target: tag.key) }
    }
  }

  private func values(of item: Item) throws -> [String: Value] {
    func real(_ value: Double) -> Value { .real(value == 0 ? 0 : value) }
    let encoder = JSONEncoder()
    return [
      "name": .text(item.name), "nick": text(item.nick), "count": integer(item.count),
      "optionalCount": integer(item.optionalCount), "small": .integer(Int64(item.small)),
      "unsigned": .integer(Int64(item.unsigned)), "score": real(item.score),
      "optionalScore": item.optionalScore.map(real) ?? .null, "ratio": real(Double(item.ratio)),
      "price": .text(DecimalText.text(of: item.price)),
      "optionalPrice": text(item.optionalPrice.map(DecimalText.text(of:))),
      "date": real(item.date.timeIntervalSinceReferenceDate),
      "optionalDate": item.optionalDate.map { real($0.timeIntervalSinceReferenceDate) } ?? .null,
      "flag": .integer(item.flag ? 1 : 0), "optionalFlag": item.optionalFlag.map { .integer($0 ? 1 : 0) } ?? .null,
      "kind": .text(item.kind.rawValue), "optionalKind": text(item.optionalKind?.rawValue),
      "level": .integer(Int64(item.level.rawValue)),
      "uuid": .blob(withUnsafeBytes(of: item.uuid.uuid) { [UInt8]($0) }), "link": text(item.link?.absoluteString),
      "data": .blob([UInt8](item.data)),
      "words": .text(String(decoding: try encoder.encode(item.words), as: UTF8.self)),
      "numbers": .text(String(decoding: try encoder.encode(item.numbers), as: UTF8.self)),
      "folder": Value(reference: item.folder?.key), "order": .text(item.order),
    ]
  }

  private func fillAnimals(next: () -> UInt64) throws {
    let made: [(Animal, String, [String: Value])] = [
      (Animal(next()), "Animal", [:]), (Animal(next()), "Animal", [:]),
      (Dog(next()), "Dog", ["breed": .text("collie")]), (Dog(next()), "Dog", ["breed": .text("x")]),
      (Dog(next()), "Dog", ["breed": .text("")]),
      (Puppy(next()), "Puppy", ["breed": .text("x"), "weeks": .integer(3)]),
      (Cat(next()), "Cat", ["isTame": .integer(1)]),
    ]
    for (index, (animal, entity, values)) in made.enumerated() {
      animal.name = "animal \(index % 4)"
      if index > 3 { animal.mother = made[index - 3].0 }
      animal.mother?.young.append(animal)
      var values = values
      values["name"] = .text(animal.name)
      values["mother"] = Value(reference: animal.mother?.key)
      if case .text(let breed)? = values["breed"] { (animal as? Dog)?.breed = breed }
      (animal as? Puppy)?.weeks = values["weeks"] == nil ? nil : 3
      (animal as? Cat)?.isTame = true
      try insert(animal, as: entity, values)
      animals.append(animal)
    }
  }

  private func text(_ value: String?) -> Value { value.map { .text($0) } ?? .null }
  private func integer(_ value: Int?) -> Value { value.map { .integer(Int64($0)) } ?? .null }
}
