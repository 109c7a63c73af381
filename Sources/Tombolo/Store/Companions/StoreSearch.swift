package import TomboloProtocol
import TomboloSQLite

/// What a person looks for, as the full-text index takes it.
///
/// All words have to be there, in any attribute and any order. Several words between double quotes have to follow each other, a star at the end of a word
/// stands for any ending, and a word after a minus must not be there.
package struct SearchWords: Hashable, Sendable {
  /// The expression (https://sqlite.org/fts5.html, "Full-text Query Syntax"); nil where nothing is looked for.
  package let expression: String?

  /// Words of one search.
  private static let countMax = 64

  package init(_ text: String) {
    var wanted: [String] = []
    var unwanted: [String] = []
    for part in Self.parts(text).prefix(Self.countMax) {
      var word = part
      let isUnwanted = word.hasPrefix("-") && word.count > 1
      if isUnwanted { word.removeFirst() }
      let isBeginning = word.hasSuffix("*")
      word.removeAll { $0 == "*" || $0 == "\"" }
      // A word without a letter or digit would match nothing, and everything with it.
      guard word.contains(where: { $0.isLetter || $0.isNumber }) else { continue }
      let term = "\"\(word)\"" + (isBeginning ? " *" : "")
      if isUnwanted { unwanted.append(term) } else { wanted.append(term) }
    }
    if wanted.isEmpty {
      expression = nil
      return
    }
    let all = "(\(wanted.joined(separator: " AND ")))"
    expression = unwanted.isEmpty ? all : "\(all) NOT (\(unwanted.joined(separator: " OR ")))"
  }

  /// What stands between spaces, or between double quotes.
  private static func parts(_ text: String) -> [String] {
    var parts: [String] = []
    var part = ""
    var isQuoted = false
    for character in text {
      if character == "\"" {
        isQuoted.toggle()
      } else if character.isWhitespace, !isQuoted {
        if !part.isEmpty { parts.append(part) }
        part = ""
      } else {
        part.append(character)
      }
    }
    if !part.isEmpty { parts.append(part) }
    return parts
  }
}

/// The records of one entity that a search finds, as SQL: from `FROM` on, with the records' table as `t0`.
struct SearchClause {
  let from: String
  /// The best first; records that fit alike go by their keys.
  static let order = " ORDER BY s.rank, t0.\"_tombolo_id\""

  /// - Throws: `unsupported_feature` for an entity without an attribute that is searched.
  init(_ entity: EntityPlan, in schema: StoreSchema) throws {
    guard entity.columns.contains(where: \.isSearched) || schema.hasSearchedDescendant(of: entity),
      let root = schema.entity(entity.root), let plan = SearchPlan(root: root, in: schema)
    else {
      throw TomboloError(
        .unsupportedFeature, "\(entity.name) has no attribute whose words are indexed.",
        remedy: "Declare text attributes @Attribute(.spotlight), and release that as a schema version.")
    }
    var text =
      "FROM \(plan.index.quotedIdentifier) AS s JOIN _tombolo_number AS n ON n.number = s.rowid "
      + "JOIN \(entity.table.quotedIdentifier) AS t0 ON t0.\"_tombolo_id\" = n.record "
      + "WHERE s.\(plan.index.quotedIdentifier) MATCH ?1"
    if entity.hasEntityColumn, entity.lineage.count > 1 {
      text += " AND t0._tombolo_entity IN (\(entity.concreteNames.map(\.quotedLiteral).joined(separator: ", ")))"
    }
    from = text
  }
}

extension StoreSchema {
  fileprivate func hasSearchedDescendant(of entity: EntityPlan) -> Bool {
    entity.concreteNames.contains { self.entity($0)?.columns.contains(where: \.isSearched) == true }
  }
}

extension Store {
  /// The identities of the records that a search finds, the best first.
  ///
  /// - Throws: `unsupported_feature` for an entity without an attribute that is searched.
  package func search(
    _ entity: EntityPlan, _ words: SearchWords, limit: Int? = nil, offset: Int = 0
  ) throws -> [RecordID] {
    let clause = try SearchClause(entity, in: schema)
    guard let expression = words.expression, limit != 0 else { return [] }
    return try read { connection in
      var found: [RecordID] = []
      try connection.eachRow(
        "SELECT t0.\"_tombolo_id\" \(clause.from)\(SearchClause.order) LIMIT ?2 OFFSET ?3",
        {
          $0.bind(expression, at: 1)
          $0.bind(limit.map { max(0, $0) } ?? -1, at: 2)
          $0.bind(max(0, offset), at: 3)
        }
      ) { row in
        if let record = row.recordID(0) { found.append(record) }
      }
      return found
    }
  }

  /// How many records a search finds.
  package func searchCount(_ entity: EntityPlan, _ words: SearchWords) throws -> Int {
    let clause = try SearchClause(entity, in: schema)
    guard let expression = words.expression else { return 0 }
    return try read { connection in
      try connection.firstRow("SELECT count(*) \(clause.from)", { $0.bind(expression, at: 1) }, { Int($0.int64(0)) })
        ?? 0
    }
  }
}
