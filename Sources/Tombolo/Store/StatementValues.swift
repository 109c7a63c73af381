package import TomboloProtocol
package import TomboloSQLite

extension Statement {
  /// A column of the current row, in its storage class.
  package func value(_ index: Int32) -> Value {
    switch storageClass(index) {
    case .null: .null
    case .integer: .integer(int64(index))
    case .real: .real(double(index))
    case .text: .text(string(index))
    case .blob: .blob(bytes(index))
    }
  }

  /// Whether a column of the current row holds this value, without making one of it.
  func holds(_ value: Value, _ index: Int32) -> Bool {
    switch value {
    case .null: isNull(index)
    case .integer(let integer): storageClass(index) == .integer && int64(index) == integer
    case .real(let real): storageClass(index) == .real && double(index) == real
    case .text(let text): holds(text, index)
    case .blob(let bytes): storageClass(index) == .blob && withBytes(index) { $0.elementsEqual(bytes) }
    }
  }

  /// A record's identity; nil for NULL and for a blob of another length.
  package func recordID(_ index: Int32) -> RecordID? { halves(index).map { RecordID(high: $0.high, low: $0.low) } }

  package func bind(_ id: RecordID, at index: Int32) { bind(high: id.high, low: id.low, at: index) }

  package func bind(_ value: Value, at index: Int32) {
    switch value {
    case .null: bindNull(at: index)
    case .integer(let integer): bind(integer, at: index)
    case .real(let real): bind(real, at: index)
    case .text(let text): bind(text, at: index)
    case .blob(let bytes): bind(bytes, at: index)
    }
  }
}

extension Connection {
  /// The first row that a query returns, given to `body`; nil if there is none.
  package func firstRow<Result>(
    _ sql: String, _ bind: (Statement) -> Void = { _ in }, _ body: (Statement) throws -> Result
  ) throws -> Result? {
    let statement = try cached(sql)
    bind(statement)
    defer { statement.reset() }
    return try statement.step() ? try body(statement) : nil
  }

  /// Gives every row that a query returns to `body`.
  package func eachRow(
    _ sql: String, _ bind: (Statement) -> Void = { _ in }, _ body: (Statement) throws -> Void
  ) throws {
    let statement = try cached(sql)
    bind(statement)
    defer { statement.reset() }
    while try statement.step() { try body(statement) }
  }

  /// Runs a statement that returns no rows.
  package func run(_ sql: String, _ bind: (Statement) -> Void = { _ in }) throws {
    let statement = try cached(sql)
    bind(statement)
    try statement.run()
  }
}
