import Foundation

/// Reads CSV (RFC 4180) piece by piece: quotes, doubled quotes, line ends of any kind, line ends inside quotes, a byte
/// order mark at the head. Memory is bounded by the longest record.
package final class CSVReader {
  package struct Record: Hashable, Sendable {
    package var fields: [Field]
    /// The line on which the record begins, from 1.
    package var line: Int
    /// The record as it stood in the file, without its line end.
    package var raw: [UInt8]
  }

  package struct Field: Hashable, Sendable {
    package var text: String
    /// An empty field without quotes means no value; `""` is empty text.
    package var isQuoted: Bool
    package var line: Int
    /// In characters, from 1: where the field begins.
    package var column: Int
  }

  /// What is wrong with the form of a record, and where.
  package struct Malformed: Error, Hashable, Sendable {
    package var reason: String
    package var line: Int
    package var column: Int
    /// The whole record, so that reading can go on behind it; nil at the file's end.
    package var raw: [UInt8]
  }

  package static let recordBytesMax = 16 << 20
  package static let fieldsMax = 4_096

  private let read: () throws -> [UInt8]
  private var buffer: [UInt8] = []
  private var position = 0
  private var line = 1
  private var isAtEnd = false
  private var isAtStart = true
  /// Bytes taken so far: what progress is measured in.
  package private(set) var bytesRead = 0

  /// - Parameter read: the next piece, of any size; empty at the end.
  package init(_ read: @escaping () throws -> [UInt8]) { self.read = read }

  package convenience init(_ bytes: [UInt8], pieceSize: Int = 1 << 16) {
    var rest = bytes[...]
    self.init {
      defer { rest = rest.dropFirst(pieceSize) }
      return Array(rest.prefix(pieceSize))
    }
  }

  private func peek() throws -> UInt8? {
    while position >= buffer.count, !isAtEnd {
      buffer = try read()
      position = 0
      if buffer.isEmpty { isAtEnd = true }
      if isAtStart, !buffer.isEmpty {
        isAtStart = false
        while buffer.count < 3, buffer.starts(with: [0xEF, 0xBB, 0xBF].prefix(buffer.count)) {
          let more = try read()
          if more.isEmpty { break }
          buffer += more
        }
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
      }
    }
    return position < buffer.count ? buffer[position] : nil
  }

  private func advance() {
    position += 1
    bytesRead += 1
  }

  /// The next record; nil at the end. Lines with nothing on them are passed over.
  ///
  /// - Throws: ``Malformed``; the call after it goes on behind the bad record.
  package func next() throws -> Record? {
    while let byte = try peek(), byte == 0x0A || byte == 0x0D { try endLine() }
    guard try peek() != nil else { return nil }
    var parser = RecordParser(line: line)
    while true {
      guard let byte = try peek() else { break }
      if !parser.isInsideQuotes, byte == 0x0A || byte == 0x0D { break }
      advance()
      parser.take(byte)
      if try byte == 0x0A || (byte == 0x0D && peek() != 0x0A) { line += 1 }
      if parser.raw.count > Self.recordBytesMax {
        throw Malformed(
          reason: "a record is longer than \(Self.recordBytesMax) bytes: a quote is probably not closed",
          line: parser.firstLine, column: 1, raw: [])
      }
    }
    let record = parser.finish()
    if try peek() != nil { try endLine() }
    return try record.get()
  }

  private func endLine() throws {
    let byte = try peek()
    advance()
    if byte == 0x0D, try peek() == 0x0A { advance() }
    line += 1
  }
}

/// One record's bytes, taken one after another.
private struct RecordParser {
  private enum State { case start, plain, quoted, quoteInQuoted }

  let firstLine: Int
  private(set) var raw: [UInt8] = []
  private var fields: [CSVReader.Field] = []
  private var bytes: [UInt8] = []
  private var state = State.start
  private var line: Int
  private var column = 1
  private var fieldLine: Int
  private var fieldColumn = 1
  private var problem: (reason: String, line: Int, column: Int)?

  init(line: Int) {
    firstLine = line
    self.line = line
    fieldLine = line
  }

  var isInsideQuotes: Bool { state == .quoted }

  mutating func take(_ byte: UInt8) {
    raw.append(byte)
    switch (state, byte) {
    case (.start, 0x22): state = .quoted
    case (.start, 0x2C), (.plain, 0x2C): endField(isQuoted: false)
    case (.quoteInQuoted, 0x2C): endField(isQuoted: true)
    case (.quoted, 0x22): state = .quoteInQuoted
    case (.quoteInQuoted, 0x22):
      bytes.append(byte)
      state = .quoted
    case (.quoteInQuoted, _):
      note("something stands between a closing quote and the next comma")
      state = .plain
    case (.plain, 0x22): note("a quote stands inside a field that has no quotes around it")
    case (.start, _):
      bytes.append(byte)
      state = .plain
    default: bytes.append(byte)
    }
    move(past: byte)
  }

  private mutating func move(past byte: UInt8) {
    if byte == 0x0A {
      line += 1
      column = 1
    } else if byte & 0xC0 != 0x80 {
      // The later bytes of a UTF-8 sequence belong to the character before.
      column += 1
    }
  }

  private mutating func note(_ reason: String) {
    if problem == nil { problem = (reason, line, column) }
  }

  private mutating func endField(isQuoted: Bool) {
    if let text = String(validating: bytes, as: UTF8.self) {
      if fields.count < CSVReader.fieldsMax {
        fields.append(CSVReader.Field(text: text, isQuoted: isQuoted, line: fieldLine, column: fieldColumn))
      } else {
        note("there are more than \(CSVReader.fieldsMax) fields")
      }
    } else if problem == nil {
      problem = ("the field is not UTF-8", fieldLine, fieldColumn)
    }
    bytes.removeAll(keepingCapacity: true)
    state = .start
    fieldLine = line
    fieldColumn = column + 1
  }

  mutating func finish() -> Result<CSVReader.Record, CSVReader.Malformed> {
    if state == .quoted { problem = problem ?? ("a quote is not closed", fieldLine, fieldColumn) }
    endField(isQuoted: state == .quoteInQuoted)
    if let problem {
      return .failure(
        CSVReader.Malformed(reason: problem.reason, line: problem.line, column: problem.column, raw: raw))
    }
    return .success(CSVReader.Record(fields: fields, line: firstLine, raw: raw))
  }
}
