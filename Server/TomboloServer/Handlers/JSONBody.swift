import Foundation
import TomboloProtocol

/// The small answers that are JSON only: what people and scripts ask for.
enum JSONBody {
  static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value)) + [0x0A]
  }

  /// - Throws: `malformed_message`.
  static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      throw TomboloError.malformed("the body is not the JSON object that was expected")
    }
  }
}
