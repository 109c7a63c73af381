/// The body of every answer that is a failure.
package struct WireError: Hashable, Sendable {
  package var error: TomboloError

  package init(_ error: TomboloError) { self.error = error }
}

/// The keys of a failure, and of one of its details.
private enum ErrorKey {
  static let code: UInt64 = 10
  static let message: UInt64 = 11
  static let remedy: UInt64 = 12
  static let retryable: UInt64 = 13
  static let details: UInt64 = 14
  static let detailCode: UInt64 = 0
  static let entity: UInt64 = 1
  static let property: UInt64 = 2
  static let text: UInt64 = 3
  static let fix: UInt64 = 4
}

extension WireError: WireMessage {
  package static var kind: MessageKind { .error }

  package func write(to writer: inout MessageWriter) {
    writer.field(ErrorKey.code)
    writer.body.text(error.code.rawValue)
    writer.field(ErrorKey.message)
    writer.body.text(error.message)
    if !error.remedy.isEmpty {
      writer.field(ErrorKey.remedy)
      writer.body.text(error.remedy)
    }
    writer.field(ErrorKey.retryable)
    writer.body.bool(error.isRetryable)
    guard !error.details.isEmpty else { return }
    writer.field(ErrorKey.details)
    writer.body.array(count: error.details.count)
    for detail in error.details {
      let parts: [(UInt64, String?)] = [
        (ErrorKey.detailCode, detail.code), (ErrorKey.entity, detail.entity), (ErrorKey.property, detail.property),
        (ErrorKey.text, detail.text), (ErrorKey.fix, detail.fix.isEmpty ? nil : detail.fix),
      ]
      writer.body.map(count: parts.count { $0.1 != nil })
      for case (let key, let text?) in parts {
        writer.body.unsigned(key)
        writer.body.text(text)
      }
    }
  }

  package init(from reader: inout MessageReader) throws {
    var code: String?
    var message: String?
    var remedy = ""
    var isRetryable = false
    var details: [TomboloError.Detail] = []
    try reader.fields { reader, key in
      switch key {
      case ErrorKey.code: code = try reader.cbor.text()
      case ErrorKey.message: message = try reader.cbor.text()
      case ErrorKey.remedy: remedy = try reader.cbor.text()
      case ErrorKey.retryable: isRetryable = try reader.cbor.bool()
      case ErrorKey.details: details = try reader.list { try $0.errorDetail() }
      default: return false
      }
      return true
    }
    guard let code, let message else { throw reader.missing("the error's code or message") }
    self.init(
      TomboloError(
        ErrorCode(rawValue: code), message, remedy: remedy, isRetryable: isRetryable, details: details))
  }
}

extension MessageReader {
  fileprivate mutating func errorDetail() throws -> TomboloError.Detail {
    var detail = TomboloError.Detail(code: "", text: "")
    try map { reader, key in
      switch key {
      case ErrorKey.detailCode: detail.code = try reader.cbor.text()
      case ErrorKey.entity: detail.entity = try reader.cbor.text()
      case ErrorKey.property: detail.property = try reader.cbor.text()
      case ErrorKey.text: detail.text = try reader.cbor.text()
      case ErrorKey.fix: detail.fix = try reader.cbor.text()
      default: return false
      }
      return true
    }
    return detail
  }
}
