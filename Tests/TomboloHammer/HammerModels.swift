import SwiftData

enum HammerV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Cell.self, Half.self, Item.self] }
}

/// A record of which each process owns one column, and the other replica the last.
@Model
final class Cell {
  @Attribute(.unique) var name: String
  var first = 0
  var second = 0
  var third = 0
  var fourth = 0
  var elsewhere = 0

  init(name: String) { self.name = name }

  static var columns: [ReferenceWritableKeyPath<Cell, Int>] {
    [\.first, \.second, \.third, \.fourth, \.elsewhere]
  }
}

/// One of the two halves of a process; a save always writes the same value to both.
@Model
final class Half {
  var owner: Int
  var value = 0

  init(owner: Int) { self.owner = owner }
}

/// One of the three items of a batch, which come and go together.
@Model
final class Item {
  var batch: String
  var position: Int

  init(batch: String, position: Int) {
    self.batch = batch
    self.position = position
  }
}
