import SwiftDiagnostics
import SwiftSyntax
import Testing

@testable import TomboloMacros

@Suite("What the macros refuse")
struct DiagnosticTests {
  @Test(
    "A model cannot be declared so, and the macro says why",
    arguments: [
      ("not-a-class", "@Model struct Book { var title: String }"),
      ("not-a-class", "@Model enum Book { case one }"),
      ("not-a-class", "@Model actor Book { var title = \"\" }"),
      ("generic-class", "@Model final class Book<T> { var title = \"\" }"),
      ("main-actor", "@MainActor @Model final class Book { var title = \"\" }"),
      ("let", "@Model final class Book { let title = \"\" }"),
      ("let", "@Model final class Book { let title: String; init() { title = \"\" } }"),
      ("lazy", "@Model final class Book { lazy var title: String = \"\" }"),
      ("several-bindings", "@Model final class Book { var a = 0, b = 1 }"),
      ("tuple-pattern", "@Model final class Book { var (a, b) = (0, 1) }"),
      ("reserved-name", "@Model final class Book { var description: String = \"\" }"),
      ("reserved-name", "@Model final class Book { var hashValue: Int = 0 }"),
      ("reserved-prefix", "@Model final class Book { var _tombolo_id: Int = 0 }"),
      ("reserved-prefix", "@Model final class Book { var _$state: Int = 0 }"),
      ("missing-type", "@Model final class Book { var pages = count() }"),
      ("missing-type", "@Model final class Book { var pages = [] }"),
      ("missing-type", "@Model final class Book { var pages = [1, \"a\"] }"),
      ("missing-type", "@Model final class Book { var pages = standard.pages }"),
      ("property-wrapper", "@Model final class Book { @Wrapped var pages: Int = 0 }"),
      ("conditional-property", "@Model final class Book {\n#if DEBUG\nvar pages: Int = 0\n#endif\n}"),
      ("transient-default", "@Model final class Book { @Transient var pages: Int }"),
      ("no-initializer", "@Model final class Book { var title: String }"),
      ("computed-property", "@Model final class Book { @Attribute(.unique) var pages: Int { 0 } }"),
      ("not-a-property", "@Model final class Book { @Relationship func pages() {} }"),
      ("relationship-of-value", "@Model final class Book { @Relationship var pages: Int = 0 }"),
      ("relationship-of-value", "@Model final class Book { @Relationship var words: [String] = [] }"),
      ("ephemeral-default", "@Model final class Book { @Attribute(.ephemeral) var pages: Int; init() { pages = 1 } }"),
      ("not-an-actor", "@ModelActor final class Importer {}"),
      ("not-an-actor", "@ModelActor enum Importer {}"),
    ])
  func refused(_ identifier: String, _ source: String) {
    let expansion = Expansion(source)
    #expect(expansion.identifiers.contains(identifier), "\(expansion.identifiers)")
    // Of an enum no words make a class or an actor, and who calls an actor awaits it.
    let hasRemedyInWords = ["not-a-class", "not-an-actor"].contains(identifier)
    #expect(hasRemedyInWords || expansion.diagnostics.allSatisfy { !$0.fixIts.isEmpty })
    #expect(expansion.diagnostics.allSatisfy { $0.message.hasSuffix(".") })
  }

  @Test(
    "What is in order is taken without a word",
    arguments: [
      "@Model final class Book { var title: String = \"\" }",
      "@Model final class Book { var a: Int?; var b = [String](); var c = -1; var d = UUID() }",
      "@Model final class Book { var genre = Genre.novel; var size = Measure(); var words = [\"a\"]; var all = [1, 2] }",
      "@ModelActor actor Importer { private var count = 0 }",
      "@Model final class Book { static let limit = 3; let unused: Int { 1 }; var size: Int { 2 } }",
      "@Model final class Book { @Transient lazy var cache: Int = 0; @Transient var other: Int? }",
      "@Model final class Book { var a: Int { didSet {} }; init() { a = 1 } }",
      "@Model final class Book {\n#if DEBUG\n@Transient var pages: Int = 0\n#endif\n}",
    ])
  func accepted(_ source: String) {
    #expect(Expansion(source).identifiers == [])
  }

