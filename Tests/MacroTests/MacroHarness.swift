import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

@testable import TomboloMacros

/// What the macros make of a piece of source: the expanded text, and what they say.
struct Expansion {
  let text: String
  let diagnostics: [Diagnostic]

  /// - Parameter isSubclass: whether the class's base is a model, which the compiler would tell the macro.
  init(_ source: String, isSubclass: Bool = false) {
    let macros: [String: any Macro.Type] = [
      "Model": ModelMacro.self, "_PersistedProperty": PersistedPropertyMacro.self, "Attribute": AttributeMacro.self,
      "Relationship": RelationshipMacro.self, "Transient": TransientMacro.self, "Unique": UniqueMacro.self,
      "Index": IndexMacro.self, "ModelActor": ModelActorMacro.self,
    ]
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "Test.swift")])
    let missing: [TypeSyntax] = isSubclass ? [] : ["PersistentModel", "Sendable"]
    let specs = macros.mapValues { MacroSpec(type: $0, conformances: missing) }
    let expanded = file.expand(
      macroSpecs: specs,
      contextGenerator: {
        BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
      })
    text = expanded.description
    diagnostics = context.diagnostics
  }

  var identifiers: [String] {
    diagnostics.compactMap { ($0.diagMessage as? ModelDiagnostic)?.identifier }
  }
}
