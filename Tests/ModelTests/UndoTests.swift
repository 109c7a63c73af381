import SwiftData
import Testing

@Suite("Undo")
struct UndoTests {
  /// A context that undoes, and what it has saved: a folder with two notes, the first one tagged.
  private struct Desk {
    let context: ModelContext
    let manager = UndoManager()
    let folder = Folder(name: "a")
    let one = Note(text: "one")
    let two = Note(text: "two")
    let tag = Tag(name: "t")

    init() throws {
      context = ModelContext(try makeContainer())
      context.insert(folder)
      folder.notes = [one, two]
      one.tags = [tag]
      try context.save()
      context.undoManager = manager
    }
    func step(_ body: () throws -> Void) rethrows {
      try body()
      context.processPendingChanges()
    }
  }

  @Test("An attribute goes back and forth, a step at a time")
  func attributes() throws {
    let desk = try Desk()
    desk.step { desk.folder.name = "b" }
    desk.step {
      desk.folder.name = "c"
      desk.one.position = 4
    }
    #expect(desk.manager.undoCount == 2)
    desk.manager.undo()
    #expect((desk.folder.name, desk.one.position) == ("b", 0))
    desk.manager.undo()
    #expect(desk.folder.name == "a")
    #expect(!desk.manager.canUndo)
    desk.manager.redo()
    desk.manager.redo()
    #expect((desk.folder.name, desk.one.position) == ("c", 4))
    try desk.context.save()
    desk.manager.undo()
    try desk.context.save()
    #expect(try ModelContext(desk.context.container).fetch(FetchDescriptor<Folder>()).map(\.name) == ["b"])
  }

  @Test("A note that moved goes back, and both sides show it")
  func toOne() throws {
    let desk = try Desk()
    let other = Folder(name: "other")
    desk.step { other.notes.append(desk.one) }
    #expect(desk.one.folder === other)
    desk.manager.undo()
    #expect(desk.one.folder === desk.folder)
    #expect(Set(desk.folder.notes.map(\.text)) == ["one", "two"])
    #expect(other.notes.isEmpty)
    desk.manager.redo()
    #expect(desk.one.folder === other)
    #expect(desk.folder.notes.map(\.text) == ["two"])
  }

  @Test("A one-to-one that took its partner from another gives it back")
  func oneToOne() throws {
    let desk = try Desk()
    let (ada, bo, passport) = (Person(email: "a", name: "Ada"), Person(email: "b", name: "Bo"), Passport(code: "p"))
    ada.passport = passport
    desk.context.insert(ada)
    desk.context.insert(bo)
    try desk.context.save()
    desk.step { bo.passport = passport }
    #expect(ada.passport == nil)
    desk.manager.undo()
    #expect(ada.passport === passport)
    #expect(bo.passport == nil)
    #expect(passport.holder === ada)
    desk.manager.redo()
    #expect(bo.passport === passport)
    #expect(ada.passport == nil)
  }

  @Test("Many-to-many links go back and forth on both sides")
  func manyToMany() throws {
    let desk = try Desk()
    desk.step { desk.two.tags.append(desk.tag) }
    desk.step { desk.tag.notes = [] }
    #expect(desk.one.tags.isEmpty && desk.two.tags.isEmpty)
    desk.manager.undo()
    #expect(Set(desk.tag.notes.map(\.text)) == ["one", "two"])
    #expect(desk.one.tags.map(\.name) == ["t"])
    desk.manager.undo()
    #expect(desk.tag.notes.map(\.text) == ["one"])
    #expect(desk.two.tags.isEmpty)
    desk.manager.redo()
    #expect(desk.two.tags.map(\.name) == ["t"])
    try desk.context.save()
    let stored = try ModelContext(desk.context.container).fetch(FetchDescriptor<Tag>())
    #expect(Set(stored.flatMap(\.notes).map(\.text)) == ["one", "two"])
  }

  @Test("Insertions and deletions are undone, before a save and after it")
  func insertionsAndDeletions() throws {
    let desk = try Desk()
    let fresh = Note(text: "fresh")
    desk.step { desk.folder.notes.append(fresh) }
    desk.manager.undo()
    #expect(fresh.modelContext == nil)
    #expect(desk.folder.notes.count == 2)
    desk.manager.redo()
    #expect(fresh.modelContext === desk.context)
    #expect(fresh.folder === desk.folder)
    try desk.context.save()
    desk.step { desk.context.delete(fresh) }
    desk.manager.undo()
    #expect(!fresh.isDeleted)
    desk.manager.redo()
    try desk.context.save()
    #expect(fresh.isDeleted)
    desk.manager.undo()
    try desk.context.save()
    let texts = try ModelContext(desk.context.container).fetch(FetchDescriptor<Note>()).map(\.text)
    #expect(Set(texts) == ["one", "two", "fresh"])
  }

