import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ModelActor`: gives an actor its container, its executor, and an initializer.
struct ModelActorMacro {}

extension ModelActorMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let actor = declaration.as(ActorDeclSyntax.self) else {
      diagnoseKind(declaration, node, in: context)
      return []
    }
    let access = access(of: actor)
    let variables = actor.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
    let names = variables.flatMap { $0.bindings.map { $0.pattern.trimmedDescription } }
    var members: [DeclSyntax] = []
    if !names.contains("modelExecutor") {
      members.append("nonisolated \(raw: access)let modelExecutor: any ModelExecutor")
    }
    if !names.contains("modelContainer") {
      members.append("nonisolated \(raw: access)let modelContainer: ModelContainer")
    }
    if members.count == 2, !hasInitializer(actor), variables.allSatisfy(isInitialized) {
      members.append(
        """
        \(raw: access)init(modelContainer: ModelContainer) {
          let modelContext = ModelContext(modelContainer)
          self.modelExecutor = DefaultSerialModelExecutor(modelContext: modelContext)
          self.modelContainer = modelContainer
        }
        """)
    }
    return members
  }

  private static func access(of actor: ActorDeclSyntax) -> String {
    for modifier in actor.modifiers {
      switch modifier.name.tokenKind {
      case .keyword(.public): return "public "
      case .keyword(.package): return "package "
      default: continue
      }
    }
    return ""
  }

  /// Whether the actor has the initializer that would be generated.
  private static func hasInitializer(_ actor: ActorDeclSyntax) -> Bool {
    actor.memberBlock.members.contains { member in
      guard let initializer = member.decl.as(InitializerDeclSyntax.self) else { return false }
      let parameters = initializer.signature.parameterClause.parameters
      return parameters.count == 1 && parameters.first?.firstName.text == "modelContainer"
    }
  }

  /// Whether a generated initializer may leave the property alone.
  private static func isInitialized(_ variable: VariableDeclSyntax) -> Bool {
    if variable.hasModifier(.static) || !variable.isStored || variable.hasModifier(.lazy) { return true }
    return variable.bindings.allSatisfy { binding in
      if binding.initializer != nil { return true }
      guard variable.bindingSpecifier.tokenKind == .keyword(.var), let type = binding.typeAnnotation?.type else {
        return false
      }
      return AttributeType(type).isOptional
    }
  }

  private static func diagnoseKind(
    _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax, in context: some MacroExpansionContext
  ) {
    let message = ModelDiagnostic(
      "not-an-actor", "'@ModelActor' can only be on an actor: it gives the actor a model context of its own.")
    var keyword: TokenSyntax?
    if let type = declaration.as(ClassDeclSyntax.self) { keyword = type.classKeyword }
    if let type = declaration.as(StructDeclSyntax.self) { keyword = type.structKeyword }
    guard let keyword else {
      context.diagnose(message.at(node))
      return
    }
    context.diagnose(
      message.at(
        node, fix: "replace '\(keyword.text)' with 'actor'", replacing: keyword,
        with: keyword.with(\.tokenKind, .keyword(.actor))))
  }
}

extension ModelActorMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard declaration.is(ActorDeclSyntax.self), !protocols.isEmpty else { return [] }
    return [try ExtensionDeclSyntax("extension \(type.trimmed): ModelActor {}")]
  }
}
