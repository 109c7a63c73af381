private import CTomboloSodium

/// BLAKE2b-256 over the parts of a document that shape stored data.
package struct SchemaFingerprint: Hashable, Sendable, CustomStringConvertible {
  /// Thirty-two bytes.
  package let bytes: [UInt8]

  /// Takes bytes that were stored; nil unless there are thirty-two.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// Sixty-four hexadecimal digits.
  package var description: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// The fingerprint of a document: of its canonical JSON without name, version, indexes, defaults, cases and Swift types.
  package init(of document: SchemaDocument) {
    var shape = SchemaDocument(name: "", version: nil, entities: document.entities)
    for index in shape.entities.indices {
      shape.entities[index].indexes = []
      for attribute in shape.entities[index].attributes.indices {
        shape.entities[index].attributes[attribute].defaultValue = nil
        shape.entities[index].attributes[attribute].cases = []
        shape.entities[index].attributes[attribute].swiftType = nil
      }
    }
    let input = shape.canonicalJSON
    var hash = [UInt8](repeating: 0, count: 32)
    let status = crypto_generichash(&hash, hash.count, input, UInt64(input.count), nil, 0)
    precondition(status == 0, "BLAKE2b only fails for a wrong length of the hash, and 32 is right")
    bytes = hash
  }
}

extension SchemaDocument {
  /// Costs a canonical writing of the document and a hash: keep it where it is needed often.
  package var fingerprint: SchemaFingerprint { SchemaFingerprint(of: self) }
}
