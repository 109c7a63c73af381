import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// A macro that adds nothing by itself: `@Model` reads it. It only says where it does not belong.
protocol PropertyMarker: PeerMacro {}

extension PropertyMarker {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    checkProperty(declaration, node, in: context)
    return []
  }
}

struct AttributeMacro: PropertyMarker {}
struct RelationshipMacro: PropertyMarker {}
struct TransientMacro: PropertyMarker {}

private func checkProperty(
  _ declaration: some DeclSyntaxProtocol, _ node: AttributeSyntax, in context: some MacroExpansionContext
) {
  let name = node.attributeName.trimmedDescription
  guard let variable = declaration.as(VariableDeclSyntax.self) else {
    let fault = ModelDiagnostic("not-a-property", "'@\(name)' belongs on a stored property of a model: remove it here.")
    if let marked = Syntax(declaration).asProtocol((any SyntaxProtocol).self) as? any WithAttributesSyntax {
      context.diagnose(
        fault.at(
          node, fix: "remove '@\(name)'", replacing: marked, with: marked.removing(node)))
    } else {
      context.diagnose(fault.at(node))
    }
    return
  }
  if !variable.isStored, name != "Transient" {
    context.diagnose(
      ModelDiagnostic("computed-property", "'@\(name)' has no meaning on a computed property: remove it.")
        .at(node, fix: "remove '@\(name)'", replacing: variable, with: variable.removing(node)))
  }
  if name == "Relationship", let type = variable.bindings.first?.typeAnnotation?.type, AttributeType(type).isPlain {
    var attribute: AttributeSyntax = "@Attribute"
    attribute.leadingTrivia = node.leadingTrivia
    attribute.trailingTrivia = node.trailingTrivia
    context.diagnose(
      ModelDiagnostic(
        "relationship-of-value",
        "'@Relationship' belongs on a property whose type is a model, and '\(type.trimmedDescription)' is a value: write '@Attribute'."
      ).at(node, fix: "replace '@Relationship' with '@Attribute'", replacing: node, with: attribute))
  }
}

/// A macro that expands to nothing: `@Model` copies its arguments into the schema's description.
protocol SchemaMarker: DeclarationMacro {}

extension SchemaMarker {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}

struct UniqueMacro: SchemaMarker {}
struct IndexMacro: SchemaMarker {}
