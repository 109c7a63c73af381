public import Foundation
import TomboloProtocol

// A schema as JSON is its schema document: the same text that stores, servers and the command line read.

extension Schema: Codable {
  /// Writes the schema document, with its members in alphabetical order.
  public func encode(to encoder: any Encoder) throws { try CodedJSON(document.json).encode(to: encoder) }

  /// Reads a schema document. The schema can be looked at and compared; it has no classes, so no container opens with it.
  ///
  /// - Throws: ``TomboloError`` `invalid_schema`, with every mistake; what the decoder throws.
  public convenience init(from decoder: any Decoder) throws {
    self.init(document: try SchemaDocument(parsing: try CodedJSON(from: decoder).value.compact))
  }

  /// Writes the schema document to a file.
  ///
  /// - Throws: ``TomboloError`` `file_unwritable`.
  public func save(to url: URL) throws {
    do {
      try Data(document.readableJSON).write(to: url, options: .atomic)
    } catch {
      throw TomboloError(
        .fileUnwritable, "The schema cannot be written to \(url.path).",
        remedy: "Name a file in a folder that can be written.")
    }
  }

  /// Reads a schema document. The schema can be looked at and compared; it has no classes, so no container opens with it.
  ///
  /// - Throws: ``TomboloError`` `file_unreadable`; `invalid_schema`, with every mistake.
  public static func load(from url: URL) throws -> Schema {
    guard let data = try? Data(contentsOf: url) else {
      throw TomboloError(
        .fileUnreadable, "The schema at \(url.path) cannot be read.", remedy: "Name a file that Schema.save(to:) wrote."
      )
    }
    return Schema(document: try SchemaDocument(parsing: [UInt8](data)))
  }
}

/// A JSON value as any coder takes it.
private struct CodedJSON: Codable {
  let value: JSONValue

  /// Any key of an object.
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(_ value: JSONValue) { self.value = value }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      value = .object(
        JSONObject(
          try container.allKeys.map { ($0.stringValue, try container.decode(CodedJSON.self, forKey: $0).value) }))
    } else if var container = try? decoder.unkeyedContainer() {
      var values: [JSONValue] = []
      // Ends: each turn takes one element.
      while !container.isAtEnd { values.append(try container.decode(CodedJSON.self).value) }
      value = .array(values)
    } else {
      value = try Self.scalar(decoder.singleValueContainer())
    }
  }

  private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
    if container.decodeNil() { return .null }
    if let value = try? container.decode(Bool.self) { return .bool(value) }
    if let value = try? container.decode(Int64.self) { return .integer(value) }
    if let value = try? container.decode(Double.self) { return .real(value) }
    return .string(try container.decode(String.self))
  }

  func encode(to encoder: any Encoder) throws {
    switch value {
    case .object(let object):
      var container = encoder.container(keyedBy: Key.self)
      for member in object.members {
        try container.encode(CodedJSON(member.value), forKey: Key(stringValue: member.key))
      }
    case .array(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(CodedJSON(value)) }
    default:
      var container = encoder.singleValueContainer()
      switch value {
      case .bool(let value): try container.encode(value)
      case .integer(let value): try container.encode(value)
      case .real(let value): try container.encode(value)
      case .string(let value): try container.encode(value)
      default: try container.encodeNil()
      }
    }
  }
}
