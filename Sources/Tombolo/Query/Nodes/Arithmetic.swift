import Foundation

extension PredicateExpressions.Arithmetic: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let name =
      switch op {
      case .add: "add"
      case .subtract: "subtract"
      case .multiply: "multiply"
      @unknown default: "add"
      }
    return .scalar(try compiler.arithmetic(compiler.operand(lhs), name, compiler.operand(rhs)))
  }
}

extension PredicateExpressions.IntDivision: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    .scalar(try compiler.arithmetic(compiler.operand(lhs), "divide", compiler.operand(rhs)))
  }
}

extension PredicateExpressions.IntRemainder: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    .scalar(try compiler.arithmetic(compiler.operand(lhs), "remainder", compiler.operand(rhs)))
  }
}

extension PredicateExpressions.FloatDivision: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    .scalar(try compiler.arithmetic(compiler.operand(lhs), "divide", compiler.operand(rhs)))
  }
}

extension PredicateExpressions.UnaryMinus: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let value = try compiler.scalar(wrapped)
    if value.type.isDecimal {
      var result = value
      result.sql = "tombolo_decimal_subtract('0', \(value.sql))"
      result.binding = .atom
      return .scalar(result)
    }
    if value.type.isFloatingPoint {
      var result = value
      result.sql = "-\(value.inside(.arithmetic))"
      result.binding = .arithmetic
      return .scalar(result)
    }
    return .scalar(try compiler.arithmetic(.constant(Int64(0)), "subtract", .scalar(value)))
  }
}

extension QueryCompiler {
  /// Arithmetic with Swift's outcomes. What traps in memory (overflow, division by zero) makes the fetch throw
  /// `predicate_failed`.
  func arithmetic(_ left: QueryOperand, _ name: String, _ right: QueryOperand) throws -> QueryScalar {
    let (a, b) = try scalars(left, right)
    var result = QueryScalar("", .atom, a.type)
    result.isNullable = a.isNullable || b.isNullable
    result.nullWith = a.nullWith + b.nullWith
    result.mayFail = a.mayFail || b.mayFail
    if let bounds = a.type.integerBounds {
      result.sql =
        "tombolo_integer_\(name)(\(a.sql), \(b.sql), \(Self.literal(bounds.lowerBound)), \(bounds.upperBound))"
      result.mayFail = true
    } else if a.type.isDecimal, name != "divide" {
      result.sql = "tombolo_decimal_\(name)(\(a.sql), \(b.sql))"
    } else if a.type.isFloatingPoint {
      let kind = a.type == .double ? "real" : "float"
      result.sql = "tombolo_\(kind)_\(name)(\(a.sql), \(b.sql))"
      result.mayBeNaN = true
    } else {
      throw QueryFailure.unsupported(
        "arithmetic on such values", instead: "Compute the other side before the predicate.")
    }
    return result
  }

  /// The least integer has no literal of its own in SQL: the minus is an operator.
  private static func literal(_ value: Int64) -> String {
    value == .min ? "(-9223372036854775807 - 1)" : "\(value)"
  }
}
