import Foundation
import Tombolo
import TomboloProtocol
import TomboloSQLite

/// Takes the records of a file into a save, one after another.
struct Importer {
  struct Result: Hashable, Sendable {
    var inserted = 0
    var updated = 0
    var skipped = 0
  }

  /// A line that cannot be taken.
  struct BadLine: Error {
    var line: Int
    var column: Int
    var reason: String
    var raw: [UInt8]
  }

  /// A reference to a record of the same file that may come later.
  private struct Deferred {
    var id: RecordID
    var link: Int
    var value: Value
    var field: CSVReader.Field
    var raw: [UInt8]
  }

  let plan: ImportPlan
  let writer: StoreWriter
  let context: CommandContext
  let makeID: () -> RecordID
  private var keyIndex: KeyIndex?
  private var linkIndexes: [KeyIndex]
  /// For each unique constraint that the file fills: on which line each value stood.
  private var uniqueLines: [(key: UniquePlan, lines: [[Value]: Int])]
  private var deferred: [Deferred] = []
  private(set) var result = Result()

  init(plan: ImportPlan, writer: StoreWriter, context: CommandContext, makeID: @escaping () -> RecordID) throws {
    self.plan = plan
    self.writer = writer
    self.context = context
    self.makeID = makeID
    keyIndex = try plan.key.map { try KeyIndex(plan.entity, plan.mappings[$0].column, on: writer.connection) }
    let filled = Set(plan.mappings.map(\.column.position))
    let keyed = plan.key.map { [plan.mappings[$0].column.position] }
    uniqueLines = plan.entity.uniqueKeys
      .filter { $0.columns != keyed && $0.columns.allSatisfy(filled.contains) }.map { ($0, [:]) }
    linkIndexes = try plan.links.map { try KeyIndex($0.destination, $0.key, on: writer.connection) }
  }

  /// - Throws: ``BadLine``.
  mutating func take(_ record: CSVReader.Record) throws {
    guard record.fields.count == plan.headerCount else {
      throw BadLine(
        line: record.line, column: 1,
        reason: "it has \(record.fields.count) fields, the heading has \(plan.headerCount)", raw: record.raw)
    }
    var values: [String: Value] = [:]
    for mapping in plan.mappings {
      let field = record.fields[mapping.field]
      values[mapping.column.property] = try at(field, record) { try Self.value(field, mapping.attribute, plan.entity) }
    }
    var later: [(link: Int, value: Value)] = []
    for (index, link) in plan.links.enumerated() {
      let field = record.fields[link.field]
      let found = try at(field, record) { try reference(field, link, linkIndexes[index]) }
      switch found {
      case .nothing: values[link.column.property] = .null
      case .record(let id): values[link.column.property] = Value(reference: id)
      case .later(let value): later.append((index, value))
      }
    }
    let taken = try uniqueValues(values, record)
    let id = try store(values, record)
    for (index, key) in taken { uniqueLines[index].lines[key] = record.line }
    for (index, value) in later {
      deferred.append(
        Deferred(id: id, link: index, value: value, field: record.fields[plan.links[index].field], raw: record.raw))
    }
  }

  /// Looks up what earlier lines referred to. A bad reference here undoes the import: its record is in already.
  mutating func finish() throws {
    for item in deferred {
      let link = plan.links[item.link]
      guard let target = try linkIndexes[item.link].record(item.value, describing: link.keyPlace) else {
        throw BadLine(
          line: item.field.line, column: item.field.column, reason: Self.unknown(item.field, link), raw: item.raw)
      }
      let row = try ValueRow(plan.entity, [link.column.property: Value(reference: target)])
      try writer.update(plan.entity, item.id, changed: row.assigned, from: row)
    }
  }

  // MARK: Parts

  /// Two lines of one file with one unique value would become one record, and one of them would be lost.
  private func uniqueValues(_ values: [String: Value], _ record: CSVReader.Record) throws -> [(Int, [Value])] {
    var taken: [(Int, [Value])] = []
    for index in uniqueLines.indices {
      let columns = uniqueLines[index].key.columns.map { plan.entity.columns[$0].property }
      let key = columns.map { KeyIndex.key(values[$0] ?? .null) }
      if key.contains(.null) { continue }
      if let line = uniqueLines[index].lines[key] {
        let names = columns.map { "\(plan.entity.name).\($0)" }.joined(separator: " and ")
        throw BadLine(
          line: record.line, column: 1, reason: "\(names) must be unique, and line \(line) has the same value",
          raw: record.raw)
      }
      taken.append((index, key))
    }
    return taken
  }

