import Testing
import TomboloProtocol

@Suite("Articles in sentences")
struct ArticleTests {
  @Test(
    "A name has the article that its beginning is spoken with",
    arguments: [
      ("Note", "a Note"), ("ExerciseSet", "an ExerciseSet"), ("order", "an order"), ("Invoice", "an Invoice"),
      ("User", "a User"), ("Unit", "a Unit"), ("Uncle", "an Uncle"), ("Uninvited", "an Uninvited"),
      ("Europe", "a Europe"), ("Ärger", "a Ärger"), ("", "a "),
    ])
  func articles(_ name: String, _ expected: String) { #expect(name.withArticle == expected) }
}
