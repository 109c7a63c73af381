import SwiftSyntax
import SwiftSyntaxBuilder

/// One stored property of a model class that is kept in the store.
struct PersistedProperty {
  /// A default that makes another value each time.
  enum GeneratedDefault: String { case uuid, now }

  let declaration: VariableDeclSyntax
  /// Without backticks: the name in the schema.
  let name: String
  /// As code has to spell it.
  let spelledName: String
  let type: AttributeType
  let defaultValue: ExprSyntax?
  /// The place among the class's own persisted properties.
  let index: Int
  /// The arguments of `@Attribute`, as written.
  let attributeArguments: String?
  /// The arguments of `@Relationship`, as written; empty for the bare attribute.
  let relationshipArguments: String?
  /// An `override var`: its storage is the base class's.
  let isOverride: Bool
  let willSet: AccessorDeclSyntax?
  let didSet: AccessorDeclSyntax?

  var storageName: String { "_\(name)" }

  /// Declared `.ephemeral`: observed and tracked, and in no store.
  var isEphemeral: Bool { attributeArguments?.contains(".ephemeral") == true }
  /// Declared `.transformable(by:)`: of any type, and stored as data.
  var isTransformed: Bool { attributeArguments?.contains(".transformable(") == true }

  var generatedDefault: GeneratedDefault? {
    guard let text = defaultValue?.trimmedDescription else { return nil }
    if text == "UUID()" || text == "Foundation.UUID()" || (type.isUUID && text == ".init()") { return .uuid }
    let nowForms = ["Date()", "Date.now", "Foundation.Date()", ".now"]
    if nowForms.contains(text) || (type.isDate && text == ".init()") { return .now }
    return nil
  }

  /// A default `UUID()` that is made on first read or on insertion instead of in every initializer: nobody can tell.
  var isMadeLate: Bool { generatedDefault == .uuid && type.isPlain && !type.isOptional && !isTransformed }

  /// Whether a record can be made without somebody assigning the property.
  var hasDefault: Bool { defaultValue != nil || type.isOptional }

  /// Storage that holds nothing before it was resolved, made, or assigned: all but plain values.
  var hasOptionalSlot: Bool { !type.isPlain || isMadeLate || isTransformed }

  /// May be a to-many, and gets an accessor that changes it in place; what observes it wants to see whole values.
  var isChangedInPlace: Bool { type.isArray && !type.isPlain && willSet == nil && didSet == nil }

  /// The type that the storage is declared with.
  var storageType: String {
    guard hasOptionalSlot else { return type.text }
    if type.isOptional {
      // Spelled out: `T?` would be nil by itself, and a property that nobody assigned would go unnoticed.
      let wrapped = type.text.hasSuffix("?") ? "Swift.Optional<\(type.text.dropLast())>" : type.text
      return wrapped
    }
    return "Swift.Optional<\(type.text)>"
  }

  static func needsBackticks(_ token: TokenSyntax) -> Bool { token.text.hasPrefix("`") }

  static func plainName(_ token: TokenSyntax) -> String {
    let text = token.text
    return text.hasPrefix("`") && text.hasSuffix("`") && text.count > 2 ? String(text.dropFirst().dropLast()) : text
  }
}

extension VariableDeclSyntax {
  /// The attribute of that name, if the property has it.
  func attribute(_ name: String) -> AttributeSyntax? {
    for element in attributes {
      guard let attribute = element.as(AttributeSyntax.self) else { continue }
      let written = attribute.attributeName.trimmedDescription
      if written == name || written.hasSuffix("." + name) { return attribute }
    }
    return nil
  }

  func hasModifier(_ keyword: Keyword) -> Bool {
    modifiers.contains { $0.name.tokenKind == .keyword(keyword) }
  }

  /// Whether every accessor only observes, so that the property is stored.
  var isStored: Bool {
    bindings.allSatisfy { binding in
      guard let block = binding.accessorBlock else { return true }
      guard case .accessors(let accessors) = block.accessors else { return false }
      return accessors.allSatisfy {
        [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
      }
    }
  }

  func observer(_ keyword: Keyword) -> AccessorDeclSyntax? {
    guard case .accessors(let accessors) = bindings.first?.accessorBlock?.accessors else { return nil }
    return accessors.first { $0.accessorSpecifier.tokenKind == .keyword(keyword) }
  }
}

extension AttributeSyntax {
  /// The text between the parentheses.
  var argumentText: String {
    guard case .argumentList(let list) = arguments else { return "" }
    return list.trimmedDescription
  }
}
