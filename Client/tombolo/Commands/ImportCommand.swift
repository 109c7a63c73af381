import Foundation
import Tombolo
import TomboloProtocol

/// `tombolo import STORE FILE.csv --entity E …`
package struct ImportCommand: Command {
  static let entity = CommandOption.required("entity", "ENTITY", help: "The entity that the lines become records of.")
  static let key = CommandOption.text(
    "key", "COLUMN",
    help: "The attribute, or its column, that tells records apart: a line with a known\nvalue changes that record.")
  static let maps = CommandOption.list(
    "map", "ATTRIBUTE=COLUMN", help: "Where the file's column is called otherwise than the attribute.")
  static let links = CommandOption.list(
    "link", "REFERENCE=COLUMN:ENTITY.ATTRIBUTE",
    help: "Refer to the record of that entity whose attribute has the column's value.")
  static let skipBad = CommandOption.text(
    "skip-bad", "FILE", help: "Write lines that cannot be taken to this file, and go on without them.")

  package static let declaration = CommandDeclaration(
    "import", summary: "Take the lines of a CSV file in as records",
    discussion:
      "The first line has the columns' names. All lines come in with one save, or, without --skip-bad, none of them.\n"
      + "An empty field is no value, or the attribute's default where it must have one; \"\" is empty text.",
    operands: [
      Shared.store, OperandDeclaration("FILE", help: "The CSV file (RFC 4180, UTF-8); - for standard input."),
    ],
    options: [
      entity.declaration, key.declaration, maps.declaration, links.declaration, skipBad.declaration,
      Shared.json.declaration,
    ])

  /// Bytes read at a time.
  private static let pieceBytes = 1 << 16
  /// Bad lines that are described one by one.
  private static let reportsMax = 20
  private static let progressLines = 500

  let store: String
  let file: String
  let entity: String
  let key: String?
  let maps: [ImportPlan.MapOption]
  let links: [ImportPlan.LinkOption]
  let badFile: String?
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    file = arguments["FILE"]
    entity = try arguments.value(Self.entity)
    key = try arguments.value(Self.key)
    maps = try arguments.value(Self.maps).map { try ImportPlan.MapOption($0) }
    links = try arguments.value(Self.links).map { try ImportPlan.LinkOption($0) }
    badFile = try arguments.value(Self.skipBad)
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store)
    let entity = try RecordAccess.entity(entity, in: store.schema)
    guard let handle = file == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: file) else {
      throw CommandFailure.unreadable(file)
    }
    defer { if file != "-" { try? handle.close() } }
    // A pipe has no size, and is read once.
    let size = (try? handle.seekToEnd()) ?? 0
    if size > 0 { try handle.seek(toOffset: 0) }
    let reader = CSVReader {
      do {
        return [UInt8](try handle.read(upToCount: Self.pieceBytes) ?? Data())
      } catch {
        throw CommandFailure.unreadable(file)
      }
    }
    guard let header = try form({ try reader.next() }) else {
      throw TomboloError(.badLine, "\(file):1: the file is empty.", remedy: "The first line must name the columns.")
    }
    let plan = try ImportPlan(
      headers: header.fields.map(\.text), entity: entity, schema: store.schema, key: key, maps: maps, links: links,
      file: file)
    let bad = try badFile.map { try BadLineFile(path: $0, header: header.raw) }
    do {
      var (result, outcome) = try store.save { writer in
        var importer = try Importer(plan: plan, writer: writer, context: context, makeID: store.makeRecordID)
        try read(reader, into: &importer, bad: bad, size: Int(clamping: size), output: context.output)
        return importer.result
      }
      // A unique value that a stored record has already: the line changed that record.
      result.inserted -= outcome.merged.count
      result.updated += outcome.merged.count
      try bad?.commit()
      context.output.endProgress()
      report(result, plan, to: context.output)
    } catch {
      bad?.abandon()
      throw error
    }
  }

  private func read(
    _ reader: CSVReader, into importer: inout Importer, bad: BadLineFile?, size: Int, output: Output
  ) throws {
    var count = 0
    while true {
      do {
        guard let record = try reader.next() else { break }
        try importer.take(record)
      } catch let malformed as CSVReader.Malformed where !malformed.raw.isEmpty {
        try setAside(
          Importer.BadLine(
            line: malformed.line, column: malformed.column, reason: malformed.reason, raw: malformed.raw),
          &importer, bad, output)
      } catch let malformed as CSVReader.Malformed {
        throw failure(malformed.line, malformed.column, malformed.reason)
      } catch let line as Importer.BadLine {
        try setAside(line, &importer, bad, output)
      }
      count += 1
      if count.isMultiple(of: Self.progressLines) {
        let percent = size > 0 ? reader.bytesRead * 100 / size : 100
        output.progress("\(count) lines, \(percent) %")
      }
    }
    do {
      try importer.finish()
    } catch let line as Importer.BadLine {
      throw failure(line.line, line.column, line.reason)
    }
  }

  private func setAside(
    _ line: Importer.BadLine, _ importer: inout Importer, _ bad: BadLineFile?, _ output: Output
  ) throws {
    guard let bad else { throw failure(line.line, line.column, line.reason) }
    try bad.append(line.raw)
    importer.skip()
    if importer.result.skipped <= Self.reportsMax {
      output.note("\(file):\(line.line):\(line.column): \(line.reason); set aside")
    }
  }

  private func failure(_ line: Int, _ column: Int, _ reason: String) -> TomboloError {
    TomboloError(
      .badLine, "\(file):\(line):\(column): \(reason).",
      remedy: "Nothing was imported. Mend the line, or let --skip-bad FILE set such lines aside.")
  }

  private func form<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let malformed as CSVReader.Malformed {
      throw failure(malformed.line, malformed.column, malformed.reason)
    }
  }

  private func report(_ result: Importer.Result, _ plan: ImportPlan, to output: Output) {
    if !plan.ignored.isEmpty {
      output.note("Columns that no attribute of \(plan.entity.name) takes: \(plan.ignored.joined(separator: ", ")).")
    }
    if isJSON {
      output.json(
        .object([
          ("inserted", .number(result.inserted)), ("updated", .number(result.updated)),
          ("skipped", .number(result.skipped)),
        ]))
      return
    }
    var text = "\(plan.entity.name): \(result.inserted) new, \(result.updated) known"
    if result.skipped > 0 { text += ", \(result.skipped) set aside" }
    output.line(text)
  }
}

