/// One difference between two schema documents, and whether replicas with both may sync with each other.
package struct SchemaChange: Hashable, Sendable {
  package enum Verdict: String, Hashable, Sendable, CaseIterable {
    case allowed
    /// Allowed, and something about it may surprise.
    case warning
    case refused
  }

  package var verdict: Verdict
  /// Stable, as `attribute_removed`.
  package var code: String
  package var entity: String?
  package var property: String?
  /// One sentence: what changed, and why that is so judged.
  package var text: String
  /// What to do instead; empty where nothing need be done.
  package var fix: String

  package init(
    _ verdict: Verdict, _ code: String, entity: String? = nil, property: String? = nil, text: String, fix: String = ""
  ) {
    self.verdict = verdict
    self.code = code
    self.entity = entity
    self.property = property
    self.text = text
    self.fix = fix
  }

  /// The change as one of an error's details.
  package var detail: TomboloError.Detail {
    .init(code: code, entity: entity, property: property, text: text, fix: fix)
  }
}

/// Compares schema documents: the one check that client, server, command line and tests share.
///
/// The principle behind every verdict: whatever an older client may write must be valid in the newer schema, and whatever
/// a newer client may write must be something the older one can hold, with the parts that it does not know set aside.
package enum SchemaEvolution {
  /// Every change from one version to the next, each with a verdict; empty for equal documents.
  package static func check(from old: SchemaDocument, to new: SchemaDocument) -> [SchemaChange] {
    let changes = SchemaComparison(from: old.normalized, to: new.normalized).changes()
    return versionChanges(from: old, to: new, differs: changes.contains { !isLocal($0) }) + changes
  }

  /// What differs between two documents under one version, indexes and cases apart: empty for the same registration.
  package static func sameVersion(_ registered: SchemaDocument, _ offered: SchemaDocument) -> [SchemaChange] {
    SchemaComparison(from: registered.normalized, to: offered.normalized).changes().filter { !isLocal($0) }.map {
      var change = $0
      change.verdict = .refused
      if change.fix.isEmpty || $0.verdict != .refused { change.fix = "Give the changed schema a version of its own." }
      return change
    }
  }

  /// Whether every change is allowed.
  package static func isAdditive(from old: SchemaDocument, to new: SchemaDocument) -> Bool {
    check(from: old, to: new).allSatisfy { $0.verdict != .refused }
  }

  /// - Throws: ``TomboloError`` with ``ErrorCode/schemaNotAdditive``, every refused change in its details.
  package static func requireAdditive(from old: SchemaDocument, to new: SchemaDocument) throws {
    let refused = check(from: old, to: new).filter { $0.verdict == .refused }
    guard !refused.isEmpty else { return }
    throw TomboloError(
      .schemaNotAdditive,
      "\(new.title) is not an additive successor of \(old.title): \(count(refused, "change")) cannot be synced.",
      remedy: "Undo what the details name, or do what they say instead. The replica keeps working without sync.",
      details: refused.map(\.detail))
  }

  static func count(_ items: [SchemaChange], _ noun: String) -> String {
    items.count == 1 ? "one \(noun)" : "\(items.count) \(noun)s"
  }

  /// What each replica does for itself, and what is only documentation.
  private static func isLocal(_ change: SchemaChange) -> Bool {
    ["index_added", "index_removed", "cases_added", "cases_removed"].contains(change.code)
  }

  private static func versionChanges(
    from old: SchemaDocument, to new: SchemaDocument, differs: Bool
  ) -> [SchemaChange] {
    switch (old.version, new.version) {
    case (let before?, let after?) where after < before:
      return [
        SchemaChange(
          .refused, "version_lower", text: "Version \(after) is lower than \(before).",
          fix: "Give the newer schema the higher version.")
      ]
    case (let before?, let after?) where after == before && differs:
      return [
        SchemaChange(
          .refused, "version_unchanged", text: "The schema changed, and its version is still \(before).",
          fix: "Give the changed schema a version of its own.")
      ]
    case (_?, nil):
      return [
        SchemaChange(
          .refused, "version_missing", text: "The newer schema has no version, and only versioned stores sync.",
          fix: "Declare the models in a VersionedSchema, or write \"version\" in the document.")
      ]
    default: return []
    }
  }
}

extension SchemaDocument {
  /// `Library 1.0.0`, for messages.
  package var title: String { version.map { "\(name) \($0)" } ?? "\(name) (without a version)" }
}
