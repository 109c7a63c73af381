public import Foundation

/// A stable name for a kind of failure. Scripts, the wire and the documentation use the raw value.
public struct ErrorCode: RawRepresentable, Hashable, Sendable {
  /// The name in snake case, such as `store_unversioned`.
  public let rawValue: String

  /// Takes a name as it stands on the wire; names that this version does not know are kept.
  public init(rawValue: String) { self.rawValue = rawValue }
}

/// The one error type of Tombolo: what happened, what to do, and whether trying again can help.
///
/// No bound values and no tokens are ever in it.
public struct TomboloError: Error, Hashable, Sendable {
  /// What kind of failure it is.
  public var code: ErrorCode
  /// One sentence that a user may see; it names the input.
  public var message: String
  /// What to do about it; empty where nothing can be done.
  public var remedy: String
  /// Whether the same call may succeed later without anybody changing anything.
  public var isRetryable: Bool
  /// Every single violation, difference or offence, where there are several.
  public var details: [Detail]

  /// One of several things that are wrong.
  public struct Detail: Hashable, Sendable {
    /// A stable name for the kind of violation, in snake case.
    public var code: String
    /// The entity that is concerned; nil for the whole.
    public var entity: String?
    /// The attribute, relationship or key of the entity; nil for the entity itself.
    public var property: String?
    /// What is wrong, in a sentence.
    public var text: String
    /// What to do about it; empty where nothing can be done.
    public var fix: String

    /// Makes a detail from its parts.
    public init(code: String, entity: String? = nil, property: String? = nil, text: String, fix: String = "") {
      self.code = code
      self.entity = entity
      self.property = property
      self.text = text
      self.fix = fix
    }
  }

  /// Makes an error from its parts.
  public init(
    _ code: ErrorCode, _ message: String, remedy: String = "", isRetryable: Bool = false, details: [Detail] = []
  ) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.isRetryable = isRetryable
    self.details = details
  }
}

extension TomboloError: CustomStringConvertible {
  /// Message, remedy and code, on one line.
  public var description: String {
    remedy.isEmpty ? "\(message) [\(code.rawValue)]" : "\(message) \(remedy) [\(code.rawValue)]"
  }
}

extension TomboloError: LocalizedError {
  /// The message: what `localizedDescription` shows.
  public var errorDescription: String? { message }
  /// What to do about it; nil where nothing can be done.
  public var recoverySuggestion: String? { remedy.isEmpty ? nil : remedy }
}