/// Where `--skip-bad` writes: a CSV file with the same heading, which can be mended and imported.
final class BadLineFile {
  private let path: String
  private let temporary: String
  private let handle: FileHandle
  private var isEmpty = true

  /// - Throws: `file_unwritable`; a file that is there already is left alone.
  init(path: String, header: [UInt8]) throws {
    guard !FileManager.default.fileExists(atPath: path) else {
      throw TomboloError(
        .fileUnwritable, "There is a file at \(path) already.", remedy: "Name another one for the bad lines.")
    }
    self.path = path
    temporary = path + ".part"
    guard FileManager.default.createFile(atPath: temporary, contents: Data(header + [0x0D, 0x0A])),
      let handle = FileHandle(forWritingAtPath: temporary)
    else { throw CommandFailure.unwritable(path) }
    self.handle = handle
    try handle.seekToEnd()
  }

  func append(_ raw: [UInt8]) throws {
    isEmpty = false
    do {
      try handle.write(contentsOf: Data(raw + [0x0D, 0x0A]))
    } catch {
      throw CommandFailure.unwritable(path)
    }
  }

  /// Puts the file in its place, after the save; a file without bad lines is not left behind.
  func commit() throws {
    try handle.close()
    if isEmpty {
      try FileManager.default.removeItem(atPath: temporary)
    } else {
      try FileManager.default.moveItem(atPath: temporary, toPath: path)
    }
  }

  func abandon() {
    try? handle.close()
    try? FileManager.default.removeItem(atPath: temporary)
  }
}
