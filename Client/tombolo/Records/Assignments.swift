package import Tombolo
package import TomboloProtocol
package import TomboloSQLite

/// The `name=value` arguments of `add` and `set`.
///
/// `name=` gives empty text, which only text attributes take; `name:null` gives no value, which only optional
/// attributes and references take. A reference takes an identifier or a unique beginning of one.
package struct Assignments: Sendable {
  package struct Item: Hashable, Sendable {
    package var name: String
    /// Nil for `name:null`.
    package var text: String?

    /// The same argument cut where the name of an attribute ends: a name may hold an equals sign itself.
    fileprivate func read(for entity: EntityPlan) -> Item {
      guard entity.column(name) == nil, let text else { return self }
      let whole = "\(name)=\(text)"
      if whole.hasSuffix(":null"), entity.column(String(whole.dropLast(5))) != nil {
        return Item(name: String(whole.dropLast(5)), text: nil)
      }
      for (place, character) in zip(text.indices, text) where character == "=" {
        let longer = "\(name)=\(text[..<place])"
        if entity.column(longer) != nil { return Item(name: longer, text: String(text[text.index(after: place)...])) }
      }
      return self
    }
  }

  package let items: [Item]

  package static let help =
    "name=value sets an attribute; name= is empty text, name:null is no value.\n"
    + "A reference takes the identifier of a record, or a unique beginning of it.\n"
    + "A to-many takes several: tags+=ID,ID adds, tags-=ID removes, tags=ID,ID sets, tags= empties it."

  /// - Throws: ``UsageError`` for what is no assignment and for a name that is given twice.
  package init(_ arguments: [String]) throws {
    var items: [Item] = []
    for argument in arguments {
      let item: Item
      if let equals = argument.firstIndex(of: "=") {
        item = Item(name: String(argument[..<equals]), text: String(argument[argument.index(after: equals)...]))
      } else if argument.hasSuffix(":null") {
        item = Item(name: String(argument.dropLast(5)), text: nil)
      } else {
        throw UsageError("'\(argument)' is neither name=value nor name:null")
      }
      guard !item.name.isEmpty else { throw UsageError("'\(argument)' names no attribute") }
      // A list may be added to twice. Of a name that holds an equals sign only the first part is known yet.
      let isList = item.name.hasSuffix("+") || item.name.hasSuffix("-")
      let isDouble =
        !isList && items.contains { $0.name == item.name && ($0.text == item.text || !Self.mayGoOn($0, item)) }
      guard !isDouble else { throw UsageError("\(item.name) is given twice") }
      items.append(item)
    }
    self.items = items
  }

  private static func mayGoOn(_ first: Item, _ second: Item) -> Bool {
    [first.text, second.text].contains { $0?.contains("=") ?? false || $0?.hasSuffix(":null") ?? false }
  }

  /// The values by property, references looked up; without the arguments that are about members of relationships.
  ///
  /// - Throws: `unknown_attribute`, `required_attribute`, `required_reference`, `unknown_record`, `ambiguous`, and what
  ///   ``ValueRules`` throws.
  package func values(for entity: EntityPlan, in schema: StoreSchema, on connection: Connection) throws -> [String:
    Value]
  {
    var values: [String: Value] = [:]
    var members = MemberAssignments(of: entity)
    for item in items.map({ $0.read(for: entity) }) {
      if entity.column(item.name) == nil, try members.take(item) { continue }
      let column = try RecordAccess.column(item.name, of: entity)
      guard values[item.name] == nil else { throw UsageError("\(item.name) is given twice") }
      values[item.name] = try value(item, column, entity, schema, connection)
    }
    return values
  }

  /// The arguments that are about members of the entity's relationships.
  ///
  /// - Throws: ``UsageError``.
  func members(for entity: EntityPlan) throws -> MemberAssignments {
    var members = MemberAssignments(of: entity)
    for item in items.map({ $0.read(for: entity) }) where entity.column(item.name) == nil { _ = try members.take(item) }
    return members
  }

  private func value(
    _ item: Item, _ column: ColumnPlan, _ entity: EntityPlan, _ schema: StoreSchema, _ connection: Connection
  ) throws -> Value {
    let place = "\(entity.name).\(item.name)"
    switch column.kind {
    case .attribute(let attribute):
      if let text = item.text { return try ValueRules.value(parsing: text, as: attribute.type, named: place) }
      guard attribute.isOptional else {
        throw TomboloError(
          .requiredAttribute, "\(place) cannot be without a value.", remedy: "Give it one: \(item.name)=….")
      }
      return .null
    case .reference(let reference):
      if let text = item.text {
        let destination = try RecordAccess.entity(reference.destination, in: schema)
        return Value(reference: try RecordAccess.record(text, of: destination, on: connection))
      }
      guard reference.isOptional else {
        throw TomboloError(
          .requiredReference, "\(place) cannot be without a record.", remedy: "Give it one: \(item.name)=IDENTIFIER.")
      }
      return .null
    }
  }
}

/// Values that a new record gets without anybody giving them.
package enum NewRecord {
  /// Fills generated defaults in, which then count as assigned, and makes sure that nothing required is missing.
  ///
  /// - Throws: `required_attribute`, `required_reference`.
  package static func complete(
    _ values: inout [String: Value], of entity: EntityPlan, clock: any WallClock, randomness: any Randomness
  ) throws {
    for column in entity.declaredColumns where values[column.property] == nil {
      switch column.kind {
      case .attribute(let attribute):
        switch attribute.defaultValue {
        case .constant: continue
        case .generatedUUID: values[column.property] = .blob(randomUUID(randomness).bytes)
        case .generatedNow:
          values[column.property] = .real((Double(clock.milliseconds()) - 978_307_200_000) / 1_000)
        case nil where attribute.isOptional: continue
        case nil:
          throw TomboloError(
            .requiredAttribute, "\(entity.name).\(column.property) has no default and was given no value.",
            remedy: "Give it one: \(column.property)=….")
        }
      case .reference(let reference):
        if reference.isOptional { continue }
        throw TomboloError(
          .requiredReference, "\(entity.name).\(column.property) cannot be without a record.",
          remedy: "Give it one: \(column.property)=IDENTIFIER.")
      }
    }
  }

  /// A UUID of version 4 (RFC 9562), as Swift's `UUID()` makes.
  private static func randomUUID(_ randomness: any Randomness) -> RecordID {
    RecordID(
      high: randomness.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
      low: randomness.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
  }
}
