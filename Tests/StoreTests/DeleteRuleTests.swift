import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("Delete rules (C59)")
struct DeleteRuleTests {
  private func noteIn(_ store: Store) throws -> (folder: RecordID, note: RecordID) {
    let folder = try store.insert("Folder", ["name": .text("f")])
    return (folder, try store.insert("Note", ["title": .text("n"), "folder": Value(reference: folder)]))
  }

  @Test("Nullify clears the reference and records it, as a consequence")
  func nullify() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library(rule: .nullify))
      let (folder, note) = try noteIn(store)
      let outcome = try store.delete("Folder", folder)
      #expect(outcome.touched.map(\.id) == [note])
      #expect(try store.values("Note", note)?["folder"] == .null)
      let changes = try store.changes().suffix(2)
      #expect(
        changes.contains { change in
          if case .update(let detail) = change.detail {
            detail.fields.contains { $0.isConsequence && $0.under == Value(reference: folder) }
          } else {
            false
          }
        })
    }
  }

  @Test("With a remote, a nullified reference is kept aside with its stamp, and an explicit write ends that")
  func hidden() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library(rule: .nullify))
      try store.beginStamps()
      let (folder, note) = try noteIn(store)
      let written = try #require(try store.stamps("Note", note)).stamp(of: store.number("Note", "folder"))
      try store.delete("Folder", folder)
      #expect(try store.integer("SELECT count(*) FROM _tombolo_hidden") == 1)
      #expect(try store.stamps("Note", note)?.stamp(of: store.number("Note", "folder")) == written.consequence)
      let other = try store.insert("Folder", [:])
      try store.set("Note", note, ["folder": Value(reference: other)])
      #expect(try store.integer("SELECT count(*) FROM _tombolo_hidden") == 0)
    }
  }

  @Test("Cascade deletes and records every child, however deep, and cycles end (C03, C32)")
  func cascade() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library(rule: .cascade))
      let (folder, note) = try noteIn(store)
      #expect(Set(try store.delete("Folder", folder).deleted.map(\.id)) == [folder, note])
      var nodes = [try store.insert("Node", [:])]
      for _ in 0..<50 { nodes.append(try store.insert("Node", ["parent": Value(reference: nodes.last)])) }
      try store.set("Node", nodes[0], ["parent": Value(reference: nodes.last)])
      let before = try store.changes().count
      #expect(try store.delete("Node", nodes[20]).deleted.count == 51)
      #expect(try store.count("Node") == 0)
      #expect(try store.changes().count == before + 51)
    }
  }

  @Test("Deny refuses and names the relationship, unless the child goes or moves in the same save")
  func deny() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library(rule: .deny))
      let (folder, note) = try noteIn(store)
      let other = try store.insert("Folder", [:])
      do {
        try store.delete("Folder", folder)
        Issue.record("the delete was taken")
      } catch let error as TomboloError {
        #expect(error.code == .deleteDenied)
        #expect(error.details.first?.property == "notes")
      }
      #expect(try store.count("Folder") == 2)
      let folders = try store.plan("Folder")
      let notes = try store.plan("Note")
      try store.save { writer in
        try writer.delete(folders, folder)
        let moved = try ValueRow(notes, ["folder": Value(reference: other)])
        try writer.update(notes, note, changed: moved.assigned, from: moved)
      }
      try store.save { writer in
        try writer.delete(folders, other)
        try writer.delete(notes, note)
      }
      #expect(try store.count("Folder") == 0)
    }
  }

  @Test("No action leaves the reference as it is")
  func noAction() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library(rule: .noAction))
      let (folder, note) = try noteIn(store)
      try store.delete("Folder", folder)
      #expect(try store.values("Note", note)?["folder"] == Value(reference: folder))
    }
  }

  @Test("Nullify of a required reference is refused, unless the holder goes in the same save")
  func required() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library(rule: .nullify, requiresFolder: true))
      #expect(StoreFixture.code { try store.insert("Note", [:]) } == .requiredReference)
      let (folder, note) = try noteIn(store)
      #expect(StoreFixture.code { try store.delete("Folder", folder) } == .requiredReference)
      #expect(try store.count("Folder") == 1)
      let folders = try store.plan("Folder")
      let notes = try store.plan("Note")
      try store.save { writer in
        try writer.delete(folders, folder)
        try writer.delete(notes, note)
      }
      #expect(try store.count("Note") == 0)
    }
  }

  @Test("Pairs go with either record, also where the other side knows nothing of them", arguments: DeleteRule.allCases)
  func links(rule: DeleteRule) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library(tagRule: rule))
      let tag = try store.insert("Tag", [:])
      let note = try store.insert("Note", [:])
      let person = try store.insert("Person", [:])
      let notes = try #require(try store.plan("Note").links.first)
      let people = try #require(try store.plan("Person").links.first)
      try store.save { writer in
        try writer.link(notes, note, tag)
        try writer.link(people, person, tag)
      }
      if rule == .deny {
        #expect(StoreFixture.code { try store.delete("Tag", tag) } == .deleteDenied)
        return
      }
      let outcome = try store.delete("Tag", tag)
      #expect(outcome.deleted.count == (rule == .cascade ? 2 : 1))
      #expect(try store.integer("SELECT count(*) FROM Note_tags") == 0)
      #expect(try store.integer("SELECT count(*) FROM Person_tags") == 0)
      #expect(try store.count("Person") == 1)
    }
  }
}
