import TomboloProtocol

/// Turns an attribute's Swift type, options and default into its part of the schema document.
struct AttributeReader<Value: Codable> {
  let isOptional: Bool
  let type: AttributeType
  private let swiftType: String?
  private let cases: [TomboloProtocol.Value]

  init(_ type: Value.Type) {
    var bare: Any.Type = type
    var isOptional = false
    while let optional = bare as? any AnyOptional.Type {
      bare = optional.wrappedType
      isOptional = true
    }
    self.isOptional = isOptional
    if let column = bare as? any _$ColumnValue.Type {
      self.type = AttributeType(rawValue: column._$columnType) ?? .codable
      swiftType = nil
      cases = []
    } else if let raw = (bare as? any RawRepresentable.Type).flatMap({ Self.rawColumn(of: $0) }) {
      self.type = AttributeType(rawValue: raw._$columnType) ?? .codable
      swiftType = "\(bare)"
      cases = Self.allCases(of: bare)
    } else {
      self.type = .codable
      swiftType = "\(bare)"
      cases = []
    }
  }

  private static func rawColumn<Raw: RawRepresentable>(of type: Raw.Type) -> (any _$ColumnValue.Type)? {
    Raw.RawValue.self as? any _$ColumnValue.Type
  }

  private static func allCases(of type: Any.Type) -> [TomboloProtocol.Value] {
    guard let iterable = type as? any CaseIterable.Type else { return [] }
    return rawValues(of: iterable)
  }

  private static func rawValues<Cases: CaseIterable>(of type: Cases.Type) -> [TomboloProtocol.Value] {
    type.allCases.compactMap { item in
      (item as? any RawRepresentable).flatMap { captured($0) }
    }
  }

  private static func captured<Raw: RawRepresentable>(_ item: Raw) -> TomboloProtocol.Value? {
    guard let raw = item.rawValue as? any _$ColumnValue else { return nil }
    let writer = _$ColumnWriter()
    guard (try? raw._$write(writer)) != nil else { return nil }
    return writer.captured
  }

  func attribute(
    named name: String, options: _$AttributeOptions, fault: (_ text: String, _ fix: String) -> Void
  ) -> SchemaAttribute {
    var merge = MergePolicy.lastWriter
    var names: [String] = []
    for option in options.options {
      if let policy = option.merge { merge = policy } else { names.append(option.name) }
    }
    return SchemaAttribute(
      name: name, type: type, isOptional: isOptional, defaultValue: nil, merge: merge, options: names.sorted(),
      originalName: options.originalName, hashModifier: options.hashModifier, cases: cases, swiftType: swiftType)
  }

  /// A default value as a column holds it; nil for one that cannot be stored.
  func constant(_ value: Value) -> TomboloProtocol.Value? {
    let writer = _$ColumnWriter()
    do {
      if let optional = value as? any AnyOptional {
        guard let wrapped = optional.wrappedValue else { return isOptional ? nil : .null }
        try write(wrapped, writer)
      } else {
        try write(value, writer)
      }
    } catch {
      return nil
    }
    return writer.captured
  }

  private func write(_ value: Any, _ writer: _$ColumnWriter) throws {
    if let column = value as? any _$ColumnValue {
      try column._$write(writer)
    } else if type != .codable, let raw = value as? any RawRepresentable {
      try Self.write(raw, writer)
    } else if let encodable = value as? any Encodable {
      try writer.encode(encodable)
    }
  }

  private static func write<Raw: RawRepresentable>(_ item: Raw, _ writer: _$ColumnWriter) throws {
    if let raw = item.rawValue as? any _$ColumnValue { try raw._$write(writer) }
  }
}

/// An optional, seen without its type.
private protocol AnyOptional {
  static var wrappedType: Any.Type { get }
  var wrappedValue: Any? { get }
}

extension Optional: AnyOptional {
  static var wrappedType: Any.Type { Wrapped.self }
  var wrappedValue: Any? { self }
}
