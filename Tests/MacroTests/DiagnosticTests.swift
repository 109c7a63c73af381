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

  @Test("A fix-it makes a let a var, a struct a final class, and adds a type")
  func fixIts() {
    let sources = [
      "@Model final class Book { let title = \"\" }", "@Model struct Book { var title: String }",
      "@Model final class Book { var pages = count() }", "@ModelActor final class Importer {}",
    ]
    for source in sources {
      let fixes = Expansion(source).diagnostics.flatMap(\.fixIts)
      #expect(!fixes.isEmpty, "\(source)")
    }
  }

  @Test("A subclass has to have an initializer of its own")
  func subclassInitializer() {
    #expect(
      Expansion("@Model final class Dog: Animal { var age = 0 }", isSubclass: true).identifiers == ["no-initializer"])
    #expect(
      Expansion("@Model final class Dog: Animal { var age = 0; init() { super.init(name: \"\") } }", isSubclass: true)
        .identifiers == [])
  }
}
