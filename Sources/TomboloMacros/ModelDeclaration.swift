import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// A class under `@Model`, read into what the expansions need, with every fault found on the way.
struct ModelDeclaration {
  let classDeclaration: ClassDeclSyntax
  let name: String
  let isSubclass: Bool
  /// The base class as written; nil for a root.
  let superclass: String?
  private(set) var properties: [PersistedProperty] = []
  private(set) var diagnostics: [Diagnostic] = []

  /// Persisted properties with storage of their own.
  var stored: [PersistedProperty] { properties.filter { !$0.isOverride } }

  init(_ declaration: ClassDeclSyntax, isSubclass: Bool) {
    classDeclaration = declaration
    name = declaration.name.text
    self.isSubclass = isSubclass
    superclass = isSubclass ? declaration.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription : nil
    if let parameters = declaration.genericParameterClause {
      diagnostics.append(
        ModelDiagnostic(
          "generic-class", "A model cannot be generic: write one class for each type that '\(name)' is used with."
        ).at(
          parameters, fix: "remove the generic parameters", replacing: declaration, with: declaration.withoutParameters)
      )
    }
    for case .attribute(let attribute) in declaration.attributes
    where attribute.attributeName.trimmedDescription == "MainActor" {
      diagnostics.append(
        ModelDiagnostic(
          "main-actor", "A model belongs to its context, not to an actor: remove '@MainActor' from '\(name)'."
        ).at(
          attribute, fix: "remove '@MainActor'", replacing: declaration.attributes,
          with: declaration.attributes.removing(attribute)))
    }
    for member in declaration.memberBlock.members { read(member.decl) }
    checkInitializers()
  }

  // MARK: Members

  private mutating func read(_ member: DeclSyntax) {
    if let conditional = member.as(IfConfigDeclSyntax.self) {
      checkConditional(conditional)
      return
    }
    guard let variable = member.as(VariableDeclSyntax.self) else { return }
    guard let property = Self.property(variable, index: stored.count, diagnostics: &diagnostics) else { return }
    properties.append(property)
  }

  private mutating func checkConditional(_ conditional: IfConfigDeclSyntax) {
    for clause in conditional.clauses {
      guard case .decls(let members) = clause.elements else { continue }
      for member in members {
        if let nested = member.decl.as(IfConfigDeclSyntax.self) { checkConditional(nested) }
        guard let variable = member.decl.as(VariableDeclSyntax.self), Self.isCandidate(variable) else { continue }
        diagnostics.append(
          ModelDiagnostic(
            "conditional-property",
            "A persisted property cannot stand inside '#if': every build must have one schema. Move it out, or mark it '@Transient'."
          ).at(variable, fix: "mark it '@Transient'", replacing: variable, with: variable.markedTransient))
      }
    }
  }

  private static func isCandidate(_ variable: VariableDeclSyntax) -> Bool {
    !variable.hasModifier(.static) && !variable.hasModifier(.class) && variable.isStored
      && variable.attribute("Transient") == nil
  }

  /// The persisted property that a declaration is; nil for one that is not persisted, or cannot be.
  static func property(
    _ variable: VariableDeclSyntax, index: Int, diagnostics: inout [Diagnostic]
  ) -> PersistedProperty? {
    checkTransient(variable, &diagnostics)
    guard isCandidate(variable) else { return nil }
    guard variable.attribute("_PersistedProperty") != nil || PropertyRules.accepts(variable, &diagnostics),
      let binding = variable.bindings.first, let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else { return nil }
    let defaultValue = binding.initializer?.value.trimmed
    guard let type = binding.typeAnnotation?.type ?? defaultValue.flatMap({ AttributeType.inferred(from: $0) }) else {
      diagnostics.append(PropertyRules.missingType(binding, pattern))
      return nil
    }
    let property = PersistedProperty(
      declaration: variable, name: PersistedProperty.plainName(pattern.identifier),
      spelledName: pattern.identifier.text,
      type: AttributeType(type), defaultValue: defaultValue, index: index,
      attributeArguments: variable.attribute("Attribute")?.argumentText,
      relationshipArguments: variable.attribute("Relationship")?.argumentText,
      isOverride: variable.hasModifier(.override), willSet: variable.observer(.willSet),
      didSet: variable.observer(.didSet))
    if property.isEphemeral, !property.hasDefault {
      diagnostics.append(
        ModelDiagnostic(
          "ephemeral-default",
          "An '.ephemeral' attribute needs a default value, which it has again after a fetch: write '= …'."
        ).at(pattern, fix: "add a default value", replacing: binding, with: withDefault(binding)))
    }
    return property
  }

