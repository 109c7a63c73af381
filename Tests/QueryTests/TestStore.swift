import Foundation
import Testing
import TomboloProtocol
import TomboloSQLite

@testable import Tombolo

/// Objects in memory and the same objects as rows.
final class TestStore {
  let connection: Connection
  let textForms: TextForms
  var items: [Item] = []
  var folders: [Folder] = []
  var people: [Person] = []
  var tags: [Tag] = []
  var animals: [Animal] = []

  init(textForms: TextForms = .unknown) throws {
    self.textForms = textForms
    connection = try Connection(path: ":memory:")
    try QueryFunctions.register(on: connection)
    for plan in TestSchema.store.entities where plan.lineage.count == 1 { try connection.execute(Self.table(of: plan)) }
    for link in TestSchema.store.resolved.links.values {
      let name = link.key.replacing(".", with: "_").quotedIdentifier
      try connection.execute(
        "CREATE TABLE \(name) (source BLOB NOT NULL, target BLOB NOT NULL, PRIMARY KEY (source, target)) STRICT")
    }
  }

  private static func table(of root: EntityPlan) -> String {
    var columns: [String: String] = [:]
    for plan in TestSchema.store.entities where plan.table == root.table {
      for column in plan.columns { columns[column.column] = storageClass(of: column) }
    }
    let definitions = columns.sorted { $0.key < $1.key }.map { "\($0.key.quotedIdentifier) \($0.value)" }
    return """
      CREATE TABLE \(root.table.quotedIdentifier) (_tombolo_id BLOB PRIMARY KEY NOT NULL\
      \(root.hasEntityColumn ? ", _tombolo_entity TEXT" : ""), \(definitions.joined(separator: ", "))) STRICT
      """
  }

  private static func storageClass(of column: ColumnPlan) -> String {
    guard case .attribute(let attribute) = column.kind else { return "BLOB" }
    switch attribute.type {
    case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: return "INTEGER"
    case .float, .double, .date: return "REAL"
    case .decimal, .string, .url, .codable: return "TEXT"
    case .data, .uuid: return "BLOB"
    }
  }

  func insert(_ object: TestObject, as entity: String, _ values: [String: Value]) throws {
    let plan = try #require(TestSchema.store.entity(entity))
    var columns: [(String, Value)] = [("_tombolo_id", .blob(object.key.bytes))]
    if plan.hasEntityColumn { columns.append(("_tombolo_entity", .text(entity))) }
    columns += values.map { ($0.key, $0.value) }
    let names = columns.map(\.0.quotedIdentifier).joined(separator: ", ")
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    let statement = try connection.prepare("INSERT INTO \(plan.table.quotedIdentifier) (\(names)) VALUES (\(places))")
    for (index, column) in columns.enumerated() { statement.bind(column.1, at: Int32(index + 1)) }
    try statement.run()
  }

  func link(_ table: String, source: RecordID, target: RecordID) throws {
    let statement = try connection.prepare("INSERT INTO \(table.quotedIdentifier) VALUES (?, ?)")
    statement.bind(source.bytes, at: 1)
    statement.bind(target.bytes, at: 2)
    try statement.run()
  }

  // MARK: Asking

  func plan<Model>(
    _ entity: String, _ predicate: Predicate<Model>?, sortBy: [SortDescriptor<Model>] = [], limit: Int? = nil,
    offset: Int? = nil
  ) throws -> FetchPlan {
    let entity = try #require(TestSchema.store.entity(entity))
    return try FetchPlan(
      predicate: predicate, sortBy: sortBy, limit: limit, offset: offset, entity: entity, schema: TestSchema.store,
      maps: TestSchema.maps, textForms: textForms)
  }

  func keys(_ plan: FetchPlan) throws -> [RecordID] {
    try FetchPlan.translatingErrors {
      let statement = try plan.statement(plan.identifierStatement, on: connection)
      defer { statement.reset() }
      var keys: [RecordID] = []
      while try statement.step() { keys.append(try #require(RecordID(bytes: statement.bytes(0)))) }
      return keys
    }
  }

  func count(_ plan: FetchPlan) throws -> Int {
    let statement = try plan.statement(plan.countStatement, on: connection)
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : -1
  }
}
