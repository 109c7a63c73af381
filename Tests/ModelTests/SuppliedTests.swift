import SwiftData
import Testing

@Suite("What Foundation on Linux lacks")
struct SuppliedTests {
  private static let name = Notification.Name("SuppliedTests")

  @Test("NotificationCenter.notifications(named:) gives what is posted, and ends when its task is cancelled")
  func notifications() async {
    let center = NotificationCenter()
    let (heard, hears) = AsyncStream<Int>.makeStream()
    let listening = Task {
      let iterator = center.notifications(named: Self.name).makeAsyncIterator()
      hears.yield(0)
      while let notification = await iterator.next() { hears.yield(notification.userInfo?["number"] as? Int ?? -1) }
      hears.finish()
    }
    var numbers: [Int] = []
    for await number in heard {
      numbers.append(number)
      if number == 0 {
        for number in 1...3 { center.post(name: Self.name, object: nil, userInfo: ["number": number]) }
        center.post(name: Notification.Name("another"), object: nil)
      }
      if number == 3 { listening.cancel() }
    }
    #expect(numbers == [0, 1, 2, 3])
  }

  @Test("Attributed text is coded with its link, language and image, and refused with attributes that would be lost")
  func attributedText() throws {
    var text = AttributedString("Read this")
    text.link = URL(string: "https://example.org")
    text += AttributedString(" ")
    var picture = AttributedString("here")
    (picture.imageURL, picture.alternateDescription, picture.languageIdentifier) = (URL(string: "a:b"), "A sign", "en")
    text += picture
    for text in [text, AttributedString(), AttributedString("plain")] {
      let data = try JSONEncoder().encode(text)
      #expect(try JSONDecoder().decode(AttributedString.self, from: data) == text)
    }
    text.dateField = .month
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(text) }
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(AttributedString.self, from: Data(#"["a"]"#.utf8)) }
  }
}
