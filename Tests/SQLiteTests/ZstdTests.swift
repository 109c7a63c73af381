import Testing
import TomboloCompression

@Suite("Zstandard")
struct ZstdTests {
  @Test("What was compressed comes back", arguments: [0, 1, 1000, 300_000])
  func roundTrip(_ count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7 &* 31) }
    let packed = try Zstd.compress(bytes)
    #expect(try Zstd.decompress(packed, limit: count) == bytes)
    if count >= 1000 { #expect(packed.count < count) }
  }

  @Test("A frame that was cut off, changed or followed by something else is damaged", arguments: 0..<4)
  func damaged(_ kind: Int) throws {
    var packed = try Zstd.compress([UInt8](repeating: 5, count: 10_000) + Array(0...255))
    switch kind {
    case 0: packed.removeLast()
    case 1: packed[0] ^= 0xFF
    case 2: packed.append(0)
    default: packed = []
    }
    #expect(throws: Zstd.Failure.self) { try Zstd.decompress(packed, limit: 1_000_000) }
  }

  @Test("A small frame that would become huge stops at the limit")
  func bomb() throws {
    let packed = try Zstd.compress([UInt8](repeating: 0, count: 50_000_000))
    #expect(packed.count < 10_000)
    let error = #expect(throws: Zstd.Failure.self) { try Zstd.decompress(packed, limit: 1_000_000) }
    guard case .tooLarge(limit: 1_000_000) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try Zstd.decompress(packed, limit: 50_000_000).count == 50_000_000)
  }
}
