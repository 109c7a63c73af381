import Foundation

extension PredicateExpressions.Range: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    .range(QueryRange(lower: try compiler.operand(lower), upper: try compiler.operand(upper), includesUpper: false))
  }
}

extension PredicateExpressions.ClosedRange: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    .range(QueryRange(lower: try compiler.operand(lower), upper: try compiler.operand(upper), includesUpper: true))
  }
}

extension PredicateExpressions.RangeExpressionContains: QueryExpression, DemandedExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let value = try compiler.operand(element)
    switch try compiler.operand(range) {
    case .range(let range):
      return .scalar(try compiler.contains(range, value))
    case .constant(let captured?):
      guard let range = (captured as? any RangeValue)?.queryRange else { fallthrough }
      return .scalar(try compiler.contains(range, value))
    default:
      throw QueryFailure.unsupported("such a range", instead: "Use lower..<upper or lower...upper.")
    }
  }
}

extension QueryCompiler {
  func contains(_ range: QueryRange, _ value: QueryOperand) throws -> QueryScalar {
    let value = try scalar(value)
    var parts: [QueryScalar] = []
    if let lower = range.lower {
      let bound = try scalar(lower, as: value.type)
      noteBound(value, ">=", bound)
      parts.append(Self.comparison(value, ">=", bound))
    }
    if let upper = range.upper {
      let bound = try scalar(upper, as: value.type)
      noteBound(value, range.includesUpper ? "<=" : "<", bound)
      parts.append(Self.comparison(value, range.includesUpper ? "<=" : "<", bound))
    }
    return Self.joined(parts, isConjunction: true)
  }
}

/// The captured range types.
protocol RangeValue {
  var queryRange: QueryRange { get }
}

extension Range: RangeValue {
  var queryRange: QueryRange {
    QueryRange(lower: .constant(lowerBound), upper: .constant(upperBound), includesUpper: false)
  }
}

extension ClosedRange: RangeValue {
  var queryRange: QueryRange {
    QueryRange(lower: .constant(lowerBound), upper: .constant(upperBound), includesUpper: true)
  }
}

extension PartialRangeFrom: RangeValue {
  var queryRange: QueryRange { QueryRange(lower: .constant(lowerBound), upper: nil, includesUpper: false) }
}

extension PartialRangeUpTo: RangeValue {
  var queryRange: QueryRange { QueryRange(lower: nil, upper: .constant(upperBound), includesUpper: false) }
}

extension PartialRangeThrough: RangeValue {
  var queryRange: QueryRange { QueryRange(lower: nil, upper: .constant(upperBound), includesUpper: true) }
}
