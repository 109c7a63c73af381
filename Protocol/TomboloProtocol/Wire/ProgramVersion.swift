/// What the programs say of themselves.
package enum ProgramVersion {
  /// By semver.org; the changelog's newest heading.
  package static let text = "0.1.0"
  /// The version of the protocol, which paths begin with.
  package static let protocolVersion = 1
}
