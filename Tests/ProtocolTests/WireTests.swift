import Testing
import TomboloProtocol

@Suite("Messages on the wire")
struct WireTests {
  @Test("A message is what it was after being written and read", arguments: SampleMessages.all, WireFormat.allCases)
  func roundTrip(sample: Sample, format: WireFormat) throws {
    let bytes = sample.message.encoded(as: format)
    let decoded = try sample.decode(bytes, format)
    #expect(AnyHashable(decoded) == AnyHashable(sample.message))
    #expect(decoded.encoded(as: format) == bytes)
  }

  @Test("The sums of all buckets are read as they were written, and not one less", arguments: WireFormat.allCases)
  func bucketSums(format: WireFormat) throws {
    let sums = (0..<UInt64(Checksum.bucketCount)).map { Checksum(high: $0, low: .max - $0) }
    let response = ComparisonResponse(position: FeedPosition(3), sums: sums)
    let bytes = response.encoded(as: format)
    #expect(try ComparisonResponse(decoding: bytes, as: format) == response)
    let short = ComparisonResponse(position: FeedPosition(3), sums: sums.dropLast()).encoded(as: format)
    #expect(throws: (any Error).self) { try ComparisonResponse(decoding: short, as: format) }
  }

  @Test("A change of one attribute costs its value and a dozen bytes in a batch of a thousand")
  func sizeOfAnUpdate() throws {
    let imported = SampleMessages.stamp(0)
    func size(of changes: [Change], _ format: WireFormat = .cbor) -> Int {
      var set = SampleMessages.emptyChangeSet
      set.changes = changes
      return PushRequest(introduction: SampleMessages.introduction, changeSets: [set]).encoded(as: format).count
    }
    let changes: [Change] = (0..<1000).map { index in
      .update(
        .init(
          entity: "Airport", id: SampleMessages.record(UInt64(index)), incarnation: imported,
          writes: [.init(name: "elevation", value: .integer(1), base: imported)]))
    }
    let perChange = Double(size(of: changes) - size(of: [])) / 1000
    // One byte of it is the value, eleven are the part of the record's key that is random.
    #expect(perChange < 1 + 16)
    #expect(size(of: changes, .json) > 10 * size(of: changes))
  }
}
