import Foundation
import TomboloProtocol

extension PredicateExpressions.SequenceContains: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let element = try compiler.operand(element)
    switch try compiler.operand(sequence) {
    case .constant(let captured):
      guard let captured else { return .scalar(.no) }
      if let range = (captured as? any RangeValue)?.queryRange {
        return .scalar(try compiler.contains(range, element))
      }
      if let text = captured as? String {
        return .scalar(try compiler.textTest("tombolo_contains", .constant(text), element))
      }
      guard let elements = QueryList.elements(of: captured) else { break }
      return .scalar(try compiler.contains(elements, compiler.scalar(element, as: nil)))
    case .range(let range):
      return .scalar(try compiler.contains(range, element))
    case .scalar(let scalar) where scalar.type.isText:
      return .scalar(try compiler.textTest("tombolo_contains", .scalar(scalar), element))
    case .scalar(let scalar) where scalar.type == .attribute(.codable):
      return .scalar(try compiler.contains(array: scalar, element))
    case .relation(let relation):
      let (scope, row) = try compiler.open(relation)
      let isSame = try compiler.equality(row, element, isEqual: true, toleratesNull: true)
      return .scalar(compiler.exists(scope, where: isSame))
    default: break
    }
    throw QueryFailure.unsupported(
      "contains on such a value", instead: "Use it on arrays, sets, ranges, text and to-many.")
  }
}

extension QueryCompiler {
  /// `list.contains(value)` for a captured list; nil in the list is nil, and the answer is never null.
  func contains(_ elements: [Any], _ value: QueryScalar) throws -> QueryScalar {
    let list = try QueryList(elements, as: value.type)
    var isIn: QueryScalar = .no
    if let text = list.text {
      isIn = .condition(
        "\(value.comparable(inside: .equality)) IN (SELECT \(list.decoder) FROM json_each(\(try bind(.text(text)))))",
        .equality, mayFail: value.mayFail)
    } else if !list.values.isEmpty {
      let parameters = try list.values.map { try bind($0) }.joined(separator: ", ")
      isIn = .condition(
        "\(value.comparable(inside: .equality)) IN (\(parameters))", .equality, mayFail: value.mayFail)
    }
    guard value.isNullable || value.mayBeNaN else { return isIn }
    if isIn.sql == "0" {
      return list.hasNil ? .condition("\(value.inside(.equality)) IS NULL", .equality, mayFail: value.mayFail) : .no
    }
    // `NULL IN (…)` is null.
    let presence = QueryScalar.condition(
      "\(value.inside(.equality)) IS \(list.hasNil ? "" : "NOT ")NULL", .equality, mayFail: value.mayFail)
    return Self.joined([presence, isIn], isConjunction: !list.hasNil)
  }

  /// `array.contains(value)` for a stored array of texts or integers, which is JSON text.
  fileprivate func contains(array: QueryScalar, _ element: QueryOperand) throws -> QueryScalar {
    let element = try scalar(element)
    let alias = makeAlias()
    let value: String
    if element.type.isText {
      value = "tombolo_composed(\(alias).value)"
    } else if element.type.integerBounds != nil {
      value = "\(alias).value"
    } else {
      throw QueryFailure.unsupported(
        "contains on a stored array of such elements", instead: "Only arrays of texts and integers can be searched.")
    }
    return .condition(
      "EXISTS (SELECT 1 FROM json_each(\(array.sql)) AS \(alias) WHERE \(value) IS \(element.comparable(inside: .equality)))",
      .atom, mayFail: array.mayFail || element.mayFail)
  }
}

/// A captured list as parameters: a few one by one, many as one JSON text, so that no limit on parameters is met.
struct QueryList {
  private static let parametersMax = 40

  /// Without nil and NaN.
  private(set) var values: [Value] = []
  private(set) var hasNil = false
  /// The JSON text, where the list is long.
  private(set) var text: String?
  /// What makes an element of `json_each` the value again.
  private(set) var decoder = "value"

  init(_ elements: [Any], as type: ScalarType) throws {
    values.reserveCapacity(elements.count)
    for element in elements {
      guard let element = withoutOptional(element) else {
        hasNil = true
        continue
      }
      if let value = try QueryConstant(element, as: type).value { values.append(value) }
    }
    if values.count > Self.parametersMax { encode() }
  }

  /// The elements of a captured array, set or other sequence; nil for what is none.
  static func elements(of captured: Any) -> [Any]? {
    func collect(_ sequence: some Sequence) -> [Any] { sequence.map { $0 as Any } }
    if let texts = captured as? [String] { return texts }
    guard !(captured is String), let sequence = captured as? any Sequence else { return nil }
    return collect(sequence)
  }

  private mutating func encode() {
    var bytes: [UInt8] = [0x5B]
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(0x2C) }
      switch value {
      case .integer(let value): bytes += "\(value)".utf8
      case .real(let value):
        decoder = "tombolo_real(value)"
        bytes += "\(Int64(bitPattern: value.bitPattern))".utf8
      case .text(let value):
        decoder = "tombolo_text(value)"
        Self.quote(value.utf8, in: &bytes)
      case .blob(let value):
        decoder = "tombolo_blob(value)"
        Self.quote(value, in: &bytes)
      case .null: break
      }
    }
    bytes.append(0x5D)
    text = String(decoding: bytes, as: UTF8.self)
    values = []
  }

  private static func quote(_ content: some Sequence<UInt8>, in bytes: inout [UInt8]) {
    bytes.append(0x22)
    Hexadecimal.append(content, to: &bytes)
    bytes.append(0x22)
  }
}
