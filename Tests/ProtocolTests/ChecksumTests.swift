import Testing
import TomboloProtocol

/// The vectors of SPEC.md, "The checksum", which were computed by another program.
@Suite struct ChecksumTests {
  private static let book = RecordID(high: 0x0197_C5A0_0000_7000, low: 0x8000_0000_0000_0001)
  private static let tag = RecordID(high: 0x0197_C5A0_0000_7000, low: 0x8000_0000_0000_0002)
  private static let stamp = Stamp(
    clock: ClockReading(milliseconds: 1_760_000_000_000, counter: 3), replica: ReplicaID(0xA1))
  private static let derived = Stamp(
    clock: ClockReading(milliseconds: 1_760_000_000_001), replica: ReplicaID(0xB2), derived: 1)

  enum Part: String, CaseIterable, Sendable {
    case life, field, null, pair

    var vector: Checksum {
      switch self {
      case .life: Checksum(high: 0xA898_05A0_24B5_D6A1, low: 0xF5D7_AC8D_ADEA_84F4)
      case .field: Checksum(high: 0x6F18_A2AD_1FDB_7083, low: 0xA358_D460_7E25_9254)
      case .null: Checksum(high: 0xEE68_72FB_5A9E_9E26, low: 0x9352_CFEA_5F78_E934)
      case .pair: Checksum(high: 0xFAB1_431A_9BF4_04EF, low: 0x0EF9_CCEF_8E19_F776)
      }
    }
  }

  private static func insert(_ part: Part, into sum: inout Checksum) {
    switch part {
    case .life: sum.insert(life: stamp, of: book, as: "Book")
    case .field: sum.insert(book, "title", .text("Dune"), derived)
    case .null: sum.insert(book, "isbn", .null, stamp)
    case .pair: sum.insert(LinkKey(relationship: "Book.tags", source: book, target: tag), stamp)
    }
  }

  @Test("each part of the checksum is the one that the specification gives", arguments: Part.allCases)
  func vectors(part: Part) {
    var sum = Checksum()
    Self.insert(part, into: &sum)
    #expect(sum == part.vector)
  }

  @Test("the sum does not depend on the order, and what is taken away is as if it had never been there")
  func order() {
    var sum = Checksum()
    for part in Part.allCases.reversed() { Self.insert(part, into: &sum) }
    #expect(sum == Checksum(high: 0x00CA_5E63_3B23_EA39, low: 0x3B7D_1DC8_19A2_F7F2))
    sum.remove(LinkKey(relationship: "Book.tags", source: Self.book, target: Self.tag), Self.stamp)
    sum.remove(life: Self.stamp, of: Self.book, as: "Book")
    sum.remove(Self.book, "isbn", .null, Self.stamp)
    #expect(sum == Part.field.vector)
    sum.insert(Self.book, "pages", .integer(1), .zero)
    #expect(sum == Part.field.vector, "a field that nobody assigned counts")
  }

  @Test("a record's bucket comes from a hash of its id: ids that follow one another lie apart, and evenly")
  func buckets() {
    #expect(Checksum.bucket(of: Self.book) == 1_095)
    #expect(Checksum.bucket(of: Self.tag) == 3_952)
    var counts = [Int](repeating: 0, count: Checksum.bucketCount)
    for index in 0..<(16 * UInt64(Checksum.bucketCount)) {
      counts[Checksum.bucket(of: RecordID(high: Self.book.high, low: Self.book.low &+ index))] += 1
    }
    // Sixteen are expected; a bucket of an even hash has hardly ever more than 45.
    #expect((counts.max() ?? 0) < 45)
  }
}
