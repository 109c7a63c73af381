public import Foundation

// Foundation on Linux has no coding of attributed text, so that it could be no attribute of a model.

/// Coded as a list of runs, each a text and the attributes that it has: `["Read ",{},"this",{"NSLink":"https://…"}]`.
///
/// What is coded are the attributes that Foundation on Linux has of every platform's: the link, the language, the image's
/// URL, the alternate description, the replacement index.
extension AttributedString: @retroactive Decodable, @retroactive Encodable {
  /// Reads the runs.
  public init(from decoder: any Decoder) throws {
    var runs = try decoder.unkeyedContainer()
    var text = AttributedString()
    // Ends: each turn takes two of the list's elements.
    while !runs.isAtEnd {
      var run = AttributedString(try runs.decode(String.self))
      try runs.decode(RunAttributes.self).set(on: &run)
      text += run
    }
    self = text
  }

  /// Writes the runs.
  ///
  /// - Throws: `EncodingError` for text with other attributes, which would be lost.
  public func encode(to encoder: any Encoder) throws {
    var coded = AttributedString()
    var container = encoder.unkeyedContainer()
    for run in runs {
      var part = AttributedString(String(characters[run.range]))
      let attributes = RunAttributes(run)
      attributes.set(on: &part)
      coded += part
      try container.encode(String(part.characters))
      try container.encode(attributes)
    }
    guard coded == self else {
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription:
            "The text has attributes that are not stored: remove them, or keep them in a property of your own."))
    }
  }
}

/// The attributes of one run, by the names that they have in Foundation.
private struct RunAttributes: Codable {
  var link: URL?
  var language: String?
  var imageURL: URL?
  var alternateDescription: String?
  var replacementIndex: Int?

  enum CodingKeys: String, CodingKey {
    case link = "NSLink"
    case language = "NSLanguage"
    case imageURL = "NSImageURL"
    case alternateDescription = "NSAlternateDescription"
    case replacementIndex = "NSReplacementIndex"
  }

  init(_ run: AttributedString.Runs.Run) {
    link = run.link
    language = run.languageIdentifier
    imageURL = run.imageURL
    alternateDescription = run.alternateDescription
    replacementIndex = run.replacementIndex
  }

  func set(on text: inout AttributedString) {
    text.link = link
    text.languageIdentifier = language
    text.imageURL = imageURL
    text.alternateDescription = alternateDescription
    text.replacementIndex = replacementIndex
  }
}
