import SwiftData
import Testing
import TomboloProtocol

@Suite("Schemas of models")
struct SchemaTests {
  @Test("A schema has every reachable model, with types, options, defaults and inverses")
  func document() throws {
    let document = Schema(Folder.self, Sample.self).document
    #expect(document.entities.map(\.name) == ["Folder", "Note", "Sample", "Tag"])
    #expect(document.version == nil)
    let folder = document.entities[0]
    #expect(folder.unique.map(\.attributes) == [["name"]])
    #expect(folder.relationships.map(\.inverse) == ["folder"])
    #expect(folder.relationships.map(\.deleteRule) == [.cascade])
    let sample = document.entities[2]
    let types = Dictionary(uniqueKeysWithValues: sample.attributes.map { ($0.name, $0) })
    #expect(types["scratch"] == nil)
    #expect(types["identifier"]?.defaultValue == .generatedUUID)
    #expect(types["genre"]?.type == .string)
    #expect(types["genre"]?.defaultValue == .constant(.text("novel")))
    #expect(types["genre"]?.cases == [.text("novel"), .text("poems"), .text("essays")])
    #expect(types["measure"]?.type == .codable)
    #expect(types["measure"]?.isOptional == true)
    #expect(types["int8"]?.type == .int8)
    #expect(types["words"]?.defaultValue == .constant(.text("[]")))
  }

  @Test("The inverse may be named on either side")
  func inverses() {
    let document = Schema(Person.self).document
    let person = document.entities.first { $0.name == "Person" }
    let passport = document.entities.first { $0.name == "Passport" }
    #expect(person?.relationships.map(\.inverse) == ["person", "holder"])
    #expect(passport?.relationships.map(\.inverse) == ["passport"])
  }

  @Test("A subclass lists only its own properties, and names its base")
  func subclass() {
    let document = Schema(Puppy.self).document
    #expect(document.entities.map(\.name) == ["Animal", "Dog", "Keeper", "Puppy"])
    #expect(document.entities.map(\.superentity) == [nil, "Animal", nil, "Dog"])
    #expect(document.entities[3].attributes.map(\.name) == ["weeks"])
  }
}
