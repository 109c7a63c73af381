import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Attribute`, `@Relationship` and `@Transient` add nothing by themselves: `@Model` reads them.
struct AttributeMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    checkProperty(declaration, node, in: context)
    return []
  }
}

/// See ``AttributeMacro``.
struct RelationshipMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    checkProperty(declaration, node, in: context)
    return []
  }
}

/// See ``AttributeMacro``.
struct TransientMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    checkProperty(declaration, node, in: context)
    return []
  }
}

private func checkProperty(
  _ declaration: some DeclSyntaxProtocol, _ node: AttributeSyntax, in context: some MacroExpansionContext
) {
  let name = node.attributeName.trimmedDescription
  guard let variable = declaration.as(VariableDeclSyntax.self) else {
    context.diagnose(
      ModelDiagnostic("not-a-property", "'@\(name)' belongs on a stored property of a model.").at(node))
    return
  }
  if !variable.isStored, name != "Transient" {
    context.diagnose(
      ModelDiagnostic("computed-property", "'@\(name)' has no meaning on a computed property: remove it.").at(node))
  }
}

/// `#Unique` expands to nothing: `@Model` copies its arguments into the schema's description.
struct UniqueMacro: DeclarationMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}

/// `#Index` expands to nothing: `@Model` copies its arguments into the schema's description.
struct IndexMacro: DeclarationMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}
