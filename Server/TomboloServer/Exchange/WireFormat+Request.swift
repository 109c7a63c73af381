import TomboloProtocol

extension WireFormat {
  /// The format of the answer: what `Accept` names first, CBOR where it names neither.
  init(accepting request: ServiceRequest) {
    self = request.headers["accept"].flatMap { WireFormat(mediaType: $0) } ?? .cbor
  }

  /// The format of an error: JSON for whoever has not asked for CBOR by name, since that is a person.
  init(failureFor request: ServiceRequest) {
    let asksForCBOR = request.headers["accept"].map { $0.contains(WireFormat.cbor.mediaType) } ?? false
    self = asksForCBOR ? WireFormat(accepting: request) : .json
  }

  /// The format of the request's body; CBOR where it says nothing.
  /// - Throws: `unsupported_media_type`.
  init(ofBodyIn request: ServiceRequest) throws {
    guard let header = request.headers["content-type"], !header.isEmpty else {
      self = .cbor
      return
    }
    guard let format = WireFormat(mediaType: header) else { throw TomboloError.mediaTypeUnsupported("Content-Type") }
    self = format
  }
}

extension ResponseBody {
  static func message(_ message: some WireMessage, for request: ServiceRequest) -> ResponseBody {
    let format = WireFormat(accepting: request)
    return ResponseBody(contentType: format.mediaType, bytes: message.encoded(as: format))
  }
}
