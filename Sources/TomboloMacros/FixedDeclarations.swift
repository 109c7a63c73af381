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

  /// The property without one of its attributes.
  func removing(_ attribute: AttributeSyntax) -> VariableDeclSyntax {
    with(\.attributes, attributes.removing(attribute)).with(\.leadingTrivia, leadingTrivia)
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
    for index in properties.indices.dropFirst() { properties[index].leadingTrivia = .newline }
    return (list, MemberBlockItemListSyntax(list.flatMap { $0.id == item.id ? properties : [$0] }))
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
