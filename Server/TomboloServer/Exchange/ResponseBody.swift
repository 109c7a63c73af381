import TomboloProtocol

/// What a handler answers, before it is put into the encoding that the client asked for.
struct ResponseBody {
  var status = 200
  var contentType: String
  var bytes: [UInt8]
  var headers: [String: String] = [:]

  static func json(_ bytes: [UInt8], status: Int = 200) -> ResponseBody {
    ResponseBody(status: status, contentType: "application/json", bytes: bytes)
  }

  static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> ResponseBody {
    ResponseBody(contentType: contentType, bytes: Array(text.utf8))
  }

  static var nothing: ResponseBody { ResponseBody(status: 204, contentType: "", bytes: []) }
}
