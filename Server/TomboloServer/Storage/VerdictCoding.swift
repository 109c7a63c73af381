import TomboloProtocol

/// Verdicts and stamps as they lie in the store's file.
enum VerdictCoding {
  /// Twenty bytes, big endian: equal exactly where the stamps are, and ordered as they are.
  static func bytes(_ stamp: Stamp) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20)
    for number in [stamp.clock.rawValue, stamp.replica.rawValue] {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
      }
    }
    for shift in stride(from: 24, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: stamp.derived >> UInt32(shift)))
    }
    return bytes
  }

  /// - Throws: ``CBORReader/Malformed``.
  static func stamp(_ bytes: [UInt8]) throws -> Stamp {
    guard bytes.count == 20 else { throw CBORReader(bytes).malformed("a stamp has twenty bytes") }
    func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
    return Stamp(
      clock: ClockReading(rawValue: number(0..<8)), replica: ReplicaID(number(8..<16)),
      derived: UInt32(truncatingIfNeeded: number(16..<20)))
  }

  /// The verdicts that are kept: accepted, known and refused. The others say nothing that lasts.
  static func bytes(_ verdict: PushAnswer.Verdict) -> [UInt8] {
    var writer = CBORWriter()
    switch verdict {
    case .accepted(let fell):
      writer.unsigned(0)
      writer.array(count: fell.count * 2)
      for part in fell {
        writer.unsigned(UInt64(part.change))
        if let field = part.field { writer.text(field) } else { writer.null() }
      }
    case .known(let stamp):
      writer.unsigned(1)
      writer.bytes(bytes(stamp))
    case .refused(let code, let message):
      writer.unsigned(2)
      writer.text(code.rawValue)
      writer.text(message)
    case .clockSkew, .gap, .copiedReplica, .fragmentStored: writer.unsigned(3)
    }
    return writer.bytes
  }

  /// - Throws: ``CBORReader/Malformed``.
  static func verdict(_ bytes: [UInt8]) throws -> PushAnswer.Verdict {
    var reader = CBORReader(bytes)
    switch try reader.unsigned() {
    case 0:
      var fell: [FallenPart] = []
      for _ in 0..<(try reader.array() / 2) {
        let change = UInt32(truncatingIfNeeded: try reader.unsigned())
        fell.append(FallenPart(change: change, field: try reader.null() ? nil : try reader.text()))
      }
      return .accepted(fell: fell)
    case 1: return .known(stamp: try stamp(try reader.bytes()))
    case 2: return .refused(code: ErrorCode(rawValue: try reader.text()), message: try reader.text())
    default: throw reader.malformed("an unknown verdict")
    }
  }
}
