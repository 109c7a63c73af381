extension String {
  /// The word with its indefinite article, for a sentence: `a Note`, `an Order`.
  ///
  /// Names are the user's, so the first letter decides; of vowels that are spoken as consonants, the usual ones are known.
  package var withArticle: String {
    let folded = lowercased()
    let isSpokenAsConsonant = ["uni", "use", "usu", "uti", "uri", "url", "eu", "one", "once"].contains {
      folded.hasPrefix($0) && !folded.hasPrefix("unin") && !folded.hasPrefix("unim")
    }
    let isVowel = folded.first.map { "aeiou".contains($0) } ?? false
    return "\(isVowel && !isSpokenAsConsonant ? "an" : "a") \(self)"
  }
}
