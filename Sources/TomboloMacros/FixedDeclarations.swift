import SwiftSyntax
import SwiftSyntaxBuilder

// What the fix-its write instead of a declaration.

extension VariableDeclSyntax {
  /// The property with `@Transient` in front.
  var markedTransient: VariableDeclSyntax {
    var transient: AttributeSyntax = "@Transient"
    transient.leadingTrivia = leadingTrivia
    transient.trailingTrivia = .space
    var property = with(\.leadingTrivia, [])
    property.attributes = AttributeListSyntax([.attribute(transient)] + Array(property.attributes))
    return property
  }

  /// The list of members in which each of the bindings is a property of its own; nil for what stands in no list.
  var separated: (list: MemberBlockItemListSyntax, separated: MemberBlockItemListSyntax)? {
    guard let item = parent?.as(MemberBlockItemSyntax.self), let list = item.parent?.as(MemberBlockItemListSyntax.self)
    else { return nil }
    var following: TypeAnnotationSyntax?
    var properties: [MemberBlockItemSyntax] = []
    for binding in bindings.reversed() {
      // In `var a, b: Int` the type is that of both.
      following = binding.typeAnnotation ?? (binding.initializer == nil ? following : nil)
      let own = binding.with(\.trailingComma, nil).with(\.typeAnnotation, following).with(\.trailingTrivia, [])
      properties.insert(item.with(\.decl, DeclSyntax(with(\.bindings, [own]))), at: 0)
    }
    return (list, Self.replacing(item, in: list, by: properties))
  }

  /// The list of members in which each name of the tuple pattern is a property of its own; nil where there is none.
  var withoutTuplePattern: (list: MemberBlockItemListSyntax, separated: MemberBlockItemListSyntax)? {
    guard let item = parent?.as(MemberBlockItemSyntax.self), let list = item.parent?.as(MemberBlockItemListSyntax.self),
      let binding = bindings.first, let pattern = binding.pattern.as(TuplePatternSyntax.self)
    else { return nil }
    let parts = Self.parts(
      of: pattern, type: binding.typeAnnotation?.type.trimmed, value: binding.initializer?.value.trimmed)
    guard !parts.isEmpty else { return nil }
    let properties = parts.map { part in item.with(\.decl, DeclSyntax(with(\.bindings, [part]))) }
    return (list, Self.replacing(item, in: list, by: properties))
  }

  private static func replacing(
    _ item: MemberBlockItemSyntax, in list: MemberBlockItemListSyntax, by properties: [MemberBlockItemSyntax]
  ) -> MemberBlockItemListSyntax {
    var properties = properties
    for index in properties.indices.dropFirst() { properties[index].leadingTrivia = .newline }
    return MemberBlockItemListSyntax(list.flatMap { $0.id == item.id ? properties : [$0] })
  }

  /// One binding for each name in a tuple pattern, with its share of the type and of the value.
  private static func parts(
    of pattern: TuplePatternSyntax, type: TypeSyntax?, value: ExprSyntax?
  ) -> [PatternBindingSyntax] {
    let names = Array(pattern.elements)
    let types = type?.as(TupleTypeSyntax.self).map { $0.elements.map(\.type.trimmed) }
    let values = value?.as(TupleExprSyntax.self).map { $0.elements.map(\.expression.trimmed) }
    var parts: [PatternBindingSyntax] = []
    for (index, element) in names.enumerated() {
      let ownType = types.flatMap { $0.count == names.count ? $0[index] : nil }
      let ownValue: ExprSyntax? =
        if let values, values.count == names.count { values[index] } else { value.map { "\($0).\(raw: index)" } }
      if let nested = element.pattern.as(TuplePatternSyntax.self) {
        parts += Self.parts(of: nested, type: ownType, value: ownValue)
      } else if let name = element.pattern.as(IdentifierPatternSyntax.self) {
        parts.append(part(name.trimmed, type: ownType, value: ownValue))
      }
    }
    return parts
  }

