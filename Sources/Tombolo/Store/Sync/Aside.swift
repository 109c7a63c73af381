import TomboloProtocol
import TomboloSQLite

/// What this schema does not know: attributes and whole records, kept with their stamps until it does.
struct Aside {
  let connection: Connection
  /// The attribute under which a whole record is kept.
  private static let whole = ""
  /// The attribute under which a confirmed record is kept that a pending create of the same identity hides.
  private static let confirmed = "#confirmed"

  init(_ connection: Connection) { self.connection = connection }

  var isEmpty: Bool {
    get throws { try connection.firstRow("SELECT 1 FROM _tombolo_aside LIMIT 1") { _ in false } ?? true }
  }

  /// What is set aside of one record adds this to the checksum.
  func sum(of id: RecordID) throws -> Checksum {
    var sum = Checksum()
    for (name, state) in try states(of: id) where name != Self.confirmed { sum.add(Self.part(state, under: name)) }
    return sum
  }

  /// Hands out what each thing that is set aside of a record adds to the checksum.
  func forEachPart(_ body: (RecordID, Checksum) -> Void) throws {
    try connection.eachRow("SELECT attribute, body FROM _tombolo_aside ORDER BY record, attribute") { row in
      let name = row.string(0)
      guard name != Self.confirmed, case .record(let state) = try FeedItem(decoding: row.bytes(1), as: .cbor)
      else { return }
      body(state.id, Self.part(state, under: name))
    }
  }

  private static func part(_ state: RecordState, under name: String) -> Checksum {
    var sum = Checksum()
    if name == whole { sum.insert(life: state.incarnation, of: state.id, as: state.entity) }
    for field in state.fields { sum.insert(state.id, field.name, field.value, field.stamp) }
    return sum
  }

  /// Keeps the fields of a record that the schema has, but not with these fields.
  func keep(_ fields: [FieldState], of state: RecordState) throws {
    for field in fields {
      var kept = state
      kept.fields = [field]
      try put(kept, under: field.name)
    }
  }

  /// Keeps a whole record of an entity that the schema does not have.
  func keep(_ state: RecordState) throws {
    var kept = state
    if let earlier = try states(of: state.id)[Self.whole], earlier.incarnation == state.incarnation {
      let new = Set(state.fields.map(\.name))
      kept.fields += earlier.fields.filter { !new.contains($0.name) }
    } else if !state.isWhole {
      return
    }
    try put(kept, under: Self.whole)
  }

  // MARK: Pairs

  /// Keeps a pair of a relationship that the schema does not have.
  func keep(_ state: LinkState) throws {
    let bytes = FeedItem.link(state).encoded(as: .cbor)
    try connection.run("INSERT OR REPLACE INTO _tombolo_aside(record, entity, attribute, body) VALUES (?1, ?2, ?3, ?4)")
    {
      $0.bind(state.link.source, at: 1)
      $0.bind(state.link.relationship, at: 2)
      $0.bind(Self.name(of: state.link), at: 3)
      $0.bind(bytes, at: 4)
    }
  }

  private static func name(of link: LinkKey) -> String { "#link \(link.relationship) \(link.target)" }

  func links() throws -> [LinkState] {
    var links: [LinkState] = []
    try connection.eachRow("SELECT body FROM _tombolo_aside WHERE attribute LIKE '#link %' ORDER BY record, attribute")
    {
      row in
      if case .link(let state) = try FeedItem(decoding: row.bytes(0), as: .cbor) { links.append(state) }
    }
    return links
  }

  /// One pair that was set aside.
  func link(_ link: LinkKey) throws -> LinkState? {
    try connection.firstRow(
      "SELECT body FROM _tombolo_aside WHERE record = ?1 AND attribute = ?2",
      {
        $0.bind(link.source, at: 1)
        $0.bind(Self.name(of: link), at: 2)
      }
    ) { row in
      if case .link(let state) = try FeedItem(decoding: row.bytes(0), as: .cbor) { return state }
      return nil
    } ?? nil
  }

  func forget(_ link: LinkKey) throws { try remove(link.source, attribute: Self.name(of: link)) }

