import SwiftSyntax
import SwiftSyntaxBuilder

/// What the macro can tell of a property's type from its spelling alone.
struct AttributeType {
  /// The type as storage declares it: `T!` became `T?`.
  let text: String
  let isOptional: Bool
  /// A scalar, or a collection of scalars, that cannot be a model: its storage needs no state beside it.
  let isPlain: Bool
  /// An array, or an optional one.
  let isArray: Bool
  let isUUID: Bool
  let isDate: Bool

  init(_ type: TypeSyntax) {
    var type = type.trimmed
    var isOptional = false
    if let forced = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      type = TypeSyntax(OptionalTypeSyntax(wrappedType: forced.wrappedType.trimmed))
    }
    var wrapped = type
    if let optional = type.as(OptionalTypeSyntax.self) {
      isOptional = true
      wrapped = optional.wrappedType.trimmed
    } else if let name = type.as(IdentifierTypeSyntax.self), name.name.text == "Optional",
      let argument = name.genericArgumentClause?.arguments.first?.argument.as(TypeSyntax.self)
    {
      isOptional = true
      wrapped = argument.trimmed
    }
    text = type.trimmedDescription
    self.isOptional = isOptional
    isPlain = Self.isPlain(wrapped)
    isArray = wrapped.is(ArrayTypeSyntax.self) || wrapped.as(IdentifierTypeSyntax.self)?.name.text == "Array"
    let name = Self.scalarName(wrapped)
    isUUID = name == "UUID"
    isDate = name == "Date"
  }

  private static let scalars: Set<String> = [
    "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Float", "Double",
    "Decimal", "String", "Date", "Data", "UUID", "URL",
  ]

  private static func scalarName(_ type: TypeSyntax) -> String? {
    if let member = type.as(MemberTypeSyntax.self),
      ["Swift", "Foundation"].contains(member.baseType.trimmedDescription)
    {
      return member.name.text
    }
    guard let name = type.as(IdentifierTypeSyntax.self), name.genericArgumentClause == nil else { return nil }
    return name.name.text
  }

  private static func isPlain(_ type: TypeSyntax) -> Bool {
    if let array = type.as(ArrayTypeSyntax.self) { return isPlain(array.element.trimmed) }
    if let dictionary = type.as(DictionaryTypeSyntax.self) {
      return isPlain(dictionary.key.trimmed) && isPlain(dictionary.value.trimmed)
    }
    return scalarName(type).map { scalars.contains($0) } ?? false
  }

  /// The type of a default value whose spelling gives it away; nil where an annotation is needed.
  static func inferred(from value: ExprSyntax) -> TypeSyntax? {
    if value.is(StringLiteralExprSyntax.self) { return "String" }
    if value.is(IntegerLiteralExprSyntax.self) { return "Int" }
    if value.is(FloatLiteralExprSyntax.self) { return "Double" }
    if value.is(BooleanLiteralExprSyntax.self) { return "Bool" }
    if let prefix = value.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" {
      return inferred(from: prefix.expression)
    }
    if let call = value.as(FunctionCallExprSyntax.self) {
      if let array = call.calledExpression.as(ArrayExprSyntax.self), array.elements.count == 1 {
        return TypeSyntax("\(raw: array.trimmedDescription)")
      }
      if let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text, scalars.contains(name),
        name != "URL" || call.arguments.first?.label?.text != "string"
      {
        return TypeSyntax("\(raw: name)")
      }
      // A call of a type is one of its initializers, which may fail in any of the types above.
      if let name = namedType(call.calledExpression)?.trimmedDescription, !scalars.contains(name) {
        return TypeSyntax("\(raw: name)")
      }
    }
    if let member = value.as(MemberAccessExprSyntax.self), let base = member.base { return namedType(base) }
    if let array = value.as(ArrayExprSyntax.self) { return list(of: array.elements.map(\.expression)) }
    return nil
  }

  /// The type that a default value names, as `Genre` in `Genre.novel`. A static member may be of another type than
  /// its own: then the compiler says so of the annotation.
  private static func namedType(_ base: ExprSyntax) -> TypeSyntax? {
    let name = base.trimmedDescription
    let last = name.split(separator: ".").last ?? ""
    guard let first = last.first, first.isUppercase,
      name.allSatisfy({ $0.isLetter || $0.isNumber || "._".contains($0) })
    else { return nil }
    return TypeSyntax("\(raw: name)")
  }

  /// The type of a list of literals of one kind.
  private static func list(of elements: [ExprSyntax]) -> TypeSyntax? {
    let types = Set(elements.compactMap { inferred(from: $0)?.trimmedDescription })
    guard types.count == 1, let type = types.first, elements.allSatisfy({ inferred(from: $0) != nil }) else {
      return nil
    }
    return TypeSyntax("[\(raw: type)]")
  }
}
