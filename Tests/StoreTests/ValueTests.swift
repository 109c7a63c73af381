import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite

@Suite("Values at the edge")
struct ValueTests {
  @Test("NaN is refused with its name, before anything is written (C19)", arguments: ["number", "required"])
  func notANumber(property: String) throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      do {
        try store.insert("Sample", [property: .real(.nan)])
        Issue.record("NaN was taken")
      } catch let error as TomboloError {
        #expect(error.code == .notANumber)
        #expect(error.details.first?.property == property)
      }
      let id = try store.insert("Sample", [:])
      #expect(StoreFixture.code { try store.set("Sample", id, [property: .real(.nan)]) } == .notANumber)
      #expect(try store.changes().count == 1)
    }
  }

  @Test("Infinity, extremes and empty values come back as they were (C19, C87, C88)")
  func extremes() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      for value in [Double.infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude] {
        let id = try store.insert("Sample", ["number": .real(value)])
        #expect(try store.values("Sample", id)?["number"] == .real(value))
      }
      for value in [Int64.min, -1, .max] {
        let id = try store.insert("Sample", ["count": .integer(value)])
        #expect(try store.values("Sample", id)?["count"] == .integer(value))
      }
      let empty = try store.insert("Sample", ["bytes": .blob([])])
      #expect(try store.values("Sample", empty)?["bytes"] == .blob([]))
      let none = try store.insert("Sample", [:])
      #expect(try store.values("Sample", none)?["bytes"] == .null)
      let zero = try store.insert("Sample", ["number": .real(-0.0)])
      #expect(try store.values("Sample", zero)?["number"] == .real(0))
    }
  }

  @Test("A required attribute without a value is refused with its name")
  func required() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      for (entity, property) in [("Note", "title"), ("Dog", "tricks"), ("Sample", "required")] {
        do {
          try store.insert(entity, [property: .null])
          Issue.record("null was taken")
        } catch let error as TomboloError {
          #expect(error.code == .requiredAttribute)
          #expect(error.details.first?.property == property)
        }
      }
    }
  }

  @Test("A value of another type is refused, and infinity and text in a number's place are told apart")
  func wrongType() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      #expect(StoreFixture.code { try store.insert("Sample", ["count": .text("many")]) } == .wrongType)
      #expect(StoreFixture.code { try store.insert("Note", ["title": .blob([1])]) } == .wrongType)
      let id = try store.insert("Sample", [:])
      #expect(StoreFixture.code { try store.set("Sample", id, ["bytes": .text("x")]) } == .wrongType)
      #expect(try store.count("Sample") == 1)
    }
  }

  @Test("Identities rise within a process, whatever the clock does")
  func identities() throws {
    try StoreFixture.run { fixture in
      let store = try fixture.memory(TestSchemas.library())
      var last = store.makeRecordID()
      for _ in 0..<10_000 {
        let next = store.makeRecordID()
        #expect(next > last)
        last = next
      }
      #expect(last.high >> 12 & 0xF == 7)
      #expect(last.low >> 62 == 2)
    }
  }
}
