import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// What a persisted property may not be, each with the words that say what to write instead.
enum PropertyRules {
  private static let reservedNames: Set<String> = [
    "description", "debugDescription", "hashValue", "persistentModelID", "modelContext", "hasChanges", "isDeleted",
    "self", "init", "persistentBackingData",
  ]

  private static let reservedPrefixes = ["_tombolo_", "_$"]

  /// Attributes of Swift and of ours: any other on a stored property is taken for a property wrapper.
  private static let knownAttributes: Set<String> = [
    "Attribute", "Relationship", "Transient", "_PersistedProperty", "available", "objc", "nonobjc", "inlinable",
    "usableFromInline", "MainActor", "preconcurrency", "discardableResult", "_spi", "_documentation",
  ]

  /// Whether a stored, not transient property can be persisted; says why where it cannot.
  static func accepts(_ variable: VariableDeclSyntax, _ diagnostics: inout [Diagnostic]) -> Bool {
    guard checkShape(variable, &diagnostics), let binding = variable.bindings.first,
      let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else { return false }
    let name = PersistedProperty.plainName(pattern.identifier)
    if reservedNames.contains(name) {
      diagnostics.append(
        ModelDiagnostic(
          "reserved-name",
          "A persisted property cannot be called '\(name)', which every model has already: choose another name, as '\(name)Text'."
        ).at(
          pattern, fix: "rename to '\(name)Text'", replacing: pattern,
          with: pattern.with(\.identifier, pattern.identifier.with(\.tokenKind, .identifier("\(name)Text")))))
      return false
    }
    if reservedPrefixes.contains(where: name.hasPrefix) {
      let free = nameWithoutReservedPrefix(name)
      diagnostics.append(
        ModelDiagnostic(
          "reserved-prefix",
          "Names that begin with '_tombolo_' or '_$' are Tombolo's own: choose another name than '\(name)', as '\(free)'."
        ).at(
          pattern, fix: "rename to '\(free)'", replacing: pattern,
          with: pattern.with(\.identifier, pattern.identifier.with(\.tokenKind, .identifier(free)))))
      return false
    }
    for element in variable.attributes {
      guard let attribute = element.as(AttributeSyntax.self) else { continue }
      let written = attribute.attributeName.trimmedDescription
      let short = written.split(separator: ".").last.map(String.init) ?? written
      guard !knownAttributes.contains(short) else { continue }
      diagnostics.append(
        ModelDiagnostic(
          "property-wrapper",
          "A persisted property cannot have the property wrapper '@\(written)': mark it '@Transient', or store the plain value."
        ).at(attribute, fix: "mark it '@Transient'", replacing: variable, with: variable.markedTransient))
      return false
    }
    return true
  }

  /// A name that a property may have, as near as can be to one that begins with a prefix of ours.
  private static func nameWithoutReservedPrefix(_ name: String) -> String {
    var rest = Substring(name)
    while let prefix = reservedPrefixes.first(where: rest.hasPrefix) { rest = rest.dropFirst(prefix.count) }
    let isIdentifier = rest.first.map { $0 == "_" || $0.isLetter } ?? false
    return isIdentifier && !reservedNames.contains(String(rest)) ? String(rest) : "property\(rest)"
  }

  private static func checkShape(_ variable: VariableDeclSyntax, _ diagnostics: inout [Diagnostic]) -> Bool {
    if let lazy = variable.modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
      diagnostics.append(
        ModelDiagnostic(
          "lazy",
          "A persisted property cannot be 'lazy': mark it '@Transient', or give it its value in the initializer."
        ).at(lazy, fix: "mark it '@Transient'", replacing: variable, with: variable.markedTransient))
      return false
    }
    if variable.bindings.count > 1 {
      let fault = ModelDiagnostic(
        "several-bindings",
        "Only the first of several properties in one 'var' would be persisted: write one 'var' for each.")
      if let fixed = variable.separated {
        diagnostics.append(
          fault.at(
            variable.bindings, fix: "write one 'var' for each", replacing: fixed.list, with: fixed.separated))
      } else {
        diagnostics.append(fault.at(variable.bindings))
      }
      return false
    }
    guard let binding = variable.bindings.first else { return false }
    if !binding.pattern.is(IdentifierPatternSyntax.self) {
      let fault = ModelDiagnostic(
        "tuple-pattern", "A tuple pattern cannot be persisted: write one 'var' for each property.")
      if let fixed = variable.withoutTuplePattern {
        diagnostics.append(
          fault.at(
            binding.pattern, fix: "write one 'var' for each", replacing: fixed.list, with: fixed.separated))
      } else {
        diagnostics.append(fault.at(binding.pattern))
      }
      return false
    }
    if variable.bindingSpecifier.tokenKind == .keyword(.let) {
      let fault =
        binding.initializer == nil
        ? "A persisted property cannot be a 'let': a fetch could not give it its stored value. Write 'private(set) var'."
        : "A 'let' with a default value is the same for every record and is not persisted: write 'var', or 'static let'."
      diagnostics.append(
        ModelDiagnostic("let", fault).at(
          variable.bindingSpecifier, fix: "replace 'let' with 'var'", replacing: variable.bindingSpecifier,
          with: variable.bindingSpecifier.with(\.tokenKind, .keyword(.var))))
      return false
    }
    return true
  }

  /// The fault of a property whose type cannot be read off its default value.
  static func missingType(_ binding: PatternBindingSyntax, _ pattern: IdentifierPatternSyntax) -> Diagnostic {
    let message = ModelDiagnostic(
      "missing-type",
      "'\(pattern.identifier.text)' needs its type written out: a macro cannot infer it from this value.")
    let annotated = binding.with(\.pattern, binding.pattern.with(\.trailingTrivia, []))
      .with(
        \.typeAnnotation,
        TypeAnnotationSyntax(
          colon: .colonToken(trailingTrivia: .space), type: IdentifierTypeSyntax(name: "<#Type#>"),
          trailingTrivia: binding.initializer == nil ? [] : .space))
    return message.at(pattern, fix: "add a type annotation", replacing: binding, with: annotated)
  }
}