  private static func part(
    _ name: IdentifierPatternSyntax, type: TypeSyntax?, value: ExprSyntax?
  ) -> PatternBindingSyntax {
    // What the macro cannot read off the value has to be written, or the next error would be about that.
    let readable = value.map { AttributeType.inferred(from: $0) != nil } ?? false
    let written = type ?? (readable ? nil : TypeSyntax(IdentifierTypeSyntax(name: "<#Type#>")))
    return PatternBindingSyntax(
      pattern: name,
      typeAnnotation: written.map {
        TypeAnnotationSyntax(colon: .colonToken(trailingTrivia: .space), type: $0)
      },
      initializer: value.map {
        InitializerClauseSyntax(equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space), value: $0)
      })
  }
}

extension WithAttributesSyntax {
  /// The declaration without one of its attributes.
  func removing(_ attribute: AttributeSyntax) -> Syntax {
    // Not by with(_:_:): through a protocol, a key path of the resilient library cannot be written.
    var rest = self
    rest.attributes = attributes.removing(attribute)
    rest.leadingTrivia = leadingTrivia
    return Syntax(rest)
  }
}

/// Makes a generic class an ordinary one: each of its parameters becomes a place for the type that is meant.
private final class ParameterRemoval: SyntaxRewriter {
  private let parameters: Set<String>

  init(_ parameters: Set<String>) {
    self.parameters = parameters
    super.init()
  }

  override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
    guard node.genericArgumentClause == nil, parameters.contains(node.name.text) else { return super.visit(node) }
    return TypeSyntax(node.with(\.name, node.name.with(\.tokenKind, .identifier("<#\(node.name.text)#>"))))
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
    guard parameters.contains(node.baseName.text) else { return super.visit(node) }
    return ExprSyntax(
      node.with(\.baseName, node.baseName.with(\.tokenKind, .identifier("<#\(node.baseName.text)#>"))))
  }
}

extension ClassDeclSyntax {
  /// The class without its generic parameters.
  var withoutParameters: ClassDeclSyntax {
    let names = Set(genericParameterClause?.parameters.map(\.name.text) ?? [])
    var plain = with(\.genericParameterClause, nil)
    plain.genericWhereClause = nil
    plain.memberBlock = ParameterRemoval(names).rewrite(plain.memberBlock).as(MemberBlockSyntax.self) ?? memberBlock
    if inheritanceClause == nil { plain.memberBlock.leadingTrivia = .space }
    return plain
  }
}

extension AttributeListSyntax {
  /// The list without an attribute; what stood before the list still does.
  func removing(_ attribute: AttributeSyntax) -> AttributeListSyntax {
    let rest: AttributeListSyntax = filter { $0.as(AttributeSyntax.self)?.id != attribute.id }
    return rest.isEmpty ? rest : rest.with(\.leadingTrivia, leadingTrivia)
  }
}

extension ModelDeclaration {
  /// An initializer that takes what has no value of its own, as Swift makes one for a structure.
  var memberwiseInitializer: DeclSyntax {
    let required = properties.filter { !$0.hasDefault }
    let parameters = required.map { "\($0.spelledName): \($0.type.text)" }.joined(separator: ", ")
    let assignments = required.map { "    self.\($0.spelledName) = \($0.spelledName)" }
    let base = isSubclass ? ["    super.init(<#arguments#>)"] : []
    return "\n  init(\(raw: parameters)) {\n\(raw: (assignments + base).joined(separator: "\n"))\n  }"
  }

  /// The class's members with that initializer at the end.
  var membersWithInitializer: MemberBlockItemListSyntax {
    var members = Array(classDeclaration.memberBlock.members)
    members.append(
      MemberBlockItemSyntax(leadingTrivia: .newline, decl: memberwiseInitializer, trailingTrivia: .newline))
    return MemberBlockItemListSyntax(members)
  }
}
