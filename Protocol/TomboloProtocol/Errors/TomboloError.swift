/// A stable name for a kind of failure. Scripts, the wire and the documentation use the raw value.
public struct ErrorCode: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
}

/// The one error type of Tombolo: what happened, what to do, and whether trying again can help.
///
/// No bound values and no tokens are ever in it.
public struct TomboloError: Error, Hashable, Sendable {
  public var code: ErrorCode
  /// One sentence that a user may see; it names the input.
  public var message: String
  /// What to do about it; empty where nothing can be done.
  public var remedy: String
  /// Whether the same call may succeed later without anybody changing anything.
  public var isRetryable: Bool
  /// Every single violation, difference or offence, where there are several.
  public var details: [Detail]

  public struct Detail: Hashable, Sendable {
    public var code: String
    public var entity: String?
    public var property: String?
    public var text: String
    public var fix: String
    public init(code: String, entity: String? = nil, property: String? = nil, text: String, fix: String = "") {
      self.code = code
      self.entity = entity
      self.property = property
      self.text = text
      self.fix = fix
    }
  }

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
  public var description: String {
    remedy.isEmpty ? "\(message) [\(code.rawValue)]" : "\(message) \(remedy) [\(code.rawValue)]"
  }
}
