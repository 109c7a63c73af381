import Foundation

extension PredicateExpressions.TypeCheck: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let row = try compiler.castable(compiler.operand(input))
    guard let cast = try compiler.cast(row, to: Desired.self) else { return .scalar(.no) }
    return .scalar(compiler.presence(of: cast))
  }
}

extension PredicateExpressions.ConditionalCast: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    guard let row = try compiler.cast(compiler.castable(compiler.operand(input)), to: Desired.self) else {
      return .constant(nil)
    }
    return .row(row)
  }
}

extension PredicateExpressions.ForceCast: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    throw QueryFailure.unsupported("as!", instead: "Use as? with optional chaining: (object as? Kind)?.property.")
  }
}

extension QueryCompiler {
  fileprivate func castable(_ operand: QueryOperand) throws -> RowOperand {
    guard case .row(let row) = operand else {
      throw QueryFailure.unsupported("is or as? on a value", instead: "Use them on model objects only.")
    }
    return row
  }

  /// The row as another class of its hierarchy; nil where it can never be one.
  fileprivate func cast(_ row: RowOperand, to type: any Any.Type) throws -> RowOperand? {
    guard let map = maps.map(model: type), let entity = schema.entity(map.entity) else {
      throw QueryFailure.unsupported(
        "a cast to \(type), which is no model of the schema", instead: "Cast to a model class.")
    }
    var result = row
    result.map = map
    result.entity = entity
    if row.entity.lineage.contains(entity.name) {
      // Every row is one already.
      if row.cast == nil { result.isNullable = row.isNullable }
      return result
    }
    guard entity.lineage.contains(row.entity.name) else { return nil }
    result.isNullable = true
    result.cast = Self.entityCondition(entity, alias: row.row.joined(in: self), isNullable: row.row.mayBeAbsent)
    return result
  }

  /// The condition that a row of the hierarchy's table is of the entity or of one below it; never null.
  static func entityCondition(_ entity: EntityPlan, alias: String, isNullable: Bool) -> String {
    guard entity.hasEntityColumn else { return isNullable ? "\(alias).\"_tombolo_id\" IS NOT NULL" : "1" }
    let column = "\(alias).\"_tombolo_entity\""
    let names = entity.concreteNames.map(\.quotedText).joined(separator: ", ")
    // A missing row has a null there, and `NULL IN` would be null.
    return isNullable ? "coalesce(\(column) IN (\(names)), 0)" : "\(column) IN (\(names))"
  }
}

extension String {
  /// The text as an SQL literal.
  var quotedText: String { "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'" }
}