  private mutating func store(_ values: [String: Value], _ record: CSVReader.Record) throws -> RecordID {
    var values = values
    let keyValue = plan.key.flatMap { values[plan.mappings[$0].column.property] }
    if let key = plan.key, let keyValue {
      let field = record.fields[plan.mappings[key].field]
      let place = "\(plan.entity.name).\(plan.mappings[key].column.property)"
      guard !keyValue.isNull else {
        throw BadLine(line: field.line, column: field.column, reason: "the key \(place) has no value", raw: record.raw)
      }
      if let known = try at(field, record, { try keyIndex?.record(keyValue, describing: place) }) {
        let row = try ValueRow(plan.entity, values)
        try written(record) { _ = try writer.update(plan.entity, known, changed: row.assigned, from: row) }
        result.updated += 1
        return known
      }
    }
    try written(record) {
      try NewRecord.complete(&values, of: plan.entity, clock: context.clock, randomness: context.randomness)
    }
    let id = makeID()
    let row = try ValueRow(plan.entity, values)
    try written(record) { try writer.insert(plan.entity, id, assigned: row.assigned, from: row) }
    result.inserted += 1
    if let keyValue { keyIndex?.add(keyValue, id) }
    for (index, link) in plan.links.enumerated() where Self.mayHold(link, plan.entity) {
      // Later lines may refer to this one.
      if let value = values[link.key.property], !value.isNull { linkIndexes[index].add(value, id) }
    }
    return id
  }

  /// What the store refuses of one record leaves nothing behind, so the line can be set aside.
  private func written(_ record: CSVReader.Record, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as TomboloError {
      let name = error.details.first?.property
      let mapping = plan.mappings.first { $0.column.property == name }
      let field = mapping.map { record.fields[$0.field] }
      throw BadLine(
        line: field?.line ?? record.line, column: field?.column ?? 1, reason: Self.sentence(error), raw: record.raw)
    }
  }

  mutating func skip() { result.skipped += 1 }

  /// Whether a record of the imported entity may be the destination of the link.
  private static func mayHold(_ link: ImportPlan.Link, _ entity: EntityPlan) -> Bool {
    entity.lineage.contains(link.destination.name)
  }

  private enum Found {
    case nothing
    case record(RecordID)
    case later(Value)
  }

  private func reference(_ field: CSVReader.Field, _ link: ImportPlan.Link, _ index: KeyIndex) throws -> Found {
    if field.text.isEmpty, !field.isQuoted {
      guard link.reference.isOptional else {
        throw TomboloError(
          .requiredReference, "\(plan.entity.name).\(link.column.property) cannot be without a record.")
      }
      return .nothing
    }
    let value = try Self.parsed(field, link.keyAttribute.type, link.keyPlace)
    if let id = try index.record(value, describing: link.keyPlace) { return .record(id) }
    if Self.mayHold(link, plan.entity), link.reference.isOptional { return .later(value) }
    throw TomboloError(.unknownRecord, Self.unknown(field, link))
  }

  private static func unknown(_ field: CSVReader.Field, _ link: ImportPlan.Link) -> String {
    "there is no \(link.destination.name) with the \(link.key.property) '\(TextTable.shown(field.text))'"
  }

  /// An empty field without quotes is no value where the attribute may have none, and its default where it has one.
  static func value(_ field: CSVReader.Field, _ attribute: SchemaAttribute, _ entity: EntityPlan) throws -> Value {
    if field.text.isEmpty, !field.isQuoted {
      if attribute.isOptional { return .null }
      if case .constant(let value)? = attribute.defaultValue { return value }
      if attribute.type != .string {
        throw TomboloError(.requiredAttribute, "\(entity.name).\(attribute.name) needs a value.")
      }
    }
    return try parsed(field, attribute.type, "\(entity.name).\(attribute.name)")
  }

  /// Blanks around a number or a date mean nothing; in text they are kept.
  private static func parsed(_ field: CSVReader.Field, _ type: AttributeType, _ place: String) throws -> Value {
    let text = type == .string || type == .codable ? field.text : field.text.trimmingCharacters(in: .whitespaces)
    return try ValueRules.value(parsing: text, as: type, named: place)
  }

  private func at<Result>(
    _ field: CSVReader.Field, _ record: CSVReader.Record, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error as TomboloError {
      throw BadLine(line: field.line, column: field.column, reason: Self.sentence(error), raw: record.raw)
    }
  }

  private static func sentence(_ error: TomboloError) -> String {
    let text = error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
    return error.remedy.isEmpty
      ? text : "\(text). \(error.remedy.hasSuffix(".") ? String(error.remedy.dropLast()) : error.remedy)"
  }
}

extension ImportPlan.Link {
  var keyPlace: String { "\(destination.name).\(key.property)" }
}
