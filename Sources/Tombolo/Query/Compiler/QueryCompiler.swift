import Foundation
import TomboloProtocol

/// The state of one translation: parameters so far, variables in scope, aliases given.
final class QueryCompiler {
  /// Nodes inside one another, chains of `&&`, `||` and `!` counted once. SQLite's own limits are lower for most shapes;
  /// this one keeps the stack.
  static let depthMax = 200
  /// Parameters of one statement; stock builds of SQLite take 32 766.
  static let argumentsMax = 32_000

  let schema: StoreSchema
  let maps: KeyPathMaps
  let textForms: TextForms
  private(set) var arguments: [Value] = []
  private var variables: [PredicateExpressions.VariableID: QueryOperand] = [:]
  private var aliases = 0
  private var depth = 0
  /// Whether the node that is compiled now may be null where it means false: directly under WHERE, with nothing
  /// but AND and OR between. There `=` may stand for `IS`, which plans better.
  private(set) var toleratesNull = false
  /// Whether a record has to satisfy the node that is compiled now: on the way from the root there is only `&&`.
  var isDemanded = false
  /// By SQL of a value: parameters that every found record's value is at least, and at most.
  private(set) var bounds: [String: (lower: [String], upper: [String])] = [:]

  init(schema: StoreSchema, maps: KeyPathMaps, textForms: TextForms) {
    self.schema = schema
    self.maps = maps
    self.textForms = textForms
  }

  // MARK: Nodes

  func operand(_ node: some PredicateExpression, toleratesNull: Bool = false) throws -> QueryOperand {
    guard let expression = node as? any QueryExpression else {
      throw QueryFailure.unsupported(
        "\(type(of: node))", instead: "Fetch with a wider predicate and filter the objects in memory.")
    }
    depth += 1
    let (outer, wasDemanded) = (self.toleratesNull, isDemanded)
    self.toleratesNull = toleratesNull
    isDemanded = wasDemanded && expression is any DemandedExpression
    defer {
      depth -= 1
      self.toleratesNull = outer
      isDemanded = wasDemanded
    }
    guard depth <= Self.depthMax else {
      throw QueryFailure.tooComplex("its expressions lie more than \(Self.depthMax) deep in one another")
    }
    return try expression.operand(in: self)
  }

  /// A node that has to be one value.
  func scalar(_ node: some PredicateExpression, as type: ScalarType? = nil) throws -> QueryScalar {
    try scalar(operand(node), as: type)
  }

  /// A node that is true or false; never null unless `toleratesNull`.
  func condition(_ node: some PredicateExpression, toleratesNull: Bool = false) throws -> QueryScalar {
    var scalar = try scalar(operand(node, toleratesNull: toleratesNull), as: .bool)
    if scalar.isNullable, !toleratesNull {
      scalar = .condition("coalesce(\(scalar.sql), 0)", .atom, mayFail: scalar.mayFail)
    }
    return scalar
  }

  // MARK: Operands

  /// - Parameter type: what a constant is bound as; nil to go by the constant itself.
  func scalar(_ operand: QueryOperand, as type: ScalarType? = nil) throws -> QueryScalar {
    switch operand {
    case .scalar(let scalar): return scalar
    case .constant(let value): return try constant(value, as: type)
    case .row(let row):
      var scalar = QueryScalar(row.row.identifier(in: self), .atom, .record)
      scalar.isNullable = row.isNullable
      scalar.nullWith = row.nullWith
      if let cast = row.cast {
        scalar.sql = "CASE WHEN \(cast) THEN \(scalar.sql) END"
        scalar.isNullable = true
        scalar.nullWith = []
      }
      return scalar
    case .relation:
      throw QueryFailure.unsupported(
        "a to-many relationship as a value", instead: "Use isEmpty, count, contains(where:), allSatisfy or filter.")
    case .range:
      throw QueryFailure.unsupported("a range as a value", instead: "Use contains on it.")
    }
  }

  /// Both sides of a comparison, constants in the form of the other side.
  func scalars(
    _ left: some PredicateExpression, _ right: some PredicateExpression
  ) throws -> (QueryScalar, QueryScalar) {
    try scalars(operand(left), operand(right))
  }

  func scalars(_ left: QueryOperand, _ right: QueryOperand) throws -> (QueryScalar, QueryScalar) {
    if case .constant = left {
      let second = try scalar(right)
      return (try scalar(left, as: second.type), second)
    }
    let first = try scalar(left)
    return (first, try scalar(right, as: first.type))
  }

  // MARK: Bounds

  /// Notes a comparison with a parameter that every found record satisfies.
  func noteBound(_ a: QueryScalar, _ sqlOperator: String, _ b: QueryScalar) {
    guard isDemanded, !a.isNaN, !b.isNaN else { return }
    func isParameter(_ sql: String) -> Bool { sql.hasPrefix("?") && sql.dropFirst().allSatisfy(\.isNumber) }
    if isParameter(b.sql) {
      note(b.sql, isLower: sqlOperator.hasPrefix(">"), of: a.sql)
    } else if isParameter(a.sql) {
      note(a.sql, isLower: sqlOperator.hasPrefix("<"), of: b.sql)
    }
  }

  private func note(_ parameter: String, isLower: Bool, of value: String) {
    if isLower {
      bounds[value, default: ([], [])].lower.append(parameter)
    } else {
      bounds[value, default: ([], [])].upper.append(parameter)
    }
  }

  // MARK: Parameters, aliases, variables

  func bind(_ value: Value) throws -> String {
    guard arguments.count < Self.argumentsMax else {
      throw QueryFailure.tooComplex("it captures more than \(Self.argumentsMax) values")
    }
    arguments.append(value)
    return "?\(arguments.count)"
  }

  func makeAlias() -> String {
    defer { aliases += 1 }
    return "t\(aliases)"
  }

  func define(_ variable: PredicateExpressions.VariableID, as operand: QueryOperand) {
    variables[variable] = operand
  }

  func value(of variable: PredicateExpressions.VariableID) -> QueryOperand? { variables[variable] }
}
