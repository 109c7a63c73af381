import Foundation
package import TomboloProtocol
package import TomboloSQLite

/// The current row of a fetch, as generated initializers read it: by column index, without boxing.
///
/// One reader serves all rows of a fetch. Column 0 is the record's key; the properties follow from ``first``, in the
/// order of their declaration; one that has no column of its own reads as NULL.
public final class _$RowReader {
  package let statement: Statement
  /// The column of the row's first property.
  package var first: Int32
  package var plan: ModelPlan
  package var record: RecordID
  package let link: ContextLink
  /// The cells of the row's relationships, collected while an object is made.
  package var cells: [RelationCell]
  /// The object's state while values are read anew; nil while an object is made.
  package var target: _$ModelState?
  /// The only properties that are read anew; nil for all.
  package var only: ColumnSet?
  /// The properties that the fetch left out of its rows.
  var leftOut = ColumnSet()
  /// Whether the fetch leaves something out of some class.
  var isPartial = false
  /// The objects of the current class that the fetch makes, where it leaves something out.
  var batch: FetchBatch? { batches[ObjectIdentifier(plan)] }
  private var batches: [ObjectIdentifier: FetchBatch] = [:]
  /// Whether an object may be made without some of its attributes.
  private(set) var mayMiss: Bool
  private lazy var decoder = JSONDecoder()

  package init(statement: Statement, first: Int32, plan: ModelPlan, link: ContextLink) {
    self.statement = statement
    self.first = first
    self.plan = plan
    self.link = link
    record = RecordID(high: 0, low: 0)
    mayMiss = !plan.externalProperties.isEmpty && link.core != nil
    cells = plan.description.unloadedCells
  }

  /// Makes the reader ready for a row of another class of the hierarchy.
  package func select(_ plan: ModelPlan, first: Int32) {
    self.first = first
    if plan !== self.plan {
      self.plan = plan
      mayMiss = !leftOut.isEmpty || !plan.externalProperties.isEmpty
      cells = plan.description.unloadedCells
    }
  }

  // MARK: What the row does not tell

  /// Leaves properties out of the objects of the current class.
  func leaveOut(_ properties: ColumnSet) {
    leftOut = properties
    mayMiss = !properties.isEmpty || !plan.externalProperties.isEmpty
  }

  /// The properties of the current row that have to be read when they are asked for.
  func missing() -> ColumnSet {
    var missing = leftOut
    for property in plan.externalProperties {
      let column = first + Int32(truncatingIfNeeded: property)
      // Nothing in the row: it may lie outside.
      let isEmpty = !statement.isNull(column) && statement.withBytes(column) { $0.isEmpty }
      if isEmpty { missing.insert(property) } else if !leftOut.contains(property) { missing.remove(property) }
    }
    if !leftOut.isEmpty, batch.map({ $0.records.count >= FetchBatch.countMax }) ?? true {
      batches[ObjectIdentifier(plan)] = FetchBatch()
    }
    return missing
  }

  // MARK: Columns

  package func integer(_ column: Int32) throws -> Int64 {
    guard statement.storageClass(column) == .integer else { throw unreadable(column) }
    return statement.int64(column)
  }
  package func real(_ column: Int32) throws -> Double {
    switch statement.storageClass(column) {
    case .real, .integer: return statement.double(column)
    default: throw unreadable(column)
    }
  }
  package func text(_ column: Int32) throws -> String {
    guard statement.storageClass(column) == .text else { throw unreadable(column) }
    return statement.string(column)
  }
  package func record(_ column: Int32) throws -> RecordID {
    guard statement.storageClass(column) == .blob, let halves = statement.halves(column) else {
      throw unreadable(column)
    }
    return RecordID(high: halves.high, low: halves.low)
  }
  package func data(_ column: Int32) throws -> Data {
    guard statement.storageClass(column) == .blob else { throw unreadable(column) }
    return statement.withBytes(column) { Data($0) }
  }
  package func decode<Value: Decodable>(_ type: Value.Type, _ column: Int32) throws -> Value {
    guard statement.storageClass(column) == .text else { throw unreadable(column) }
    do {
      return try decoder.decode(type, from: statement.withBytes(column) { Data($0) })
    } catch {
      throw unreadable(column)
    }
  }

  package func unreadable(_ column: Int32) -> TomboloError {
    let index = Int(column - first)
    let property = plan.description.propertyName(at: index)
    var type = ""
    if plan.description.properties.indices.contains(index),
      case .attribute(let attribute) = plan.description.properties[index].kind
    {
      type = ", " + (attribute.swiftType ?? attribute.type.rawValue)
    }
    return TomboloError(
      .undecodableValue,
      "\(plan.description.name).\(property) of record \(record) cannot be read as the property's type\(type).",
      remedy: "Correct the stored value, or declare the property with the type that wrote it.")
  }

  // MARK: Reading anew

  /// Whether a property of an existing object takes the row's value: not where an edit was not saved, nor where the row
  /// says nothing.
  public func _$refreshes(_ property: Int) -> Bool {
    guard let target, plan.positions.indices.contains(property) else { return true }
    if let only, !only.contains(property) { return false }
    return plan.positions[property] != nil && !target.changed.contains(property)
  }
  /// Tells observers that a value is about to be another one.
  public func _$willSet<Model: PersistentModel, Value>(_ model: Model, _ path: KeyPath<Model, Value>) {
    model._$state.registrar?.willSet(model, keyPath: path)
  }
  /// Tells observers that a value is another one.
  public func _$didSet<Model: PersistentModel, Value>(_ model: Model, _ path: KeyPath<Model, Value>) {
    model._$state.registrar?.didSet(model, keyPath: path)
  }
}
