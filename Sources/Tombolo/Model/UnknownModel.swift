import TomboloProtocol

/// An object of no model, for a record of which nothing is known: deleted, in no context. No container takes it.
///
/// ``ModelContext/model(for:)`` must answer with an object, also for a model that its container was not made for.
final class UnknownModel: PersistentModel {
  let _$state = _$ModelState()
  static var _$propertyCount: Int { 0 }

  init(_ record: RecordID) {
    _$state.record = record
    _$state.flags = [.absorbed, .deleted]
  }

  /// Never called: no row is of this class.
  init(_$row: _$RowReader) throws { throw ModelErrors.notInSchema(UnknownModel.self) }

  func _$reload(_ row: _$RowReader) throws {}
  func _$bind(_ property: Int, to writer: _$ColumnWriter) throws {}
  static func _$describe(_ schema: _$SchemaBuilder) {}
}
