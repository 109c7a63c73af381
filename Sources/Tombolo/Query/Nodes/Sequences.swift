import Foundation
import TomboloSQLite

extension PredicateExpressions.SequenceContainsWhere: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    .scalar(
      try compiler.contains(
        compiler.operand(sequence), of: LHS.Output.self, variable: variable.key, test: test))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    .scalar(
      try compiler.allSatisfy(
        compiler.operand(sequence), of: LHS.Output.self, variable: variable.key, test: test))
  }
}

extension PredicateExpressions.Filter: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let base = try compiler.operand(sequence)
    if case .scalar(let array) = base {
      return .scalar(try compiler.filter(array, of: LHS.Output.self, variable: variable.key, test: filter))
    }
    guard case .relation(var relation) = base else {
      throw QueryFailure.unsupported("filter on a captured array", instead: "Filter it before the predicate.")
    }
    let variable = variable.key
    let filter = filter
    relation.filters.append { compiler, row in
      compiler.define(variable, as: row)
      return try compiler.condition(filter, toleratesNull: true)
    }
    return .relation(relation)
  }
}

extension PredicateExpressions.SequenceMaximum: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let base = try compiler.operand(elements)
    if case .constant(let captured as Elements.Output) = base { return .constant(captured.max()) }
    return .scalar(try compiler.extreme("max", base, of: Elements.Output.self))
  }
}

extension PredicateExpressions.SequenceMinimum: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let base = try compiler.operand(elements)
    if case .constant(let captured as Elements.Output) = base { return .constant(captured.min()) }
    return .scalar(try compiler.extreme("min", base, of: Elements.Output.self))
  }
}

extension QueryCompiler {
  /// Elements of a captured list for which a test is written out.
  private static let expandedMax = 1_000

  fileprivate func contains(
    _ sequence: QueryOperand, of type: any Any.Type, variable: PredicateExpressions.VariableID,
    test: some PredicateExpression
  ) throws -> QueryScalar {
    if case .relation(let relation) = sequence {
      let (scope, row) = try open(relation)
      define(variable, as: row)
      let condition = try condition(test, toleratesNull: true)
      return exists(scope, where: condition)
    }
    if case .scalar(let array) = sequence {
      let rows = try elements(of: array, type)
      define(variable, as: .scalar(rows.element))
      return Self.exists(rows, where: try condition(test, toleratesNull: true))
    }
    return Self.joined(try expanded(sequence, variable: variable, test: test), isConjunction: false)
  }

  fileprivate func allSatisfy(
    _ sequence: QueryOperand, of type: any Any.Type, variable: PredicateExpressions.VariableID,
    test: some PredicateExpression
  ) throws -> QueryScalar {
    if case .scalar(let array) = sequence {
      let rows = try elements(of: array, type)
      define(variable, as: .scalar(rows.element))
      return negation(of: Self.exists(rows, where: negation(of: try condition(test))))
    }
    if case .relation(let relation) = sequence {
      let (scope, row) = try open(relation)
      define(variable, as: row)
      return negation(of: exists(scope, where: negation(of: try condition(test))))
    }
    return Self.joined(try expanded(sequence, variable: variable, test: test), isConjunction: true)
  }

  /// The test once for each element of a captured list.
  private func expanded(
    _ sequence: QueryOperand, variable: PredicateExpressions.VariableID, test: some PredicateExpression
  ) throws -> [QueryScalar] {
    guard case .constant(let captured?) = sequence, let elements = QueryList.elements(of: captured) else {
      throw QueryFailure.unsupported(
        "contains(where:) or allSatisfy on such a value", instead: "Use it on arrays, sets and to-many relationships.")
    }
    guard elements.count <= Self.expandedMax else {
      throw QueryFailure.tooComplex(
        "a test over a captured list of more than \(Self.expandedMax) elements; contains(element) has no limit")
    }
    return try elements.map { element in
      define(variable, as: .constant(withoutOptional(element)))
      return try condition(test)
    }
  }

  // MARK: To-many relationships

  /// A subquery over the records of a relationship, its filters applied.
  func open(_ relation: QueryRelation) throws -> (QueryScope, QueryOperand) {
    let alias = makeAlias()
    let table = "\(relation.destination.table.quotedIdentifier) AS \(alias)"
    let scope: QueryScope
    switch relation.source {
    case .farSide(let plan):
      scope = QueryScope(base: table)
      scope.conditions.append("\(alias).\(plan.column.quotedIdentifier) = \(relation.owner)")
    case .link(let plan):
      let pairs = makeAlias()
      scope = QueryScope(base: "\(plan.table.quotedIdentifier) AS \(pairs)")
      scope.join("JOIN \(table) ON \(alias).\"_tombolo_id\" = \(pairs).\"\(plan.otherColumn)\"")
      scope.conditions.append("\(pairs).\"\(plan.ownColumn)\" = \(relation.owner)")
    }
    let key = "\(alias).\"_tombolo_id\""
    let row = QueryRow(entity: relation.destination, scope: scope, key: key, source: .table(alias: alias))
    let operand = QueryOperand.row(
      RowOperand(
        row: row, entity: relation.destination, map: relation.map, isNullable: false, cast: nil, nullWith: [key]))
    for filter in relation.filters {
      let condition = try filter(self, operand)
      scope.conditions.append(condition.inside(.or))
    }
    return (scope, operand)
  }

  func exists(_ scope: QueryScope, where condition: QueryScalar) -> QueryScalar {
    if condition.sql == "0" { return .no }
    if condition.sql != "1" { scope.conditions.append(condition.inside(.or)) }
    return .condition("EXISTS (SELECT 1 \(scope.clause))", .atom, mayFail: condition.mayFail)
  }

  func isEmpty(_ relation: QueryRelation) throws -> QueryScalar {
    let (scope, _) = try open(relation)
    return negation(of: exists(scope, where: .yes))
  }

  func count(of relation: QueryRelation) throws -> QueryScalar {
    let (scope, _) = try open(relation)
    return QueryScalar("(SELECT count(*) \(scope.clause))", .atom, .integer)
  }
}
