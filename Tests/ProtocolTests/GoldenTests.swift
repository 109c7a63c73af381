import Foundation
import Testing
import TomboloProtocol

/// The files of the specification, found from this one.
enum SpecificationFiles {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Protocol")

  static func golden(_ sample: Sample, _ format: WireFormat) -> URL {
    folder.appending(path: "Golden/v1/\(sample.name).\(format.rawValue)")
  }
}

@Suite("Golden messages")
struct GoldenTests {
  @Test("A golden message is read, and written again byte for byte", arguments: SampleMessages.all, WireFormat.allCases)
  func frozen(sample: Sample, format: WireFormat) throws {
    let golden = [UInt8](try Data(contentsOf: SpecificationFiles.golden(sample, format)))
    let decoded = try sample.decode(golden, format)
    #expect(AnyHashable(decoded) == AnyHashable(sample.message))
    #expect(decoded.encoded(as: format) == golden)
  }

  @Test("Every golden file belongs to a sample")
  func noStrays() throws {
    let folder = SpecificationFiles.folder.appending(path: "Golden/v1")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let expected = SampleMessages.all.flatMap { sample in
      WireFormat.allCases.map { "\(sample.name).\($0.rawValue)" }
    }
    #expect(Set(names) == Set(expected))
  }

  /// Only for a new kind of message: released files stay as they are.
  @Test(
    "New samples become golden files",
    .enabled(if: ProcessInfo.processInfo.environment["TOMBOLO_WRITE_GOLDEN"] != nil))
  func write() throws {
    for sample in SampleMessages.all {
      for format in WireFormat.allCases {
        let file = SpecificationFiles.golden(sample, format)
        if FileManager.default.fileExists(atPath: file.path) { continue }
        try Data(sample.message.encoded(as: format)).write(to: file)
      }
    }
  }

  @Test("The specification lists every error code with its status, and no other")
  func errorCodes() throws {
    let text = try String(contentsOf: SpecificationFiles.folder.appending(path: "SPEC.md"), encoding: .utf8)
    for code in ErrorCode.all {
      #expect(text.contains("| `\(code.rawValue)` | \(code.httpStatus) |"), "\(code.rawValue)")
    }
    let listed = text.split(separator: "\n").filter { $0.wholeMatch(of: /\| `[a-z_]+` \| [0-9]{3} \|.*/) != nil }
    #expect(listed.count == ErrorCode.all.count)
  }

  @Test("Every declared error code is in the catalogue")
  func completeCatalogue() throws {
    let file = SpecificationFiles.folder.appending(path: "TomboloProtocol/Errors/ErrorCodes.swift")
    let source = try String(contentsOf: file, encoding: .utf8)
    let declared = source.matches(of: /ErrorCode\(rawValue: "([a-z_]+)"\)/).map { String($0.1) }
    #expect(declared.sorted() == ErrorCode.all.map(\.rawValue).sorted())
  }

  @Test("No error code stands twice in the catalogue")
  func distinctCodes() {
    #expect(Set(ErrorCode.all).count == ErrorCode.all.count)
    for code in ErrorCode.all { #expect(code.rawValue.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil) }
  }

  @Test("The specification names every kind of message and item, and every header")
  func kinds() throws {
    let text = try String(contentsOf: SpecificationFiles.folder.appending(path: "SPEC.md"), encoding: .utf8)
    for kind in MessageKind.allCases { #expect(text.contains("| \(kind.rawValue) | `\(kind.name)` |"), "\(kind.name)") }
    for kind in ItemKind.allCases { #expect(text.contains("| \(kind.rawValue) | `\(kind)` |"), "\(kind)") }
    for mode in FieldMode.allCases { #expect(text.contains("| \(mode.rawValue) | `\(mode)` |"), "\(mode)") }
    for header in SampleMessages.introduction.headers.keys { #expect(text.lowercased().contains(header)) }
  }
}