  /// Whether a pair has to wait for a later schema, which knows the entity of one of its ends.
  func waits(_ link: LinkKey) throws -> Bool { try holdsWhole(link.source) || holdsWhole(link.target) }

  /// Forgets every pair: a snapshot brings those that there are.
  func removeLinks() throws { try connection.run("DELETE FROM _tombolo_aside WHERE attribute LIKE '#link %'") { _ in } }

  // MARK: Records

  /// Everything that was set aside, a record's whole state or one field of it at a time.
  func states() throws -> [RecordState] {
    var states: [RecordState] = []
    try connection.eachRow("SELECT attribute, body FROM _tombolo_aside ORDER BY record, attribute") { row in
      guard row.string(0) != Self.confirmed, case .record(let state) = try FeedItem(decoding: row.bytes(1), as: .cbor)
      else { return }
      states.append(state)
    }
    return states
  }

  /// The fields of one record that its entity does not have.
  func fields(of id: RecordID) throws -> [FieldState] {
    try states(of: id).filter { $0.key != Self.confirmed }.sorted { $0.key < $1.key }.flatMap(\.value.fields)
  }

  /// The same, each in its record's state.
  func fieldStates(of id: RecordID) throws -> [RecordState] {
    try states(of: id).filter { $0.key != Self.confirmed && $0.key != Self.whole }.sorted { $0.key < $1.key }.map(
      \.value)
  }

  func holdsWhole(_ id: RecordID) throws -> Bool { try states(of: id)[Self.whole] != nil }

  /// Forgets fields of a record, and its whole state.
  func forget(_ fields: [String], of id: RecordID) throws {
    for attribute in fields + [Self.whole] { try remove(id, attribute: attribute) }
  }

  func confirmed(_ id: RecordID) throws -> RecordImage? {
    guard let state = try states(of: id)[Self.confirmed] else { return nil }
    var fields: [String: FieldMerge.Version] = [:]
    for field in state.fields { fields[field.name] = FieldMerge.Version(value: field.value, stamp: field.stamp) }
    return RecordImage(entity: state.entity, incarnation: state.incarnation, fields: fields)
  }

  func setConfirmed(_ id: RecordID, _ image: RecordImage?) throws {
    guard let image else { return try remove(id, attribute: Self.confirmed) }
    let fields = image.fields.sorted { $0.key < $1.key }.map {
      FieldState(name: $0.key, value: $0.value.value, stamp: $0.value.stamp)
    }
    try put(
      RecordState(entity: image.entity, id: id, incarnation: image.incarnation, fields: fields, isWhole: true),
      under: Self.confirmed)
  }

  /// Forgets what was set aside of a record, but not the confirmed record under a pending create.
  func removeFields(of id: RecordID) throws {
    try connection.run("DELETE FROM _tombolo_aside WHERE record = ?1 AND attribute <> '#confirmed'") {
      $0.bind(id, at: 1)
    }
  }

  private func remove(_ id: RecordID, attribute: String) throws {
    try connection.run("DELETE FROM _tombolo_aside WHERE record = ?1 AND attribute = ?2") {
      $0.bind(id, at: 1)
      $0.bind(attribute, at: 2)
    }
  }

  /// Everything that is kept of one record, by the attribute under which it is kept.
  func states(of id: RecordID) throws -> [String: RecordState] {
    var states: [String: RecordState] = [:]
    try connection.eachRow("SELECT attribute, body FROM _tombolo_aside WHERE record = ?1", { $0.bind(id, at: 1) }) {
      row in
      if case .record(let state) = try FeedItem(decoding: row.bytes(1), as: .cbor) { states[row.string(0)] = state }
    }
    return states
  }

  private func put(_ state: RecordState, under attribute: String) throws {
    let bytes = FeedItem.record(state).encoded(as: .cbor)
    try connection.run("INSERT OR REPLACE INTO _tombolo_aside(record, entity, attribute, body) VALUES (?1, ?2, ?3, ?4)")
    {
      $0.bind(state.id, at: 1)
      $0.bind(state.entity, at: 2)
      $0.bind(attribute, at: 3)
      $0.bind(bytes, at: 4)
    }
  }
}
