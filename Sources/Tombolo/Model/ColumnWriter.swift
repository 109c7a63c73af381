import Foundation
package import TomboloProtocol
package import TomboloSQLite

/// Takes one property's value from generated code: to a statement's parameter, or as a ``Value``.
public final class _$ColumnWriter {
  package enum Target {
    case statement(Statement)
    /// Keeps the value in ``captured``.
    case capture
  }
  package var target: Target = .capture
  /// The statement's parameter.
  package var parameter: Int32 = 1
  package private(set) var captured = Value.null
  /// Whose property it is, for errors.
  package var plan: ModelPlan?
  package var property = 0
  /// Of records that others have made one with another since their objects were read: the one that stands.
  package var survivors: [RecordID: RecordID] = [:]
  private lazy var encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()

  package init() {}

  // MARK: Storage classes

  package func put(_ value: Int64) {
    switch target {
    case .statement(let statement): statement.bind(value, at: parameter)
    case .capture: captured = .integer(value)
    }
  }
  package func put(_ value: Double) throws {
    guard !value.isNaN else { throw refusal(.notANumber, "is not a number (NaN)") }
    // The sign of zero would be lost in the store, and make checksums differ.
    let value = value == 0 ? 0 : value
    switch target {
    case .statement(let statement): statement.bind(value, at: parameter)
    case .capture: captured = .real(value)
    }
  }
  package func put(_ value: String) {
    switch target {
    case .statement(let statement): statement.bind(value, at: parameter)
    case .capture: captured = .text(value)
    }
  }
  package func put(_ value: RecordID) {
    switch target {
    case .statement(let statement): statement.bind(high: value.high, low: value.low, at: parameter)
    case .capture: captured = .blob(value.bytes)
    }
  }
  package func put(_ bytes: UnsafeRawBufferPointer) {
    switch target {
    case .statement(let statement): statement.bind(bytes, at: parameter)
    case .capture: captured = .blob([UInt8](bytes))
    }
  }
  package func putNull() {
    switch target {
    case .statement(let statement): statement.bindNull(at: parameter)
    case .capture: captured = .null
    }
  }
  package func encode(_ value: some Encodable) throws {
    do {
      put(String(decoding: try encoder.encode(value), as: UTF8.self))
    } catch {
      throw refusal(.wrongType, "cannot be written as JSON")
    }
  }

  package func refusal(_ code: ErrorCode, _ fault: String) -> TomboloError {
    let name = plan.map { "\($0.description.name).\($0.description.propertyName(at: property))" } ?? "A property"
    return TomboloError(
      code, "\(name) \(fault), which a store cannot hold.", remedy: "Give it another value and save again.")
  }

  // MARK: The usual scalars, without generics

  /// Binds a property.
  public func _$bind(_ value: String) throws { put(value) }
  /// Binds a property.
  public func _$bind(_ value: String?) throws { if let value { put(value) } else { putNull() } }
  /// Binds a property.
  public func _$bind(_ value: Int) throws { put(Int64(value)) }
  /// Binds a property.
  public func _$bind(_ value: Int?) throws { if let value { put(Int64(value)) } else { putNull() } }
  /// Binds a property.
  public func _$bind(_ value: Bool) throws { put(value ? Int64(1) : 0) }
  /// Binds a property.
  public func _$bind(_ value: Double) throws { try put(value) }
  /// Binds a property.
  public func _$bind(_ value: Date) throws { try put(value.timeIntervalSinceReferenceDate) }
  /// Binds a property.
  public func _$bind(_ value: Date?) throws {
    if let value { try put(value.timeIntervalSinceReferenceDate) } else { putNull() }
  }
}

// MARK: - Chosen by the property's type

extension _$ColumnWriter {
  /// Binds a property.
  public func _$bind<Value: _$ColumnValue>(_ value: Value) throws { try value._$write(self) }
  /// Binds a property.
  public func _$bind<Value: _$ColumnValue>(_ value: Value?) throws {
    if let value { try value._$write(self) } else { putNull() }
  }
  /// Binds a property.
  @_disfavoredOverload
  public func _$bind<Value: Codable>(_ value: Value) throws { try encode(value) }
  /// Binds a property.
  @_disfavoredOverload
  public func _$bind<Value: Codable>(_ value: Value?) throws { if let value { try encode(value) } else { putNull() } }

  /// Binds a property that lies in an optional slot.
  public func _$bind<Value: _$ColumnValue>(_ slot: Value?, of model: some PersistentModel, _ property: Int) throws {
    if let slot { try slot._$write(self) } else { putNull() }
  }
  /// Binds a property that lies in an optional slot.
  public func _$bind<Value: RawRepresentable & Codable>(
    _ slot: Value?, of model: some PersistentModel, _ property: Int
  ) throws where Value.RawValue: _$ColumnValue {
    if let slot { try slot.rawValue._$write(self) } else { putNull() }
  }
  /// Binds a property that lies in an optional slot.
  @_disfavoredOverload
  public func _$bind<Value: Codable>(_ slot: Value?, of model: some PersistentModel, _ property: Int) throws {
    if let slot { try encode(slot) } else { putNull() }
  }
  /// Binds a reference: the identity of the object, resolved or not.
  public func _$bind<Value: PersistentModel>(_ slot: Value?, of model: some PersistentModel, _ property: Int) throws {
    let state = model._$state
    if state.flags.contains(.hasCleared), let relationship = state.description(of: model).relationship(at: property),
      state.isCleared(relationship)
    {
      putNull()
    } else if let slot {
      put(standing(for: slot._$state.recordID()))
    } else if let relationship = state.description(of: model).relationship(at: property),
      state.cells.indices.contains(relationship.cell),
      case .identifier(let record) = state.cells[relationship.cell].content
    {
      put(standing(for: record))
    } else {
      putNull()
    }
  }
  private func standing(for record: RecordID) -> RecordID {
    survivors.isEmpty ? record : survivors[record] ?? record
  }
  /// A to-many has no column.
  public func _$bind<Value: PersistentModel>(_ slot: [Value]?, of model: some PersistentModel, _ property: Int) throws {
    putNull()
  }
}
