public import Foundation
import TomboloProtocol
import TomboloSQLite

// What generated initializers call for each property. The compiler chooses by the property's type, which the macro
// cannot know: a column's own type, a raw value, JSON, or a relationship.

extension _$RowReader {
  private func column(_ property: Int) -> Int32 { first + Int32(truncatingIfNeeded: property) }

  // MARK: The usual scalars, without generics

  /// Reads a property.
  public func _$value(_ property: Int, as: String.Type) throws -> String { try text(column(property)) }
  /// Reads a property.
  public func _$value(_ property: Int, as: String?.Type) throws -> String? {
    statement.isNull(column(property)) ? nil : try text(column(property))
  }
  /// Reads a property.
  public func _$value(_ property: Int, as: Int.Type) throws -> Int { Int(try integer(column(property))) }
  /// Reads a property.
  public func _$value(_ property: Int, as: Int?.Type) throws -> Int? {
    statement.isNull(column(property)) ? nil : Int(try integer(column(property)))
  }
  /// Reads a property.
  public func _$value(_ property: Int, as: Bool.Type) throws -> Bool { try integer(column(property)) != 0 }
  /// Reads a property.
  public func _$value(_ property: Int, as: Double.Type) throws -> Double { try real(column(property)) }
  /// Reads a property.
  public func _$value(_ property: Int, as: Double?.Type) throws -> Double? {
    statement.isNull(column(property)) ? nil : try real(column(property))
  }
  /// Reads a property.
  public func _$value(_ property: Int, as: Date.Type) throws -> Date {
    Date(timeIntervalSinceReferenceDate: try real(column(property)))
  }
  /// Reads a property.
  public func _$value(_ property: Int, as: Date?.Type) throws -> Date? {
    statement.isNull(column(property)) ? nil : Date(timeIntervalSinceReferenceDate: try real(column(property)))
  }
  /// Reads a property.
  public func _$value(_ property: Int, as: UUID.Type) throws -> UUID { UUID(try record(column(property))) }

  // MARK: Other columns, raw values, JSON

  /// Reads a property.
  public func _$value<Value: _$ColumnValue>(_ property: Int, as: Value.Type) throws -> Value {
    try Value._$read(self, column(property))
  }
  /// Reads a property.
  public func _$value<Value: _$ColumnValue>(_ property: Int, as: Value?.Type) throws -> Value? {
    statement.isNull(column(property)) ? nil : try Value._$read(self, column(property))
  }
  /// Reads a property.
  public func _$value<Value: RawRepresentable & Codable>(_ property: Int, as: Value.Type) throws -> Value
  where Value.RawValue: _$ColumnValue {
    guard let value = Value(rawValue: try Value.RawValue._$read(self, column(property))) else {
      throw unreadable(column(property))
    }
    return value
  }
  /// Reads a property.
  public func _$value<Value: RawRepresentable & Codable>(_ property: Int, as: Value?.Type) throws -> Value?
  where Value.RawValue: _$ColumnValue {
    statement.isNull(column(property)) ? nil : try _$value(property, as: Value.self)
  }
  /// Reads a property.
  @_disfavoredOverload
  public func _$value<Value: Codable>(_ property: Int, as: Value.Type) throws -> Value {
    try decode(Value.self, column(property))
  }
  /// Reads a property.
  @_disfavoredOverload
  public func _$value<Value: Codable>(_ property: Int, as: Value?.Type) throws -> Value? {
    statement.isNull(column(property)) ? nil : try decode(Value.self, column(property))
  }

  // MARK: Relationships

  /// Notes a relationship: its object is resolved when it is asked for.
  public func _$value<Model: PersistentModel>(_ property: Int, as: Model.Type) throws -> Model? {
    noteRelationship(property)
    return nil
  }
  /// Notes a relationship: its object is resolved when it is asked for.
  public func _$value<Model: PersistentModel>(_ property: Int, as: Model?.Type) throws -> Model? {
    noteRelationship(property)
    return nil
  }
  /// Notes a relationship: its objects are loaded when they are asked for.
  public func _$value<Model: PersistentModel>(_ property: Int, as: [Model].Type) throws -> [Model]? {
    noteRelationship(property)
    return nil
  }
  /// Notes a relationship: its objects are loaded when they are asked for.
  public func _$value<Model: PersistentModel>(_ property: Int, as: [Model]?.Type) throws -> [Model]? {
    noteRelationship(property)
    return nil
  }

  private func noteRelationship(_ property: Int) {
    guard let relationship = plan.description.relationship(at: property) else { return }
    let content: RelationCell.Content
    if plan.isReference(relationship) {
      content = statement.halves(column(property)).map { .identifier(RecordID(high: $0.high, low: $0.low)) } ?? .loaded
    } else {
      content = .unloaded
    }
    if let target {
      target.cells[relationship.cell].content = content
    } else {
      cells[relationship.cell].content = content
    }
  }
}
