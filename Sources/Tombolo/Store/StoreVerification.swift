import TomboloProtocol
import TomboloSQLite

/// Compares the schema that a program brings with the one that a store has, and makes the two one where that is allowed.
struct StoreVerification {
  let connection: Connection
  let location: Store.Location

  /// What is to be done about the store's schema.
  private enum Decision {
    case open
    /// Only the document is written: the shape is the same.
    case adopt
    /// Tables, columns or indexes are added.
    case extend
  }

  /// The store's schema, after it was adopted or extended to `document`; the one inside for nil.
  func schema(for document: SchemaDocument?, options: Store.Options) throws -> StoreSchema {
    let stored = try storedDocument()
    guard let document = document?.normalized, document != stored else {
      return try complete(stored, options)
    }
    switch try decide(stored, document) {
    case .open: return try complete(stored, options)
    case .adopt, .extend:
      guard !options.isReadOnly else {
        throw TomboloError(
          .readOnlyStore, "The store at \(location) has \(stored.title), and was opened to be read only.",
          remedy: "Open it for writing once, so that it can take over \(document.title).")
      }
      return try connection.immediate {
        // Another process may have been faster.
        let stored = try storedDocument()
        var layout = try layout()
        if document != stored { _ = try decide(stored, document) }
        layout.extend(by: ResolvedSchema(document))
        let schema = StoreSchema(document: document, layout: layout)
        if document != stored {
          try StoreTableWriter(connection: connection, options: options).apply(schema, layout: layout, isNew: false)
        }
        return schema
      }
    }
  }

  /// The store's own schema. What an earlier build of this format has no column for, positions in ordered lists, gets one.
  private func complete(_ stored: SchemaDocument, _ options: Store.Options) throws -> StoreSchema {
    func extended() throws -> StoreLayout {
      var layout = try self.layout()
      layout.extend(by: ResolvedSchema(stored))
      return layout
    }
    let layout = try extended()
    if layout.added.isEmpty { return StoreSchema(document: stored, layout: layout) }
    guard !options.isReadOnly else {
      throw TomboloError(
        .readOnlyStore,
        "The store at \(location) was made by an earlier version of Tombolo, and opened to be read only.",
        remedy: "Open it for writing once, so that it gets the columns that are missing.")
    }
    return try connection.immediate {
      // Another process may have been faster.
      let layout = try extended()
      let schema = StoreSchema(document: stored, layout: layout)
      if layout.added.isEmpty { return schema }
      try StoreTableWriter(connection: connection, options: options).apply(schema, layout: layout, isNew: false)
      return schema
    }
  }

  private func decide(_ stored: SchemaDocument, _ given: SchemaDocument) throws -> Decision {
    let isSameShape = stored.fingerprint == given.fingerprint
    switch (stored.version, given.version) {
    case (nil, nil):
      if isSameShape { return .extend }
      return try extend(stored, given)
    case (nil, _?):
      if isSameShape { return .adopt }
      throw unknown(stored, given)
    case (let found?, nil):
      throw differs(
        stored, given, "The store at \(location) has version \(found), and the schema of this program has no version.",
        "Declare the models in a VersionedSchema with that version.")
    case (let found?, let expected?):
      if found > expected {
        throw TomboloError(
          .newerStore, "The store at \(location) has schema version \(found), and this program expects \(expected).",
          remedy: "Open it with the newer version of the program: a store never goes back.")
      }
      if found < expected { return try extend(stored, given) }
      if isSameShape { return .extend }
      throw differs(
        stored, given,
        "The store at \(location) has version \(found) with another shape than this program's version \(found).",
        "A released version must not be edited: put it back, and give the changed schema a version of its own.")
    }
  }

  private func extend(_ stored: SchemaDocument, _ given: SchemaDocument) throws -> Decision {
    let refused = SchemaEvolution.check(from: stored, to: given).filter { $0.verdict == .refused }
    if refused.isEmpty { return .extend }
    throw TomboloError(
      .migrationNeeded, "The store at \(location) has \(stored.title), and \(given.title) needs more than additions.",
      remedy: "Undo what the details name. Only additions are applied when a store is opened: entities, relationships, "
        + "indexes, and attributes that are optional or have a default.",
      details: refused.map(\.detail))
  }

  private func differs(
    _ stored: SchemaDocument, _ given: SchemaDocument, _ message: String, _ remedy: String
  ) -> TomboloError {
    TomboloError(.schemaDiffers, message, remedy: remedy, details: differences(stored, given))
  }

  private func unknown(_ stored: SchemaDocument, _ given: SchemaDocument) -> TomboloError {
    TomboloError(
      .unknownSchema,
      "Cannot use staged migration with an unknown model version: the store at \(location) has no version, and its shape "
        + "is not that of \(given.title).",
      remedy:
        "Do it in two releases: the first adds a VersionedSchema that is exactly what shipped, and nothing else, so "
        + "that stores are adopted; the second may change.",
      details: differences(stored, given))
  }

  private func differences(_ stored: SchemaDocument, _ given: SchemaDocument) -> [TomboloError.Detail] {
    var (stored, given) = (stored, given)
    stored.version = nil
    given.version = nil
    return SchemaEvolution.check(from: stored, to: given).map(\.detail)
  }

  // MARK: What is inside

  private func storedDocument() throws -> SchemaDocument {
    guard let text = try StoreMeta(connection).text(.document) else {
      throw TomboloError.damaged("its schema document is missing")
    }
    do {
      return try SchemaDocument(parsing: Array(text.utf8)).normalized
    } catch let error as TomboloError {
      throw TomboloError.damaged("its schema document cannot be read: \(error.message)")
    }
  }

  private func layout() throws -> StoreLayout {
    var layout = StoreLayout()
    try connection.eachRow("SELECT entity, property, kind, name, number FROM _tombolo_column ORDER BY kind <> 0") {
      row in
      guard let kind = StoreLayout.Kind(rawValue: Int(row.int64(2))) else {
        throw TomboloError.damaged("a column is of an unknown kind")
      }
      layout.restore(
        StoreLayout.Key(entity: row.string(0), property: row.string(1)),
        StoreLayout.Place(kind: kind, name: row.string(3), number: Int(row.int64(4))))
    }
    return layout
  }
}
