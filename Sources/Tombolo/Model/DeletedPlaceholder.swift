import TomboloProtocol
import TomboloSQLite

/// An object for a record that is not there: deleted, in no context, with the declared default values.
///
/// It stands where the language demands an object and nothing can be thrown: the value of a required relationship whose
/// record is gone, and the answer of ``ModelContext/model(for:)``. It is made of a row of constants, as any fetched object
/// is made of its row.
enum DeletedPlaceholder {
  private static let plans = Guarded<[ObjectIdentifier: ModelPlan]>([:])

  /// Nil where a property has a type of which no value can be made up.
  ///
  /// - Parameter values: by property, what is known of the record.
  static func make(
    _ type: any PersistentModel.Type, _ record: RecordID?, values: [String: Value] = [:]
  ) -> (any PersistentModel)? {
    guard let plan = plan(of: type), let connection = try? Connection(path: ":memory:") else { return nil }
    for unknown in ["{}", "[]", "\"\"", "0"] {
      guard let made = try? object(type, plan, record, on: connection, unknown: unknown, values) else { continue }
      let state = made._$state
      state.link = nil
      state.plan = nil
      state.flags = [.absorbed, .deleted]
      for index in state.cells.indices { state.cells[index].content = .loaded }
      return made
    }
    return nil
  }

  private static func plan(of type: any PersistentModel.Type) -> ModelPlan? {
    if let known = plans.withLock({ $0[ObjectIdentifier(type)] }) { return known }
    let schema = Schema([type])
    guard schema.faults.isEmpty else { return nil }
    let made = ModelPlans(schema.descriptions, StoreSchema(document: schema.document)).plan(for: type)
    plans.withLock { $0[ObjectIdentifier(type)] = made }
    return made
  }

  private static func object(
    _ type: any PersistentModel.Type, _ plan: ModelPlan, _ record: RecordID?, on connection: Connection,
    unknown: String, _ values: [String: Value]
  ) throws -> any PersistentModel {
    let properties = plan.description.properties
    let places = (["NULL"] + properties.indices.map { "?\($0 + 1)" }).joined(separator: ", ")
    let statement = try connection.prepare("SELECT \(places)", persistent: false)
    for (index, property) in properties.enumerated() {
      statement.bind(values[property.name] ?? constant(property, unknown: unknown), at: Int32(index + 1))
    }
    defer { statement.reset() }
    _ = try statement.step()
    let reader = _$RowReader(
      statement: statement, first: 1, plan: plan, link: ContextLink(core: nil))
    reader.record = record ?? IdentifierSource.next()
    return try type.init(_$row: reader)
  }

  /// A value that may stand in an attribute's place until it is read; nil where none can be made up for certain.
  static func neutral(_ attribute: SchemaAttribute) -> Value? {
    if attribute.isOptional { return .null }
    if case .constant(let value) = attribute.defaultValue { return value }
    // Only some raw values are an enum's, and only some texts a Codable value's.
    if attribute.type == .codable || attribute.options.contains("transformable") { return nil }
    if attribute.swiftType != nil, attribute.cases.isEmpty { return nil }
    return value(attribute, unknown: "")
  }

  private static func constant(_ property: ClassDescription.Property, unknown: String) -> Value {
    guard case .attribute(let attribute) = property.kind else { return .null }
    if case .constant(let value) = attribute.defaultValue { return value }
    if attribute.isOptional { return .null }
    if attribute.type == .codable, let type = Swift.type(of: property.path).valueType as? any Codable.Type,
      let json = BlankDecoder.json(of: type)
    {
      return .text(json)
    }
    return value(attribute, unknown: unknown)
  }

  private static func value(_ attribute: SchemaAttribute, unknown: String) -> Value {
    if let value = attribute.cases.first { return value }
    switch attribute.type {
    case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: return .integer(0)
    case .float, .double, .date: return .real(0)
    case .decimal: return .text("0")
    case .string: return .text("")
    case .url: return .text("about:blank")
    case .uuid: return .blob([UInt8](repeating: 0, count: 16))
    case .data: return .blob([])
    case .codable: return .text(unknown)
    }
  }
}
