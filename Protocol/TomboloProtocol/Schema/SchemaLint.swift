/// Which rules a schema is held against.
package enum SchemaRules: String, Hashable, Sendable, CaseIterable {
  /// What Tombolo's sync demands.
  case tombolo
  /// What CloudKit demands: for a schema that ships on Apple's platforms.
  case strict
}

/// One place where a schema breaks a rule, or where something about it may surprise.
package struct SchemaOffence: Hashable, Sendable {
  /// False for a warning, which stops nothing.
  package var isError: Bool
  /// What is wrong where, why, and what to write.
  package var detail: TomboloError.Detail
}

/// Holds a schema against the rules of sync; every offence is one line with the property, the reason and the fix.
package enum SchemaLint {
  /// - Parameter synced: the entities that sync, where others are kept local; nil for all of them.
  package static func check(
    _ document: SchemaDocument, rules: SchemaRules, synced: Set<String>? = nil
  ) -> [SchemaOffence] {
    var linter = SchemaLinter(document: document, synced: synced)
    switch rules {
    case .tombolo: linter.checkTombolo()
    case .strict: linter.checkStrict()
    }
    return linter.offences
  }

  /// - Throws: ``TomboloError`` with ``ErrorCode/storeUnversioned`` or ``ErrorCode/schemaNotSyncable``.
  package static func requireSyncable(_ document: SchemaDocument) throws {
    guard document.version != nil else { throw unversioned(document.name) }
    let errors = check(document, rules: .tombolo).filter(\.isError)
    guard let first = errors.first else { return }
    throw TomboloError(
      .schemaNotSyncable, "\(document.title) breaks a rule of sync: \(first.detail.place)\(first.detail.text)",
      remedy: errors.count == 1 ? first.detail.fix : "See the details.", details: errors.map(\.detail))
  }

  /// The refusal of a store without a version, with the recipe.
  package static func unversioned(_ name: String) -> TomboloError {
    TomboloError(
      .storeUnversioned, "The store's schema \(name) has no version, and only versioned stores sync.",
      remedy: """
        In one release declare a VersionedSchema that is exactly what shipped, and nothing else: opening the store then \
        adopts it. In the release after that the schema may change. For a store at hand: tombolo schema adopt.
        """)
  }
}

private struct SchemaLinter {
  let document: SchemaDocument
  let synced: Set<String>?
  private(set) var offences: [SchemaOffence] = []

  init(document: SchemaDocument, synced: Set<String>?) {
    self.document = document
    self.synced = synced
  }

  private var entities: [SchemaEntity] { document.entities.filter { synced?.contains($0.name) ?? true } }

  mutating func checkTombolo() {
    if document.version == nil {
      report(
        true, "unversioned", nil, nil, "Only versioned stores sync.",
        "Declare the models in a VersionedSchema, or write \"version\" in the document.")
    }
    for entity in entities {
      for attribute in entity.attributes { warnOfInlineData(attribute, in: entity) }
      for relationship in entity.relationships {
        requireInverse(relationship, in: entity)
        requireSyncedDestination(relationship, in: entity)
        if !relationship.isToMany, !relationship.isOptional {
          report(
            false, "required_reference", entity.name, relationship.name,
            "When its \(relationship.destination) is deleted on another replica at the same time, this record goes with it.",
            "Make it optional if the record should stay.")
        }
        warnOfCycles(relationship, in: entity)
      }
    }
  }

  mutating func checkStrict() {
    for entity in entities {
      for attribute in entity.attributes {
        if !attribute.isOptional, attribute.defaultValue == nil {
          report(
            true, "attribute_required", entity.name, attribute.name,
            "CloudKit delivers records in parts, so an attribute may be missing.",
            "Make it optional, or give it a default.")
        }
        warnOfInlineData(attribute, in: entity)
        if attribute.merge != .lastWriter { warnOfExtension("merge", entity.name, attribute.name) }
      }
      for relationship in entity.relationships { checkStrict(relationship, in: entity) }
      for constraint in entity.unique {
        report(
          true, "unique_constraint", entity.name, constraint.attributes.joined(separator: ","),
          "CloudKit cannot keep values unique.", "Leave the constraint out, and merge duplicates in the app.")
      }
      if entity.concurrentDelete != .deleteWins { warnOfExtension("concurrentDelete", entity.name, nil) }
    }
  }

  private mutating func checkStrict(_ relationship: SchemaRelationship, in entity: SchemaEntity) {
    let name = relationship.name
    if !relationship.isToMany, !relationship.isOptional {
      report(
        true, "relationship_required", entity.name, name, "CloudKit may deliver the record before its partner.",
        "Make it optional.")
    }
    requireInverse(relationship, in: entity)
    requireSyncedDestination(relationship, in: entity)
    if relationship.deleteRule == .deny {
      report(
        true, "deny_rule", entity.name, name, "CloudKit cannot deny a deletion made elsewhere.",
        "Use nullify or cascade.")
    }
    if relationship.isOrdered {
      report(
        true, "ordered_relationship", entity.name, name, "CloudKit keeps no order.",
        "Keep a position in an attribute of the members.")
    }
    if relationship.isAcyclic { warnOfExtension("acyclic", entity.name, name) }
  }

  private mutating func requireInverse(_ relationship: SchemaRelationship, in entity: SchemaEntity) {
    guard relationship.inverse == nil else { return }
    report(
      true, "inverse_missing", entity.name, relationship.name,
      "Without an inverse a deletion of the partner cannot be followed to this side.",
      "Add a relationship to \(entity.name) in \(relationship.destination), and name each as the other's inverse.")
  }

  private mutating func requireSyncedDestination(_ relationship: SchemaRelationship, in entity: SchemaEntity) {
    guard let synced, !synced.contains(relationship.destination) else { return }
    report(
      true, "destination_not_synced", entity.name, relationship.name,
      "It leads to \(relationship.destination), which is not synced.",
      "Sync \(relationship.destination) too, or keep its key in an attribute.")
  }

  private mutating func warnOfInlineData(_ attribute: SchemaAttribute, in entity: SchemaEntity) {
    guard attribute.type == .data, !attribute.options.contains("externalStorage") else { return }
    report(
      false, "inline_data", entity.name, attribute.name,
      "Its bytes are read and sent with every record, which may have 1 MiB in all (700 000 bytes in CloudKit).",
      "Declare it @Attribute(.externalStorage) if values are larger than 100 KB.")
  }

  private mutating func warnOfCycles(_ relationship: SchemaRelationship, in entity: SchemaEntity) {
    let isTree = entity.relationships.contains { $0.name == relationship.inverse && $0.isToMany }
    guard relationship.destination == entity.name, !relationship.isToMany, !relationship.isAcyclic, isTree else {
      return
    }
    report(
      false, "cycle_possible", entity.name, relationship.name,
      "Two replicas can each move a record below the other, which closes a cycle.",
      "Declare it acyclic if it is a tree.")
  }

  private mutating func warnOfExtension(_ name: String, _ entity: String, _ property: String?) {
    report(
      false, "extension_used", entity, property, "\(name) is Tombolo's own and does not compile on Apple's platforms.",
      "Leave it out where the file is shared.")
  }

  private mutating func report(
    _ isError: Bool, _ code: String, _ entity: String?, _ property: String?, _ text: String, _ fix: String
  ) {
    offences.append(
      SchemaOffence(
        isError: isError, detail: .init(code: code, entity: entity, property: property, text: text, fix: fix)))
  }
}