  @Test(
    "What a deletion took away or cut comes back with its undo, also after a save and in a context that had read nothing"
  )
  func deletionsAfterSave() throws {
    let desk = try Desk()
    let (ada, order, passport) = (Person(email: "a", name: "Ada"), Order(number: 1), Passport(code: "p"))
    desk.context.insert(ada)
    ada.orders = [order]
    ada.passport = passport
    try desk.context.save()
    let context = ModelContext(desk.context.container)
    let manager = UndoManager()
    context.undoManager = manager
    func only<Model: PersistentModel>(_ type: Model.Type) throws -> Model {
      try #require(try context.fetch(FetchDescriptor<Model>()).first)
    }
    // One cascades, one cuts to-ones, one cuts links.
    let (folder, person, tag) = (try only(Folder.self), try only(Person.self), try only(Tag.self))
    for object: any PersistentModel in [folder, person, tag] {
      context.delete(object)
      try context.save()
      manager.undo()
      try context.save()
    }
    for reader in [context, ModelContext(context.container)] {
      let folders = try reader.fetch(FetchDescriptor<Folder>())
      #expect(Set(folders.flatMap(\.notes).map(\.text)) == ["one", "two"])
      #expect(try reader.fetch(FetchDescriptor<Tag>()).flatMap(\.notes).map(\.text) == ["one"])
      #expect(try reader.fetch(FetchDescriptor<Note>()).flatMap(\.tags).map(\.name) == ["t"])
      let people = try reader.fetch(FetchDescriptor<Person>())
      #expect(people.flatMap(\.orders).map(\.number) == [1])
      #expect(people.map(\.passport?.code) == ["p"])
      #expect(try reader.fetch(FetchDescriptor<Order>()).map(\.person?.name) == ["Ada"])
    }
  }

  @Test("What another object has taken meanwhile stays with it when an object is inserted again")
  func takenMeanwhile() throws {
    let desk = try Desk()
    let other = Folder(name: "other")
    desk.context.insert(other)
    let person = Person(email: "a", name: "Ada")
    let order = Order(number: 1, person: person)
    desk.context.insert(order)
    try desk.context.save()
    desk.context.delete(person)
    try desk.context.save()
    #expect(order.person == nil)
    let bo = Person(email: "b", name: "Bo")
    order.person = bo
    try desk.context.save()
    desk.context.insert(person)
    try desk.context.save()
    #expect(order.person === bo)
    #expect(person.orders.isEmpty)
    #expect(bo.orders == [order])
  }

  @Test("rollback forgets what was registered; a context without an undo manager registers nothing")
  func rollback() throws {
    let desk = try Desk()
    desk.step { desk.folder.name = "b" }
    desk.context.rollback()
    #expect(!desk.manager.canUndo)
    desk.context.undoManager = nil
    desk.step { desk.folder.name = "c" }
    #expect(!desk.manager.canUndo)
  }

  @Test("UndoManager: groups inside groups, names, levels, registration switched off, a redo lost to a change")
  func manager() {
    final class Box { var value = 0 }
    let (manager, box) = (UndoManager(), Box())
    func set(_ value: Int) {
      let old = box.value
      manager.registerUndo(withTarget: box) { _ in set(old) }
      box.value = value
    }
    manager.groupsByEvent = false
    manager.beginUndoGrouping()
    set(1)
    manager.beginUndoGrouping()
    set(2)
    manager.endUndoGrouping()
    manager.setActionName("Counting")
    manager.endUndoGrouping()
    #expect(manager.undoMenuItemTitle == "Undo Counting")
    manager.undo()
    #expect(box.value == 0)
    #expect(manager.redoActionName == "Counting")
    manager.redo()
    #expect(box.value == 2)
    manager.undo()
    manager.disableUndoRegistration()
    set(5)
    #expect(!manager.canUndo && manager.canRedo)
    manager.enableUndoRegistration()
    manager.beginUndoGrouping()
    set(6)
    manager.endUndoGrouping()
    #expect(manager.canUndo && !manager.canRedo)
    manager.levelsOfUndo = 2
    for value in 7...9 {
      manager.beginUndoGrouping()
      set(value)
      manager.endUndoGrouping()
    }
    #expect(manager.undoCount == 2)
    manager.undo()
    #expect(box.value == 8)
    manager.removeAllActions(withTarget: box)
    #expect(!manager.canUndo && !manager.canRedo)
  }

  @Test("UndoManager: ending what was not begun stops the program with a sentence")
  func misuse() async {
    await #expect(processExitsWith: .failure) { UndoManager().endUndoGrouping() }
    await #expect(processExitsWith: .failure) { UndoManager().enableUndoRegistration() }
  }
}