  @Test(
    "A fix-it makes of it what can be compiled",
    arguments: [
      ("@Model final class Book { let title = \"\" }", "var"),
      ("@Model struct Book { var title: String }", "final class"),
      ("@Model final class Book { var pages = count() }", "pages: <#Type#> = count()"),
      ("@ModelActor final class Importer {}", "actor"),
      ("@MainActor @Model final class Book { var title = \"\" }", "@Model"),
      ("@Model final class Book { lazy var title: String = \"\" }", "@Transient lazy var title: String = \"\""),
      ("@Model final class Book {\n  var a = 0, b = 1\n}", "var a = 0\nvar b = 1"),
      ("@Model final class Book {\n  var a, b: Int?\n}", "var a: Int?\nvar b: Int?"),
      ("@Model final class Book { var description: String = \"\" }", "descriptionText"),
      ("@Model final class Book { @Wrapped var pages: Int = 0 }", "@Transient @Wrapped var pages: Int = 0"),
      (
        "@Model final class Book {\n#if DEBUG\nvar pages: Int = 0\n#endif\n}", "@Transient var pages: Int = 0"
      ),
      ("@Model final class Book { @Transient var pages: Int }", "pages: Int = <#value#>"),
      (
        "@Model final class Book { @Attribute(.ephemeral) var pages: Int; init() { pages = 1 } }",
        "pages: Int = <#value#>"
      ),
      (
        "@Model final class Book { var title: String; var pages = 0 }",
        "init(title: String) {\n    self.title = title\n  }"
      ),
      ("@Model final class Book { @Attribute(.unique) var pages: Int { 0 } }", "var pages: Int { 0 }"),
      ("@Model final class Book { @Relationship var pages: Int = 0 }", "@Attribute"),
      ("@Model final class Book { var _tombolo_id: Int = 0 }", "id"),
      ("@Model final class Book { var _$state: Int = 0 }", "state"),
      ("@Model final class Book { var _$_tombolo_description: Int = 0 }", "propertydescription"),
      ("@Model final class Book { var _$: Int = 0 }", "property"),
      ("@Model final class Book {\n  var (a, b) = (0, \"x\")\n}", "var a = 0\nvar b = \"x\""),
      (
        "@Model final class Book {\n  private var (a, b): (Int, String?)\n}",
        "private var a: Int\nprivate var b: String?"
      ),
      ("@Model final class Book {\n  var (a, (_, c)) = (0, (1, 2.5))\n}", "var a = 0\nvar c = 2.5"),
      ("@Model final class Book {\n  var (a, b) = pair()\n}", "var a: <#Type#> = pair().0\nvar b: <#Type#> = pair().1"),
      ("@Model final class Book<T> { var title = \"\" }", "@Model final class Book { var title = \"\" }"),
      (
        "@Model final class Book<T>: Shelved where T: Codable { var item: T?; var all = [T]() }",
        "@Model final class Book: Shelved { var item: <#T#>?; var all = [<#T#>]() }"
      ),
      ("@Model final class Book { @Relationship func pages() {} }", "func pages() {}"),
      ("@Model final class Book { @Attribute(.unique) private func pages() {} }", "private func pages() {}"),
      ("@Model final class Book { @Attribute init() {} }", "init() {}"),
    ])
  func fixIts(_ source: String, _ written: String) {
    let texts = Self.replacements(Expansion(source))
    #expect(texts.contains { Self.plain($0).contains(Self.plain(written)) }, "\(texts)")
    #expect(!texts.contains { $0.contains("@MainActor") })
  }

  private static func replacements(_ expansion: Expansion) -> [String] {
    expansion.diagnostics.flatMap(\.fixIts).flatMap(\.changes).compactMap { change in
      guard case .replace(_, let new) = change else { return nil }
      return new.trimmedDescription
    }
  }

  /// Without indentation, which is the formatter's.
  private static func plain(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  @Test("A subclass has to have an initializer of its own")
  func subclassInitializer() {
    #expect(
      Expansion("@Model final class Dog: Animal { var age = 0 }", isSubclass: true).identifiers == ["no-initializer"])
    let dog = Expansion("@Model final class Dog: Animal { var age: Int }", isSubclass: true)
    #expect(Self.replacements(dog).contains { $0.contains("super.init(<#arguments#>)") })
    #expect(
      Expansion("@Model final class Dog: Animal { var age = 0; init() { super.init(name: \"\") } }", isSubclass: true)
        .identifiers == [])
  }
}
