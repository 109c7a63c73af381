import TomboloProtocol

/// Keeps a save from writing a record that the server would refuse: here it can still be mended, and only this record is
/// concerned. Later the whole save would have to be put aside.
struct RecordSizes {
  /// Nil in a store that has no server.
  let bytesMax: Int?
  /// The large values that this save has written, by column number: a record may be written in several parts.
  private var large: [RecordID: [Int: Int]] = [:]
  /// Parts of a record below this share of the limit are not added up.
  private static let partsMax = 8

  init(_ book: RemoteBook) throws {
    bytesMax = try book.text(.url) == nil ? nil : try book.recordBytesMax
  }

  /// - Parameter bytes: at least what the columns hold; only where they may be too many is each of them looked at.
  /// - Throws: `record_too_large`.
  mutating func check(
    _ entity: EntityPlan, _ id: RecordID, _ columns: ColumnSet, atMost bytes: Int, _ source: some RowSource
  ) throws {
    guard let bytesMax, bytes > bytesMax / Self.partsMax else { return }
    var sizes = large[id] ?? [:]
    try columns.forEach { position in
      let column = entity.columns[position]
      sizes[column.number] = try source.value(of: column).byteCount
    }
    try Self.check(entity, sizes, bytesMax: bytesMax)
    large[id] = sizes
  }

  /// - Parameter sizes: bytes by column number.
  static func check(_ entity: EntityPlan, _ sizes: [Int: Int], bytesMax: Int) throws {
    let total = sizes.values.reduce(0, +)
    guard total > bytesMax else { return }
    let largest = entity.columns.max { sizes[$0.number] ?? 0 < sizes[$1.number] ?? 0 }
    let (name, bytes) = (largest?.property ?? "", largest.flatMap { sizes[$0.number] } ?? 0)
    throw TomboloError(
      .recordTooLarge,
      "A record of \(entity.name) has \(total) bytes, \(bytes) of them in \(entity.name).\(name), and the server takes at most "
        + "\(bytesMax) bytes a record.",
      remedy: "Keep large values outside of the record, or let the server take more ('tombolod serve --record-bytes').",
      details: [
        TomboloError.Detail(
          code: "record_too_large", entity: entity.name, property: name, text: "\(bytes) bytes of \(bytesMax)")
      ])
  }
}

extension StoreWriter {
  func checkSize(
    of entity: EntityPlan, _ id: RecordID, _ columns: ColumnSet, atMost bytes: Int, _ source: some RowSource
  ) throws {
    // Most records are small, and cost no more than this comparison.
    guard bytes > RecordSize.leastBytesMax else { return }
    var sizes = try self.sizes ?? RecordSizes(RemoteBook(connection))
    defer { self.sizes = sizes }
    self.sizes = nil
    try sizes.check(entity, id, columns, atMost: bytes, source)
  }
}
