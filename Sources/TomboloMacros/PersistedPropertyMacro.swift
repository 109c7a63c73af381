import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_PersistedProperty("Class", index)`: a persisted property's storage and accessors. `@Model` puts it there.
struct PersistedPropertyMacro {
  private struct Site {
    let property: PersistedProperty
    let className: String
    let keepsInitAccessor: Bool

    var path: String { "\\\(className).\(property.spelledName)" }
    var index: String { "\(className)._$firstProperty + \(property.index)" }
  }

  private static func site(_ node: AttributeSyntax, _ declaration: some DeclSyntaxProtocol) -> Site? {
    guard let variable = declaration.as(VariableDeclSyntax.self),
      case .argumentList(let list) = node.arguments, list.count >= 2
    else { return nil }
    let arguments = Array(list)
    guard let name = arguments[0].expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue,
      let index = Int(arguments[1].expression.trimmedDescription)
    else { return nil }
    var ignored: [Diagnostic] = []
    guard let property = ModelDeclaration.property(variable, index: index, diagnostics: &ignored) else { return nil }
    return Site(property: property, className: name, keepsInitAccessor: arguments.count < 3)
  }
}

extension PersistedPropertyMacro: AccessorMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let site = site(node, declaration) else { return [] }
    var accessors: [AccessorDeclSyntax] = []
    if site.keepsInitAccessor {
      accessors.append(
        """
        @storageRestrictions(initializes: \(raw: site.property.storageName))
        init(initialValue) {
          \(raw: site.property.storageName) = initialValue
        }
        """)
    }
    accessors.append("get {\n\(raw: getterBody(site))\n}")
    accessors.append("set {\n\(raw: setterBody(site))\n}")
    if site.property.isChangedInPlace { accessors.append("_modify {\n\(raw: modifyBody(site))\n}") }
    return accessors
  }

  private static func getterBody(_ site: Site) -> String {
    let property = site.property
    let storage = "self.\(property.storageName)"
    if !property.hasOptionalSlot {
      return "_$state._$access(self, \(site.path))\nreturn \(storage)"
    }
    if property.isMadeLate {
      return """
        _$state._$access(self, \(site.path))
        if let value = \(storage) { return value }
        let value = _$makeUUID()
        \(storage) = value
        return value
        """
    }
    let load = "_$state._$load(self, \(site.index), \(site.path))"
    return property.type.isOptional
      ? "\(load)\nreturn \(storage)"
      : "\(load)\nreturn _$resolved(\(storage), \"\(site.className).\(property.name)\")"
  }

  private static func modifyBody(_ site: Site) -> String {
    """
    let access = _$state._$modify(self, \(site.index), \(site.path), \\\(site.className).\(site.property.storageName))
    defer { access._$end() }
    yield &access._$pointer.pointee
    """
  }

  private static func setterBody(_ site: Site) -> String {
    let property = site.property
    var lines: [String] = []
    if property.willSet != nil { lines.append("_$willSet_\(property.name)(newValue)") }
    if property.didSet != nil {
      lines.append("let _$old = \(property.spelledName == "self" ? "" : "self.")\(property.spelledName)")
    }
    if property.hasOptionalSlot, !property.type.isPlain {
      lines.append(
        "_$state._$assign(self, \(site.index), \(site.path), \\\(site.className).\(property.storageName), newValue)")
    } else {
      lines.append("_$state._$willSet(self, \(site.index), \(site.path))")
      lines.append("self.\(property.storageName) = newValue")
      lines.append("_$state._$didSet(self, \(site.path))")
    }
    if property.didSet != nil { lines.append("_$didSet_\(property.name)(_$old)") }
    return lines.joined(separator: "\n")
  }
}

extension PersistedPropertyMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let site = site(node, declaration) else { return [] }
    let property = site.property
    // What the compiler gives an optional variable by itself, and what waits for its first read.
    let startsEmpty = !site.keepsInitAccessor || (property.type.isOptional && property.defaultValue == nil)
    var peers: [DeclSyntax] = [
      "nonisolated(unsafe) private var \(raw: property.storageName): \(raw: property.storageType)\(raw: startsEmpty ? " = nil" : "")"
    ]
    if let willSet = property.willSet {
      peers.append(observer("_$willSet_\(property.name)", willSet, parameter: "newValue", property))
    }
    if let didSet = property.didSet {
      peers.append(observer("_$didSet_\(property.name)", didSet, parameter: "oldValue", property))
    }
    return peers
  }

  private static func observer(
    _ name: String, _ accessor: AccessorDeclSyntax, parameter: String, _ property: PersistedProperty
  ) -> DeclSyntax {
    let parameterName = accessor.parameters?.name.text ?? parameter
    let body = accessor.body?.statements.description ?? ""
    // The guard: an observer that assigns its own property does not call itself, as in any Swift class.
    return """
      private func \(raw: name)(_ \(raw: parameterName): \(raw: property.type.text)) {
        guard _$state._$beginObserver("\(raw: property.name)") else { return }
        defer { _$state._$endObserver("\(raw: property.name)") }
        \(raw: body)
      }
      """
  }
}
