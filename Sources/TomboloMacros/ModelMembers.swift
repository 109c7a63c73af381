import SwiftSyntax
import SwiftSyntaxBuilder

/// The members that `@Model` generates: state, reading from and binding to rows, and the schema's description.
struct ModelMembers {
  let model: ModelDeclaration

  init(_ model: ModelDeclaration) { self.model = model }

  var declarations: [DeclSyntax] {
    var all: [DeclSyntax] = []
    if !model.isSubclass {
      all.append("nonisolated \(raw: model.access)let _$state = _$ModelState()")
    }
    all.append(contentsOf: counts)
    if model.needsEmptyInitializer { all.append("nonisolated \(raw: model.access)init() {}") }
    all.append(rowInitializer)
    all.append(reload)
    all.append(bind)
    all.append(describeEntry)
    all.append(describe)
    return all
  }

  private var overriding: String { model.isSubclass ? "override " : "" }
  private var base: String { model.superclass ?? "" }

  /// Where the class's own properties begin in the numbering that runs from the root down.
  private var counts: [DeclSyntax] {
    let first = model.isSubclass ? "\(base)._$propertyCount" : "0"
    return [
      "nonisolated private static var _$firstProperty: Swift.Int { \(raw: first) }",
      """
      nonisolated \(raw: model.overridableAccess)\(raw: overriding)class var _$propertyCount: Swift.Int {
        \(raw: first) + \(raw: model.stored.count)
      }
      """,
    ]
  }

  // MARK: Rows

  private var rowInitializer: DeclSyntax {
    var lines: [String] = []
    if !model.stored.isEmpty { lines.append("let _$first = \(model.name)._$firstProperty") }
    for property in model.stored {
      lines.append(
        property.isEphemeral
          ? "self.\(property.storageName) = \(property.isMadeLate ? "nil" : property.defaultValue?.trimmedDescription ?? "nil")"
          : "self.\(property.storageName) = try \(read(property))")
    }
    lines.append(model.isSubclass ? "try super.init(_$row: _$row)" : "_$state._$adopt(_$row)")
    return """
      nonisolated \(raw: model.access)required init(_$row: _$RowReader) throws {
      \(raw: lines.joined(separator: "\n"))
      }
      """
  }

  private func read(_ property: PersistedProperty) -> String {
    "_$row.\(property.isTransformed ? "_$transformed" : "_$value")(_$first + \(property.index), as: (\(property.type.text)).self)"
  }

  private var reload: DeclSyntax {
    var lines: [String] = []
    if model.isSubclass { lines.append("try super._$reload(_$row)") }
    if !model.stored.isEmpty { lines.append("let _$first = \(model.name)._$firstProperty") }
    for property in model.stored where !property.isEphemeral {
      lines.append(
        """
        if _$row._$refreshes(_$first + \(property.index)) {
          let value = try \(read(property))
          _$row._$willSet(self, \\\(model.name).\(property.spelledName))
          self.\(property.storageName) = value
          _$row._$didSet(self, \\\(model.name).\(property.spelledName))
        }
        """)
    }
    return """
      nonisolated \(raw: model.overridableAccess)\(raw: overriding)func _$reload(_ _$row: _$RowReader) throws {
      \(raw: lines.joined(separator: "\n"))
      }
      """
  }

  private var bind: DeclSyntax {
    var lines = ["switch _$property - \(model.name)._$firstProperty {"]
    for property in model.stored where !property.isEphemeral {
      lines.append("case \(property.index):")
      if property.isMadeLate {
        lines.append("if self.\(property.storageName) == nil { self.\(property.storageName) = _$makeUUID() }")
      }
      let value = "self.\(property.storageName)"
      if property.isTransformed {
        lines.append("try _$writer._$transform(\(value), of: self, _$property)")
        continue
      }
      lines.append(
        property.hasOptionalSlot
          ? "try _$writer._$bind(\(value), of: self, _$property)" : "try _$writer._$bind(\(value))")
    }
    lines.append("default:")
    lines.append(model.isSubclass ? "try super._$bind(_$property, to: _$writer)" : "break")
    lines.append("}")
    return """
      nonisolated \(raw: model.overridableAccess)\(raw: overriding)func _$bind(_ _$property: Swift.Int, to _$writer: _$ColumnWriter) throws {
      \(raw: lines.joined(separator: "\n"))
      }
      """
  }

