/// The rules of a store's registry of schema versions, as a pure function over what is registered.
package enum SchemaRegistration {
  package enum Outcome: Hashable, Sendable {
    /// The version is new and fits between its neighbours.
    case new
    /// The same document, indexes and cases apart, is registered under this version.
    case known
  }

  /// Judges a document that a client wants to register.
  ///
  /// - Throws: ``TomboloError`` with ``ErrorCode/storeUnversioned``, ``ErrorCode/invalidSchema``,
  ///   ``ErrorCode/schemaNotSyncable``, ``ErrorCode/schemaVersionTaken`` or ``ErrorCode/schemaNotAdditive``.
  package static func check(
    _ offered: SchemaDocument, among registered: [SchemaDocument]
  ) throws -> Outcome {
    guard let version = offered.version else { throw SchemaLint.unversioned(offered.name) }
    try SchemaValidation.check(offered)
    if let same = registered.first(where: { $0.version == version }) {
      let differences = SchemaEvolution.sameVersion(same, offered)
      guard !differences.isEmpty else { return .known }
      throw TomboloError(
        .schemaVersionTaken,
        "Version \(version) is registered with another document: \(SchemaEvolution.count(differences, "difference")).",
        remedy: "Give the changed schema a higher version.", details: differences.map(\.detail))
    }
    try SchemaLint.requireSyncable(offered)
    let versioned = registered.filter { $0.version != nil }.sorted { ($0.version ?? version) < ($1.version ?? version) }
    if let before = versioned.last(where: { ($0.version ?? version) < version }) {
      try SchemaEvolution.requireAdditive(from: before, to: offered)
    }
    if let after = versioned.first(where: { ($0.version ?? version) > version }) {
      try SchemaEvolution.requireAdditive(from: offered, to: after)
    }
    return .new
  }
}
