import Foundation
import TomboloProtocol
import TomboloSQLite

// What generated code calls for properties that are declared `.transformable(by:)`: their type may be any.

extension ClassDescription {
  /// The transformer of a property.
  ///
  /// - Throws: `unsupported_feature` where none is registered under the declared name.
  fileprivate func transformer(of property: Int) throws -> ValueTransformer {
    let name = transformers[property] ?? ""
    if let known = ValueTransformer.registered(NSValueTransformerName(name)) { return known }
    throw ModelErrors.unsupported(
      "\(self.name).\(propertyName(at: property)) needs the value transformer \(name), which is not registered.",
      "Call ValueTransformer.setValueTransformer(_:forName:) before the first save or fetch.")
  }
}

extension _$RowReader {
  /// Reads a property through its transformer.
  public func _$transformed<Value>(_ property: Int, as: Value.Type) throws -> Value? {
    let column = first + Int32(truncatingIfNeeded: property)
    // A placeholder's row has nothing to transform back.
    if statement.isNull(column) {
      if link.core == nil { return nil }
      throw unreadable(column)
    }
    let data = try data(column)
    if link.core == nil, data.isEmpty { return nil }
    guard
      let value = try plan.description.transformer(of: property).reverseTransformedValue(data) as? Value
    else { throw unreadable(column) }
    return value
  }
  /// Reads an optional property through its transformer.
  public func _$transformed<Value>(_ property: Int, as: Value?.Type) throws -> Value? {
    statement.isNull(first + Int32(truncatingIfNeeded: property)) ? nil : try _$transformed(property, as: Value.self)
  }
}

extension _$ColumnWriter {
  /// Binds what a property's transformer makes of its value.
  public func _$transform<Value>(_ slot: Value?, of model: some PersistentModel, _ property: Int) throws {
    guard let slot else { return putNull() }
    let transformer = try model._$state.description(of: model).transformer(of: property)
    guard let data = transformer.transformedValue(slot) as? Data else {
      throw refusal(.wrongType, "was not made Data by its value transformer")
    }
    data.withUnsafeBytes { put($0) }
  }
}

extension _$SchemaBuilder {
  /// Lists an attribute that a transformer stores.
  public func _$transformed<Model: PersistentModel, Owner: PersistentModel, Value>(
    _ name: String, _ path: KeyPath<Model, Value>, declared: KeyPath<Owner, Value>, isOptional: Bool,
    attribute: _$AttributeOptions
  ) {
    addTransformed(
      SchemaAttribute(
        name: name, type: .data, isOptional: isOptional,
        options: attribute.options.filter { $0.merge == nil }.map(\.name).sorted(),
        originalName: attribute.originalName, hashModifier: attribute.hashModifier, swiftType: "\(Value.self)"),
      path, declared, transformer: attribute.options.compactMap(\.transformer).first ?? "")
  }
}
