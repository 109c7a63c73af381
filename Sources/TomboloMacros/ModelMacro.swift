import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: turns a class's stored properties into persisted ones, and the class into a `PersistentModel`.
struct ModelMacro {}

extension ModelMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let classDeclaration = declaration.as(ClassDeclSyntax.self) else {
      diagnoseKind(declaration, node, in: context)
      return []
    }
    // The list has what is still missing: nothing, where a base class is a model already.
    let model = ModelDeclaration(classDeclaration, isSubclass: protocols.isEmpty)
    for diagnostic in model.diagnostics { context.diagnose(diagnostic) }
    return ModelMembers(model).declarations
  }

  private static func diagnoseKind(
    _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax, in context: some MacroExpansionContext
  ) {
    let message = ModelDiagnostic(
      "not-a-class", "'@Model' can only be on a class: a record has an identity, which a value has not.")
    if let structure = declaration.as(StructDeclSyntax.self) {
      context.diagnose(
        message.at(
          node, fix: "replace 'struct' with 'final class'", replacing: structure.structKeyword,
          with: TokenSyntax.identifier(
            "final class", leadingTrivia: structure.structKeyword.leadingTrivia,
            trailingTrivia: structure.structKeyword.trailingTrivia)))
    } else {
      context.diagnose(message.at(node))
    }
  }
}

extension ModelMacro: MemberAttributeMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard let classDeclaration = declaration.as(ClassDeclSyntax.self),
      let variable = member.as(VariableDeclSyntax.self), variable.attribute("_PersistedProperty") == nil,
      let name = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier
    else { return [] }
    let model = ModelDeclaration(classDeclaration, isSubclass: false)
    let plainName = PersistedProperty.plainName(name)
    guard let property = model.stored.first(where: { $0.name == plainName }) else { return [] }
    var arguments = "\"\(model.name)\", \(property.index)"
    let waits =
      property.isMadeLate
      ? !model.isAssignedEarly(property)
      : !property.type.isPlain && !property.hasDefault && model.isAssignedLast(property)
    if waits { arguments += ", initializes: false" }
    return ["@_PersistedProperty(\(raw: arguments))"]
  }
}

extension ModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard declaration.is(ClassDeclSyntax.self) else { return [] }
    var extensions: [ExtensionDeclSyntax] = []
    let missing = protocols.map(\.trimmedDescription)
    if missing.contains(where: { $0.hasSuffix("PersistentModel") }) {
      extensions.append(
        try ExtensionDeclSyntax("nonisolated extension \(type.trimmed): PersistentModel {}"))
    }
    if missing.contains(where: { $0.hasSuffix("Sendable") }) {
      let message = "A model belongs to its context: hand its persistentModelID to the other task and fetch it there."
      extensions.append(
        try ExtensionDeclSyntax(
          """
          @available(*, unavailable, message: "\(raw: message)")
          extension \(type.trimmed): @unchecked Sendable {
            // Unavailable: nothing has to be guarded.
          }
          """))
    }
    return extensions
  }
}