  // MARK: Description

  /// Called through the protocol only: deprecated, so that a user's deprecated property does not make it warn.
  private var describeEntry: DeclSyntax {
    """
    @available(*, deprecated)
    nonisolated \(raw: model.overridableAccess)\(raw: overriding)class func _$describe(_ _$schema: _$SchemaBuilder) {
      \(raw: model.name)._$describe(\(raw: model.name).self, _$schema)
    }
    """
  }

  private var describe: DeclSyntax {
    var lines: [String] = []
    if model.isSubclass { lines.append("\(base)._$describe(S.self, _$schema)") }
    let superclass = model.isSubclass ? "\(base).self" : "nil"
    lines.append("_$schema._$class(\(model.name).self, \"\(model.name)\", superclass: \(superclass))")
    for property in model.properties { lines.append(describe(property)) }
    for macro in freestandingMacros("Unique") {
      lines.append("_$schema._$unique(\(model.name).self, \(macro))")
    }
    for macro in freestandingMacros("Index") {
      lines.append("_$schema._$index(\(model.name).self, \(macro))")
    }
    if hasConcurrentDelete { lines.append("_$schema._$concurrentDelete(\(model.name).concurrentDelete)") }
    return """
      @available(*, deprecated)
      nonisolated \(raw: model.access)static func _$describe<S: \(raw: model.name)>(_: S.Type, _ _$schema: _$SchemaBuilder) {
      \(raw: lines.joined(separator: "\n"))
      }
      """
  }

  private func describe(_ property: PersistedProperty) -> String {
    let name = property.spelledName
    guard !property.isOverride else { return "_$schema._$override(\"\(property.name)\", \\S.\(name))" }
    var arguments = [
      "\"\(property.name)\"", "\\S.\(name)", "declared: \\\(model.name).\(name)",
    ]
    if property.isTransformed {
      arguments += [
        "isOptional: \(property.type.isOptional)", "attribute: .init(\(property.attributeArguments ?? ""))",
      ]
      return "_$schema._$transformed(\(arguments.joined(separator: ", ")))"
    }
    arguments.append("slot: \\\(model.name).\(property.storageName)")
    if let generated = property.generatedDefault {
      arguments.append("generated: .\(generated.rawValue)")
    } else if let value = property.defaultValue {
      arguments.append("default: { \(value.trimmedDescription) }")
    }
    if let options = property.attributeArguments, !options.isEmpty { arguments.append("attribute: .init(\(options))") }
    if let options = property.relationshipArguments, !options.isEmpty {
      arguments.append("relationship: .init(\(options))")
    }
    return "_$schema._$property(\(arguments.joined(separator: ", ")))"
  }

  /// The argument texts of `#Unique` or `#Index` among the class's members.
  private func freestandingMacros(_ name: String) -> [String] {
    model.classDeclaration.memberBlock.members.compactMap { member in
      guard let macro = member.decl.as(MacroExpansionDeclSyntax.self), macro.macroName.text == name else { return nil }
      let text = macro.arguments.trimmedDescription
      return text.isEmpty ? nil : text
    }
  }

  private var hasConcurrentDelete: Bool {
    model.classDeclaration.memberBlock.members.contains { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self),
        variable.hasModifier(.static) || variable.hasModifier(.class)
      else { return false }
      return variable.bindings.contains { $0.pattern.trimmedDescription == "concurrentDelete" }
    }
  }
}
