import TomboloProtocol

/// What needs no token: a page for people, health, what the server can do.
extension Service {
  func page() -> ResponseBody {
    .text(
      """
      <!doctype html><html lang="en"><meta charset="utf-8"><title>tombolod</title>
      <p>This is a Tombolo sync server. Replicas live at <code>/v1/stores/NAME</code>;
      <a href="/v1">/v1</a> lists what it understands, <a href="/v1/health">/v1/health</a> says how it is.</p></html>

      """, contentType: "text/html; charset=utf-8")
  }

  /// Ready means that the control store answers.
  func health() throws -> ResponseBody {
    struct Health: Encodable {
      var status = "ok"
      var stores: Int
      var time: UInt64
    }
    return .json(
      try JSONBody.encode(Health(stores: try control.storeNames().count, time: options.clock.milliseconds())))
  }

  func capabilities() throws -> ResponseBody {
    struct Capabilities: Encodable {
      struct Limits: Encodable {
        var requestBytes: Int
        var pushRecords: Int
        var recordBytes: Int
        var changeSetBytes: Int
        var pageItems: Int
        var waitSeconds: Int
      }
      var service = "tombolod"
      var `protocol` = 1
      var formats = WireFormat.allCases.map(\.mediaType)
      var compression = ["zstd"]
      var features = [
        "push", "pull", "long_poll", "fragments", "snapshot", "known", "records", "reupload", "checksum", "comparison",
        "tokens",
      ]
      var limits: Limits
    }
    let limits = options.limits
    return .json(
      try JSONBody.encode(
        Capabilities(
          limits: .init(
            requestBytes: limits.requestBytesMax, pushRecords: limits.pushRecordsMax,
            recordBytes: limits.recordBytesMax,
            changeSetBytes: limits.changeSetBytesMax, pageItems: limits.pageItemsMax, waitSeconds: limits.waitSecondsMax
          )
        )))
  }
}
