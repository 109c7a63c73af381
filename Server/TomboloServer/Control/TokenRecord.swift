/// A token as it is listed: everything but the secret, of which only a hash is kept.
package struct TokenRecord: Sendable, Hashable {
  /// Sixteen hexadecimal digits: the first bytes of the hash.
  package var id: String
  package var store: String
  package var role: Role
  package var name: String
  /// Milliseconds since 1970.
  package var created: UInt64
  /// Nil while it is valid.
  package var revoked: UInt64?
}
