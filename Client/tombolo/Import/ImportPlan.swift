import Tombolo
import TomboloProtocol

/// Which column of a file goes where.
struct ImportPlan: Sendable {
  struct Mapping: Sendable {
    var field: Int
    var header: String
    var column: ColumnPlan
    var attribute: SchemaAttribute
  }

  struct Link: Sendable {
    var field: Int
    var header: String
    var column: ColumnPlan
    var reference: ResolvedReference
    var destination: EntityPlan
    var key: ColumnPlan
    var keyAttribute: SchemaAttribute
  }

  var entity: EntityPlan
  var headerCount: Int
  var mappings: [Mapping]
  var links: [Link]
  /// The index into `mappings` of the attribute that tells records apart; nil: every line is a new record.
  var key: Int?
  /// Columns of the file that go nowhere.
  var ignored: [String]

  struct LinkOption: Hashable, Sendable {
    var reference: String
    var header: String
    var entity: String
    var attribute: String

    /// Reads `REFERENCE=COLUMN:Entity.attribute`; a column's name may hold anything but the last colon.
    init(_ text: String) throws {
      let usage = UsageError("--link takes REFERENCE=COLUMN:Entity.attribute, not '\(text)'")
      guard let equals = text.firstIndex(of: "="), let colon = text.lastIndex(of: ":"), equals < colon else {
        throw usage
      }
      let target = text[text.index(after: colon)...].split(separator: ".", omittingEmptySubsequences: false)
      guard target.count == 2, !target[0].isEmpty, !target[1].isEmpty, equals > text.startIndex else { throw usage }
      reference = String(text[..<equals])
      header = String(text[text.index(after: equals)..<colon])
      entity = String(target[0])
      attribute = String(target[1])
    }
  }

  struct MapOption: Hashable, Sendable {
    var attribute: String
    var header: String

    /// Reads `ATTRIBUTE=COLUMN`.
    init(_ text: String) throws {
      guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
        throw UsageError("--map takes ATTRIBUTE=COLUMN, not '\(text)'")
      }
      attribute = String(text[..<equals])
      header = String(text[text.index(after: equals)...])
    }
  }

  /// - Throws: `unknown_attribute`, `unknown_entity`, `bad_line` for a heading that is missing, double or unknown.
  init(
    headers: [String], entity: EntityPlan, schema: StoreSchema, key: String?, maps: [MapOption], links: [LinkOption],
    file: String
  ) throws {
    self.entity = entity
    headerCount = headers.count
    func field(_ header: String) throws -> Int {
      if let index = headers.firstIndex(of: header) { return index }
      throw TomboloError(
        .badLine, "\(file):1: there is no column '\(header)'\(NearestName.suggestion(for: header, among: headers)).",
        remedy: "The columns are: \(headers.joined(separator: ", ")).")
    }
    var seen: Set<String> = []
    for header in headers where !seen.insert(header).inserted {
      throw TomboloError(
        .badLine, "\(file):1: the column '\(header)' is there twice.", remedy: "Give each column its own name.")
    }
    self.links = try links.map { try Self.link($0, entity: entity, schema: schema, field: try field($0.header)) }
    mappings = try Self.mappings(headers, entity: entity, maps: maps, links: links, field: field)
    let used = Set(mappings.map(\.field)).union(self.links.map(\.field))
    ignored = headers.indices.filter { !used.contains($0) }.map { headers[$0] }
    if let key {
      let byAttribute = mappings.firstIndex { $0.column.property == key }
      guard let index = byAttribute ?? mappings.firstIndex(where: { $0.header == key }) else {
        _ = try RecordAccess.column(key, of: entity)
        throw TomboloError(
          .badLine, "\(file):1: no column gives the key '\(key)'.", remedy: "Map one to it: --map \(key)=COLUMN.")
      }
      self.key = index
    }
  }

  private static func link(
    _ option: LinkOption, entity: EntityPlan, schema: StoreSchema, field: Int
  ) throws -> Link {
    let column = try RecordAccess.column(option.reference, of: entity)
    guard case .reference(let reference) = column.kind else {
      throw TomboloError(
        .unknownRelationship, "\(entity.name).\(option.reference) is an attribute, not a reference.",
        remedy: "Use --map \(option.reference)=COLUMN for it.")
    }
    let destination = try RecordAccess.entity(option.entity, in: schema)
    guard destination.lineage.contains(reference.destination) else {
      throw TomboloError(
        .unknownRelationship,
        "\(entity.name).\(option.reference) refers to \(reference.destination), not to \(option.entity).",
        remedy: "Write --link \(option.reference)=\(option.header):\(reference.destination).ATTRIBUTE.")
    }
    let key = try RecordAccess.column(option.attribute, of: destination)
    guard let keyAttribute = key.attribute else {
      throw TomboloError(
        .unknownAttribute, "\(option.entity).\(option.attribute) is a reference, and records are found by an attribute."
      )
    }
    return Link(
      field: field, header: option.header, column: column, reference: reference, destination: destination, key: key,
      keyAttribute: keyAttribute)
  }

  private static func mappings(
    _ headers: [String], entity: EntityPlan, maps: [MapOption], links: [LinkOption], field: (String) throws -> Int
  ) throws -> [Mapping] {
    var mappings: [Mapping] = []
    for map in maps {
      let column = try RecordAccess.column(map.attribute, of: entity)
      guard let attribute = column.attribute else {
        throw TomboloError(
          .unknownAttribute, "\(entity.name).\(map.attribute) is a reference.",
          remedy: "Use --link \(map.attribute)=\(map.header):Entity.attribute for it.")
      }
      guard !mappings.contains(where: { $0.column.property == map.attribute }) else {
        throw UsageError("--map gives \(map.attribute) twice")
      }
      mappings.append(Mapping(field: try field(map.header), header: map.header, column: column, attribute: attribute))
    }
    // Columns that bear an attribute's name need no option, unless one of the options gives that attribute already.
    for (index, header) in headers.enumerated() {
      guard let column = entity.column(header), let attribute = column.attribute,
        !mappings.contains(where: { $0.column.property == header })
      else { continue }
      mappings.append(Mapping(field: index, header: header, column: column, attribute: attribute))
    }
    guard !mappings.isEmpty || !links.isEmpty else {
      throw TomboloError(
        .badLine, "No column of the file bears the name of an attribute of \(entity.name).",
        remedy: "Map them: --map ATTRIBUTE=COLUMN. The columns are: \(headers.joined(separator: ", ")).")
    }
    return mappings
  }
}
