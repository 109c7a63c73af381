import Testing
import Tombolo
import TomboloProtocol

@testable import TomboloSimulation

@Suite("What the generator may do with a schema")
struct RolesTests {
  @Test("The sample schema is valid and has every merge rule in it")
  func sample() throws {
    let document = SchemaDocument.simulationSample
    #expect(SchemaValidation.problems(in: document).map { "\($0)" } == [])
    #expect(SchemaLint.check(document, rules: .tombolo).filter(\.isError).map { "\($0)" } == [])
    let attributes = document.entities.flatMap(\.attributes)
    #expect(Set(attributes.map(\.merge)) == Set(MergePolicy.allCases))
    let relationships = document.entities.flatMap(\.relationships)
    #expect(Set(relationships.map(\.deleteRule)).isSuperset(of: [.nullify, .cascade, .deny]))
    #expect(relationships.contains { $0.isAcyclic })
    #expect(Set(document.entities.flatMap(\.unique).map(\.onConflict)) == [.merge, .reject])
    #expect(Set(document.entities.map(\.concurrentDelete)) == Set(DeletePolicy.allCases))
    let resolved = ResolvedSchema(document)
    #expect(!resolved.links.isEmpty)
    #expect(resolved.entity("Badge")?.references.contains { $0.isOneToOne } == true)
  }
}
