import TomboloProtocol

/// Says in which configuration's store the records of each entity lie.
///
/// A configuration owns the models that its schema names, and what they are tied to: relationships, base classes and
/// subclasses never cross from one store to another. One configuration may have no schema, and owns what is left.
struct StoreDivision {
  /// By configuration: what its store has to hold.
  private(set) var documents: [SchemaDocument] = []

  private let schema: Schema
  private let configurations: [ModelConfiguration]
  /// By entity: its configuration's place.
  private var owners: [String: Int] = [:]

  /// - Throws: `ambiguous` where two configurations claim one store or one model, or a relationship would cross;
  ///   `model_not_in_schema` where a configuration names a model that the container does not have, or a model has none.
  init(_ schema: Schema, _ configurations: [ModelConfiguration]) throws {
    self.schema = schema
    self.configurations = configurations
    if configurations.count == 1 {
      documents = [schema.document]
      return
    }
    try checkFiles()
    try claim()
    try spread()
    try giveRest()
    documents = configurations.indices.map { place in
      SchemaDocument(
        name: schema.document.name, version: schema.document.version,
        entities: schema.document.entities.filter { owners[$0.name] == place })
    }
  }

  private func checkFiles() throws {
    for (place, configuration) in configurations.enumerated() {
      let isTaken = configurations[..<place].contains {
        $0.url.standardizedFileURL == configuration.url.standardizedFileURL
      }
      if isTaken {
        throw TomboloError(
          .ambiguous, "Two configurations are for the store at \(configuration.url.path).",
          remedy: "Give each configuration a URL, or a name, of its own.")
      }
    }
  }

  private mutating func claim() throws {
    let known = Set(schema.document.entities.map(\.name))
    for (place, configuration) in configurations.enumerated() {
      for name in (configuration.schema?.named ?? []).sorted() {
        guard known.contains(name) else {
          throw TomboloError(
            .modelNotInSchema,
            "The configuration \(configuration.name) is for \(name), which the container does not have.",
            remedy: "Name \(name) in ModelContainer(for:) as well.")
        }
        if let other = owners[name] {
          throw TomboloError(
            .ambiguous,
            "Two configurations, \(configurations[other].name) and \(configuration.name), are for \(name).",
            remedy: "Name each model in the schema of one configuration only.")
        }
        owners[name] = place
      }
    }
  }

  /// What one entity is tied to lies where it lies itself.
  private mutating func spread() throws {
    var waiting = owners.keys.sorted()
    var next = 0
    // Ends: an entity waits once, when it gets its owner.
    while next < waiting.count {
      let name = waiting[next]
      next += 1
      for tie in ties(of: name) {
        let other = tie.from == name ? tie.to : tie.from
        if let place = owners[other] {
          if place != owners[name] { throw crossing(tie) }
        } else {
          owners[other] = owners[name]
          waiting.append(other)
        }
      }
    }
  }

  private mutating func giveRest() throws {
    let open = configurations.indices.filter { configurations[$0].schema == nil }
    if open.count > 1 {
      throw TomboloError(
        .ambiguous,
        "Two configurations, \(configurations[open[0]].name) and \(configurations[open[1]].name), name no models.",
        remedy: "Give each configuration but one a schema: ModelConfiguration(schema: Schema([Book.self])).")
    }
    for entity in schema.document.entities where owners[entity.name] == nil {
      guard let place = open.first else {
        throw TomboloError(
          .modelNotInSchema, "No configuration of the container is for \(entity.name).",
          remedy: "Name \(entity.name) in a configuration's schema, or add a configuration without one.")
      }
      owners[entity.name] = place
    }
  }

  // MARK: What ties entities together

  private struct Tie {
    let from: String
    let to: String
    /// Nil for a subclass and its base.
    let relationship: String?
  }

  private func ties(of name: String) -> [Tie] {
    schema.document.entities.flatMap { entity -> [Tie] in
      var ties = entity.relationships.map { Tie(from: entity.name, to: $0.destination, relationship: $0.name) }
      if let base = entity.superentity { ties.append(Tie(from: entity.name, to: base, relationship: nil)) }
      return ties.filter { $0.from == name || $0.to == name }
    }
  }

  private func crossing(_ tie: Tie) -> TomboloError {
    func name(of entity: String) -> String { owners[entity].map { configurations[$0].name } ?? "" }
    let what =
      tie.relationship.map { "The relationship \(tie.from).\($0) leads to \(tie.to)" }
      ?? "\(tie.from) is a subclass of \(tie.to)"
    return TomboloError(
      .ambiguous,
      "\(what), but \(tie.from) lies in the store of \(name(of: tie.from)) and \(tie.to) in that of \(name(of: tie.to)).",
      remedy:
        "Put both models into one configuration; across stores, keep the other record's persistentModelID or a key "
        + "of your own as an attribute.")
  }
}
