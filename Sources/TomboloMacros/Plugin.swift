import SwiftSyntaxMacros

#if TOMBOLO_SWIFT_SYNTAX_PACKAGE
  import SwiftCompilerPlugin

  @main
  struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = MacroList.all
  }
#else
  @_spi(PluginMessage) import SwiftCompilerPluginMessageHandling

  /// The toolchain does not ship `SwiftCompilerPlugin`; this is its job: a loop that answers the compiler's messages.
  @main
  struct Plugin: PluginProvider {
    static func main() throws {
      let connection = try StandardIOMessageConnection()
      let listener = CompilerPluginMessageListener(connection: connection, provider: Plugin())
      try listener.main()
    }

    func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
      guard let macro = MacroList.all.first(where: { String(describing: $0) == typeName }) else {
        throw UnknownMacro(name: typeName)
      }
      return macro
    }
  }

  struct UnknownMacro: Error, CustomStringConvertible {
    let name: String
    var description: String { "TomboloMacros has no macro named \(name)." }
  }
#endif

/// Every macro type of the plugin, found by the name in its `#externalMacro` declaration.
enum MacroList {
  static var all: [any Macro.Type] {
    [
      ModelMacro.self, PersistedPropertyMacro.self, AttributeMacro.self, RelationshipMacro.self, TransientMacro.self,
      UniqueMacro.self, IndexMacro.self, ModelActorMacro.self,
    ]
  }
}
