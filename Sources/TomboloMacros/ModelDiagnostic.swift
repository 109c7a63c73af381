import SwiftDiagnostics
import SwiftSyntax

/// What the macros say when a model cannot be as it is written: the fault, and what to write instead.
struct ModelDiagnostic: DiagnosticMessage, FixItMessage {
  let identifier: String
  let message: String
  let severity: DiagnosticSeverity

  var diagnosticID: MessageID { MessageID(domain: "TomboloMacros", id: identifier) }
  var fixItID: MessageID { diagnosticID }

  init(_ identifier: String, _ message: String, severity: DiagnosticSeverity = .error) {
    self.identifier = identifier
    self.message = message
    self.severity = severity
  }
}

extension ModelDiagnostic {
  /// The diagnostic at a node, without a fix-it.
  func at(_ node: some SyntaxProtocol) -> Diagnostic { Diagnostic(node: Syntax(node), message: self) }

  /// The diagnostic at a node, with a fix-it that replaces `old` by `new`.
  func at(
    _ node: some SyntaxProtocol, fix: String, replacing old: some SyntaxProtocol, with new: some SyntaxProtocol
  ) -> Diagnostic {
    let fixIt = FixIt(
      message: ModelDiagnostic(identifier + "-fix", fix),
      changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    return Diagnostic(node: Syntax(node), message: self, fixIts: [fixIt])
  }
}
