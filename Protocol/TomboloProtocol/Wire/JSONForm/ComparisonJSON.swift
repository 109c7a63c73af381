// Comparisons in JSON.

extension ComparisonRequest {
  package var jsonBody: JSONObject {
    var members: [(String, JSONValue)] = [("cursor", .string(cursor.text))]
    if !buckets.isEmpty { members.append(("buckets", .list(buckets) { .integer(Int64($0)) })) }
    if !records.isEmpty { members.append(("records", .list(records) { .string($0.description) })) }
    return JSONObject(members)
  }

  package init(jsonBody fields: JSONFields) throws {
    self.init(
      cursor: try Cursor(text: fields.text("cursor")), buckets: try fields.buckets("buckets"),
      records: try fields.elements("records") { element in
        guard case .string(let text) = element else { return nil }
        return RecordID(text)
      })
  }
}

extension ComparisonResponse {
  package var jsonBody: JSONObject {
    var members: [(String, JSONValue)] = [("position", .unsigned(position.rawValue))]
    if !sums.isEmpty { members.append(("sums", .list(sums) { .string($0.text) })) }
    if !buckets.isEmpty {
      members.append(("buckets", .list(buckets) { .integer(Int64($0)) }))
      members.append(
        (
          "records",
          .list(records) { .object(["id": .string($0.id.description), "sum": $0.sum.map { .string($0.text) }]) }
        ))
    }
    return JSONObject(members)
  }

  package init(jsonBody fields: JSONFields) throws {
    let sums = try fields.elements("sums") { element -> Checksum? in
      guard case .string(let text) = element else { return nil }
      return Checksum(text: text)
    }
    guard sums.isEmpty || sums.count == Checksum.bucketCount else {
      throw fields.malformed("sums", "has not \(Checksum.bucketCount) sums")
    }
    var records: [Part] = []
    if !fields.isAbsent("records") { records = try fields.list("records") { try Part(json: $0) } }
    self.init(
      position: FeedPosition(try fields.unsigned("position")), sums: sums, buckets: try fields.buckets("buckets"),
      records: records)
  }
}

extension ComparisonResponse.Part {
  fileprivate init(json fields: JSONFields) throws {
    let text = try fields.optionalText("sum")
    self.init(id: try fields.record("id"), sum: text.flatMap { Checksum(text: $0) })
    if text != nil, sum == nil { throw fields.malformed("sum", "is not 32 hexadecimal digits") }
  }
}

extension JSONFields {
  fileprivate func elements<Element>(_ key: String, _ read: (JSONValue) -> Element?) throws -> [Element] {
    if isAbsent(key) { return [] }
    guard case .array(let elements) = try json(key) else { throw malformed(key, "is not a list") }
    return try elements.map { element in
      guard let value = read(element) else { throw malformed(key, "has something that does not belong there") }
      return value
    }
  }

  fileprivate func buckets(_ key: String) throws -> [UInt32] {
    try elements(key) { element in
      guard case .integer(let number) = element, 0..<Int64(Checksum.bucketCount) ~= number else { return nil }
      return UInt32(number)
    }
  }
}
