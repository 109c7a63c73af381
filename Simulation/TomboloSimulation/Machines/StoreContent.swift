package import Tombolo
package import TomboloProtocol
import TomboloSQLite

/// What a reader of a store sees at one moment: every record's values and every link.
package struct StoreContent: Hashable, Sendable {
  package struct Record: Hashable, Sendable {
    package var entity: String
    package var id: RecordID
    /// Aligned with the entity's columns.
    package var values: [Value]
  }

  package struct Pair: Hashable, Comparable, Sendable {
    package var source: RecordID
    package var target: RecordID
    package static func < (a: Pair, b: Pair) -> Bool {
      a.source == b.source ? a.target < b.target : a.source < b.source
    }
  }

  /// By entity in the document's order, then by id.
  package private(set) var records: [Record] = []
  /// By the relationship's key, ascending; the pairs ascending.
  package private(set) var links: [(key: String, pairs: [Pair])] = []
  private var places: [RecordID: Int] = [:]

  package init(of store: Store) throws {
    let schema = store.schema
    try store.read { connection in
      for entity in schema.entities { try readRecords(entity, on: connection) }
      for key in schema.resolved.links.keys.sorted() {
        guard let plan = schema.entities.lazy.flatMap(\.links).first(where: { $0.link.key == key && $0.isSource })
        else {
          continue
        }
        links.append((key, try Self.readPairs(plan, on: connection)))
      }
    }
  }

  private mutating func readRecords(_ entity: EntityPlan, on connection: Connection) throws {
    var sql = "SELECT _tombolo_id"
    for column in entity.columns { sql += ", " + column.column.quotedIdentifier }
    sql += " FROM " + entity.table.quotedIdentifier
    if entity.hasEntityColumn { sql += " WHERE _tombolo_entity = ?1" }
    sql += " ORDER BY _tombolo_id"
    let statement = try connection.cached(sql)
    defer { statement.reset() }
    if entity.hasEntityColumn { statement.bind(entity.name, at: 1) }
    while try statement.step() {
      guard let id = RecordID(bytes: statement.bytes(0)) else { continue }
      let values = entity.columns.indices.map { Self.value(statement, Int32($0 + 1)) }
      places[id] = records.count
      records.append(Record(entity: entity.name, id: id, values: values))
    }
  }

  private static func readPairs(_ plan: LinkPlan, on connection: Connection) throws -> [Pair] {
    let statement = try connection.cached(
      "SELECT source, target FROM \(plan.table.quotedIdentifier) ORDER BY source, target")
    defer { statement.reset() }
    var pairs: [Pair] = []
    while try statement.step() {
      guard let source = RecordID(bytes: statement.bytes(0)), let target = RecordID(bytes: statement.bytes(1)) else {
        continue
      }
      pairs.append(Pair(source: source, target: target))
    }
    return pairs
  }

  private static func value(_ statement: Statement, _ index: Int32) -> Value {
    switch statement.storageClass(index) {
    case .null: .null
    case .integer: .integer(statement.int64(index))
    case .real: .real(statement.double(index))
    case .text: .text(statement.string(index))
    case .blob: .blob(statement.bytes(index))
    }
  }

  package func record(_ id: RecordID) -> Record? { places[id].map { records[$0] } }

  package func ids(of entity: String) -> [RecordID] { records.lazy.filter { $0.entity == entity }.map(\.id) }

  package static func == (a: StoreContent, b: StoreContent) -> Bool {
    a.records == b.records && a.links.elementsEqual(b.links) { $0.key == $1.key && $0.pairs == $1.pairs }
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(records) }
}

extension StoreContent {
  /// A number that depends on every value and not on the process.
  package var digest: UInt64 {
    var digest = ContentDigest()
    for record in records {
      digest.add(record.entity)
      digest.add(record.id)
      for value in record.values { digest.add(value) }
    }
    for (key, pairs) in links {
      digest.add(key)
      for pair in pairs {
        digest.add(pair.source)
        digest.add(pair.target)
      }
    }
    return digest.value
  }

  /// The first difference in words; nil where there is none.
  package func difference(from other: StoreContent, schema: StoreSchema) -> String? {
    let ids = Set(records.map(\.id)).union(other.records.map(\.id)).sorted()
    for id in ids {
      switch (record(id), other.record(id)) {
      case (let mine?, nil): return "\(mine.entity) \(id.short) is here and not there"
      case (nil, let theirs?): return "\(theirs.entity) \(id.short) is there and not here"
      case (let mine?, let theirs?) where mine != theirs:
        guard mine.entity == theirs.entity, let plan = schema.entity(mine.entity) else {
          return "\(id.short) is \(mine.entity.withArticle) here and \(theirs.entity.withArticle) there"
        }
        for (column, pair) in zip(plan.columns, zip(mine.values, theirs.values)) where pair.0 != pair.1 {
          return
            "\(mine.entity) \(id.short).\(column.property) is \(pair.0.traceText) here and \(pair.1.traceText) there"
        }
      default: continue
      }
    }
    for (mine, theirs) in zip(links, other.links) where mine.pairs != theirs.pairs {
      let odd = Set(mine.pairs).symmetricDifference(theirs.pairs).sorted()
      let pair = odd.first.map { "\($0.source.short)–\($0.target.short)" } ?? "order"
      return "\(mine.key) differs in \(pair)"
    }
    return nil
  }
}

extension RecordID {
  /// Enough of it to tell records of one run apart.
  var short: String {
    let text = String(low & 0xFFFF_FFFF, radix: 16)
    return String(repeating: "0", count: 8 - text.count) + text
  }
}

extension Value {
  /// The value as the trace writes it; equal only for equal values.
  var traceText: String {
    switch self {
    case .null: "nil"
    case .integer(let value): "\(value)"
    case .real(let value): "r\(value)"
    case .text(let value): "'\(value)'"
    case .blob(let value): reference?.short ?? "x" + value.map { String($0, radix: 16) }.joined(separator: ".")
    }
  }
}