  private static func withDefault(_ binding: PatternBindingSyntax) -> PatternBindingSyntax {
    let value = InitializerClauseSyntax(
      equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space), value: "<#value#>" as ExprSyntax,
      trailingTrivia: binding.trailingTrivia)
    return binding.with(\.trailingTrivia, []).with(\.initializer, value)
  }

  private static func checkTransient(_ variable: VariableDeclSyntax, _ diagnostics: inout [Diagnostic]) {
    guard let transient = variable.attribute("Transient"), variable.isStored else { return }
    for binding in variable.bindings where binding.initializer == nil {
      if let type = binding.typeAnnotation?.type, AttributeType(type).isOptional { continue }
      diagnostics.append(
        ModelDiagnostic(
          "transient-default",
          "A '@Transient' property needs a default value, which it has again after a fetch: write '= …'."
        ).at(transient, fix: "add a default value", replacing: binding, with: withDefault(binding)))
    }
  }

  // MARK: Initializers

  var initializers: [InitializerDeclSyntax] {
    classDeclaration.memberBlock.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
  }

  /// Initializers that a class's own stored properties go through.
  var designatedInitializers: [InitializerDeclSyntax] {
    initializers.filter { initializer in
      !initializer.modifiers.contains { $0.name.tokenKind == .keyword(.convenience) }
    }
  }

  /// Whether `init()` must be generated: our own initializer takes away the one that Swift would give.
  var needsEmptyInitializer: Bool {
    designatedInitializers.isEmpty && !isSubclass && properties.allSatisfy(\.hasDefault)
  }

  private mutating func checkInitializers() {
    guard designatedInitializers.isEmpty else { return }
    if isSubclass {
      diagnostics.append(
        ModelDiagnostic(
          "no-initializer",
          "'\(name)' needs an initializer of its own that calls 'super.init(…)': a model inherits none."
        ).at(
          classDeclaration.name, fix: "add an initializer", replacing: classDeclaration.memberBlock.members,
          with: membersWithInitializer))
    } else if let property = properties.first(where: { !$0.hasDefault }) {
      diagnostics.append(
        ModelDiagnostic(
          "no-initializer",
          "'\(name)' needs an initializer: '\(property.name)' has neither a default value nor an optional type."
        ).at(
          classDeclaration.name, fix: "add an initializer", replacing: classDeclaration.memberBlock.members,
          with: membersWithInitializer))
    }
  }

  /// Whether some initializer assigns the property while the object is not whole yet: before a property without
  /// default, or before `super.init`. Only an init accessor can serve there.
  func isAssignedEarly(_ property: PersistedProperty) -> Bool {
    let required = Set(properties.filter { !$0.hasDefault }.map(\.name))
    return designatedInitializers.contains { initializer in
      guard let body = initializer.body else { return false }
      let order = AssignmentOrder(viewMode: .sourceAccurate)
      order.walk(body)
      return order.assigns(property.name, beforeAnyOf: required.subtracting([property.name]))
    }
  }

  /// Whether every initializer assigns the property when the object is whole: then the setter can be called, which keeps
  /// the other side of a relationship in step at once. An init accessor could not: it has no object yet.
  func isAssignedLast(_ property: PersistedProperty) -> Bool {
    guard !designatedInitializers.isEmpty, !isAssignedEarly(property) else { return false }
    return designatedInitializers.allSatisfy { initializer in
      guard let body = initializer.body else { return false }
      return body.statements.contains { statement in
        // Only at the top level: in a branch it might not be assigned at all.
        guard let sequence = statement.item.as(SequenceExprSyntax.self) else { return false }
        let order = AssignmentOrder(viewMode: .sourceAccurate)
        order.walk(sequence)
        return order.assigns(property.name)
      }
    }
  }

  // MARK: Access

  /// The class's access level as generated members have to spell it, with a trailing space; empty for internal.
  var access: String {
    for modifier in classDeclaration.modifiers {
      switch modifier.name.tokenKind {
      case .keyword(.open), .keyword(.public): return "public "
      case .keyword(.package): return "package "
      default: continue
      }
    }
    return ""
  }

  /// The same for members that a subclass overrides.
  var overridableAccess: String {
    classDeclaration.modifiers.contains { $0.name.tokenKind == .keyword(.open) } ? "open " : access
  }
}

/// The order in which an initializer assigns properties and calls `super.init`.
private final class AssignmentOrder: SyntaxVisitor {
  private var names: [String] = []
  private static let superInit = "super.init"

  override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
    let elements = Array(node.elements)
    if elements.count > 1, elements[1].is(AssignmentExprSyntax.self) {
      if let member = elements[0].as(MemberAccessExprSyntax.self), member.base?.trimmedDescription == "self" {
        names.append(PersistedProperty.plainName(member.declName.baseName))
      } else if let reference = elements[0].as(DeclReferenceExprSyntax.self) {
        names.append(PersistedProperty.plainName(reference.baseName))
      }
    }
    return .visitChildren
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    if node.calledExpression.trimmedDescription == Self.superInit { names.append(Self.superInit) }
    return .visitChildren
  }

  func assigns(_ name: String) -> Bool { names.contains(name) }

  func assigns(_ name: String, beforeAnyOf required: Set<String>) -> Bool {
    guard let first = names.firstIndex(of: name) else { return false }
    return names[(first + 1)...].contains { required.contains($0) || $0 == Self.superInit }
  }
}
