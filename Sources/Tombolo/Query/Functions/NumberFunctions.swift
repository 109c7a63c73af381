import Foundation
import TomboloProtocol
import TomboloSQLite

/// Arithmetic with Swift's outcomes, where SQLite's own differs: it turns an overflow into a real number and a
/// division by zero into NULL.
extension QueryFunctions {
  static func registerNumbers(on connection: Connection) throws {
    // The bounds come last, so that a small integer type overflows where Swift's does.
    for (name, operation) in integerOperations {
      try connection.define("tombolo_integer_\(name)", arguments: 4) { arguments in
        guard case .integer(let a) = arguments[0], case .integer(let b) = arguments[1],
          case .integer(let lower) = arguments[2], case .integer(let upper) = arguments[3]
        else { return .null }
        if b == 0, name == "divide" || name == "remainder" { throw Failure(reason: "division by zero") }
        let (result, overflows) = operation(a, b)
        guard !overflows, result >= lower, result <= upper else { throw Failure(reason: "an integer overflows") }
        return .integer(result)
      }
    }
    for (name, operation) in realOperations {
      try connection.define("tombolo_real_\(name)", arguments: 2) { arguments in
        guard let a = real(arguments[0]), let b = real(arguments[1]) else { return .null }
        return .real(operation(a, b))
      }
      try connection.define("tombolo_float_\(name)", arguments: 2) { arguments in
        guard let a = real(arguments[0]), let b = real(arguments[1]) else { return .null }
        // Both were floats: a double has room for the exact result to be rounded once, as the Float operation does.
        return .real(Double(Float(operation(a, b))))
      }
    }
    try registerDecimals(on: connection)
    try connection.define("tombolo_unwrap", arguments: 1) { arguments in
      if case .null = arguments[0] { throw Failure(reason: "nil was unwrapped with !") }
      return arguments[0]
    }
  }

  private static func registerDecimals(on connection: Connection) throws {
    try connection.define("tombolo_decimal_compare", arguments: 2) { arguments in
      guard case .text(let a) = arguments[0], case .text(let b) = arguments[1] else { return .null }
      return .integer(Int64(DecimalForm.compare(a, b)))
    }
    let operations: [(String, (Decimal, Decimal) -> Decimal)] = [("add", +), ("subtract", -), ("multiply", *)]
    for (name, operation) in operations {
      try connection.define("tombolo_decimal_\(name)", arguments: 2) { arguments in
        guard let a = decimal(arguments[0]), let b = decimal(arguments[1]) else { return .null }
        return .text(DecimalText.text(of: operation(a, b)))
      }
    }
    // A key whose bytes sort as the numbers do.
    try connection.define("tombolo_decimal_key", arguments: 1) { arguments in
      guard case .text(let text) = arguments[0] else { return .null }
      return .blob(DecimalKey.bytes(of: text))
    }
  }

  private static let integerOperations: [(String, @Sendable (Int64, Int64) -> (Int64, Bool))] = [
    ("add", { a, b in pair(a.addingReportingOverflow(b)) }),
    ("subtract", { a, b in pair(a.subtractingReportingOverflow(b)) }),
    ("multiply", { a, b in pair(a.multipliedReportingOverflow(by: b)) }),
    ("divide", { a, b in pair(a.dividedReportingOverflow(by: b)) }),
    ("remainder", { a, b in pair(a.remainderReportingOverflow(dividingBy: b)) }),
  ]

  private static let realOperations: [(String, @Sendable (Double, Double) -> Double)] = [
    ("add", +), ("subtract", -), ("multiply", *), ("divide", /),
  ]

  private static func pair(_ result: (partialValue: Int64, overflow: Bool)) -> (Int64, Bool) {
    (result.partialValue, result.overflow)
  }

  private static func real(_ value: Connection.FunctionValue) -> Double? {
    switch value {
    case .real(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }

  private static func decimal(_ value: Connection.FunctionValue) -> Decimal? {
    guard case .text(let text) = value else { return nil }
    return DecimalText.value(of: text)
  }
}
