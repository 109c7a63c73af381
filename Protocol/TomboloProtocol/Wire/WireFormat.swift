/// How a message is written: the same data in both.
package enum WireFormat: String, Hashable, Sendable, CaseIterable {
  /// Deterministic CBOR (RFC 8949): what replicas speak.
  case cbor
  /// JSON (RFC 8259): for people with `curl`.
  case json

  package var mediaType: String {
    switch self {
    case .cbor: "application/cbor"
    case .json: "application/json"
    }
  }

  /// The format that a `Content-Type` or `Accept` header names first; nil for any other.
  package init?(mediaType header: some StringProtocol) {
    for part in header.split(separator: ",") {
      let type = String(part.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }).lowercased()
      switch type {
      case "application/cbor": self = .cbor
      case "application/json": self = .json
      case "*/*", "application/*": self = .cbor
      default: continue
      }
      return
    }
    return nil
  }
}

/// The kinds of messages; the raw value stands at the head of each in CBOR, the name in JSON. Numbers are never reused.
package enum MessageKind: UInt64, Hashable, Sendable, CaseIterable {
  case pushRequest = 1
  case pushResponse = 2
  case page = 3
  case changeSet = 4
  case error = 5
  case feedItem = 6
  case knownRequest = 7
  case knownResponse = 8
  case reuploadRequest = 11
  case reuploadResponse = 12
  case comparisonRequest = 13
  case comparisonResponse = 14

  package var name: String {
    switch self {
    case .pushRequest: "push_request"
    case .pushResponse: "push_response"
    case .page: "page"
    case .changeSet: "change_set"
    case .error: "error"
    case .feedItem: "feed_item"
    case .knownRequest: "known_request"
    case .knownResponse: "known_response"
    case .reuploadRequest: "reupload_request"
    case .reuploadResponse: "reupload_response"
    case .comparisonRequest: "comparison_request"
    case .comparisonResponse: "comparison_response"
    }
  }
}

/// What can travel or be stored by itself.
package protocol WireMessage: Hashable, Sendable {
  static var kind: MessageKind { get }
  /// Writes the fields of the message, keys ascending from ``MessageKey/firstField``.
  func write(to writer: inout MessageWriter)
  init(from reader: inout MessageReader) throws
  /// The fields of the message in JSON.
  var jsonBody: JSONObject { get }
  init(jsonBody fields: JSONFields) throws
}

extension WireMessage {
  /// The message as bytes: equal messages give equal bytes.
  package func encoded(as format: WireFormat) -> [UInt8] {
    switch format {
    case .cbor:
      var writer = MessageWriter()
      write(to: &writer)
      return writer.finish(Self.kind)
    case .json:
      let members = jsonBody.members.map { ($0.key, $0.value) } + [("kind", .string(Self.kind.name))]
      return JSONValue.object(JSONObject(members)).compact
    }
  }

  /// - Throws: ``TomboloError`` with ``ErrorCode/malformedMessage`` or ``ErrorCode/unknownMessageKind``.
  package init(decoding bytes: [UInt8], as format: WireFormat) throws {
    do {
      switch format {
      case .cbor:
        var reader = try MessageReader(bytes, expecting: Self.kind)
        self = try Self(from: &reader)
      case .json:
        let fields = try JSONFields(JSONValue(parsing: bytes), "the message")
        try Self.checkKind(fields)
        self = try Self(jsonBody: JSONFields(.object(fields.object), ""))
      }
    } catch let error as CBORReader.Malformed {
      throw TomboloError(.malformedMessage, "The \(Self.kind.name) cannot be read: \(error.description).")
    } catch let error as JSONMalformed {
      throw TomboloError(.malformedMessage, "The \(Self.kind.name) cannot be read: \(error.description).")
    }
  }

  /// In JSON the kind may be left out; where it stands it must be right.
  private static func checkKind(_ fields: JSONFields) throws {
    guard let found = try fields.optionalText("kind"), found != kind.name else { return }
    guard MessageKind.allCases.contains(where: { $0.name == found }) else { throw TomboloError.unknownKind("a body") }
    throw JSONFields.malformed("\(kind.name.withArticle) was expected, this is \(found.withArticle)")
  }
}
