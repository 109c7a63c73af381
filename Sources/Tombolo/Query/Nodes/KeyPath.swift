import Foundation
import TomboloProtocol
import TomboloSQLite

extension PredicateExpressions.KeyPath: QueryExpression {
  func operand(in compiler: QueryCompiler) throws -> QueryOperand {
    let base = try compiler.operand(root)
    switch base {
    case .constant(let value):
      guard let value = value as? Root.Output else {
        throw QueryFailure.unsupported(
          "\(keyPath) of a captured nil", instead: "Unwrap the value before the predicate.")
      }
      return .constant(withoutOptional(value[keyPath: keyPath]))
    case .row(let row):
      return try compiler.property(keyPath, valueType: Output.self, of: row)
    case .relation(let relation):
      switch kind {
      case .collectionCount: return .scalar(try compiler.count(of: relation))
      case .collectionIsEmpty: return .scalar(try compiler.isEmpty(relation))
      default:
        throw QueryFailure.unsupported(
          "\(keyPath) of a to-many relationship", instead: "Use isEmpty, count, contains(where:), allSatisfy or filter."
        )
      }
    case .scalar(let scalar):
      let property = ScalarProperty(kind: commonKind, path: keyPath, valueType: Output.self, rootType: Root.Output.self)
      return .scalar(try compiler.property(property, of: scalar))
    case .range:
      throw QueryFailure.unsupported("\(keyPath) of a range", instead: "Use contains on it.")
    }
  }

  private var commonKind: ScalarProperty.Kind? {
    switch kind {
    case .collectionCount: .count
    case .collectionIsEmpty: .isEmpty
    default: nil
    }
  }
}

/// A property of a value that is no model: `text.count`, `kind.rawValue`, `date.timeIntervalSince1970`.
struct ScalarProperty {
  enum Kind { case count, isEmpty }
  let kind: Kind?
  let path: AnyKeyPath
  let valueType: any Any.Type
  let rootType: any Any.Type
}

extension QueryCompiler {
  func property(_ path: AnyKeyPath, valueType: any Any.Type, of row: RowOperand) throws -> QueryOperand {
    guard let name = row.map.name(of: path) else {
      if isReferencing(valueType) { return .scalar(try scalar(.row(row))) }
      throw QueryFailure.unsupported(
        "the property \(path) of \(row.entity.name), which is not stored",
        instead: "Use stored properties; computed and transient ones exist in memory only.")
    }
    if let column = row.entity.column(name) {
      let alias = row.row.joined(in: self)
      let sql = column.value(in: alias)
      switch column.kind {
      case .attribute(let attribute):
        var scalar = QueryScalar(sql, .atom, .attribute(attribute.type))
        scalar.isNullable = column.isOptional
        scalar.isComposed =
          attribute.type != .string || textForms.isComposed(table: row.entity.table, column: column.column)
        if row.cast == nil { scalar.nullWith = row.nullWith }
        return .scalar(scalar)
      case .reference(let reference):
        return .row(try destination(of: reference, key: sql, in: row))
      }
    }
    let owner = row.row.identifier(in: self)
    if let link = row.entity.links.first(where: { $0.property == name }) {
      let (entity, map) = try plan(of: link.destination)
      return .relation(QueryRelation(source: .link(link), destination: entity, map: map, owner: owner))
    }
    guard let farSide = row.entity.farSides.first(where: { $0.property == name }) else {
      throw QueryFailure.unsupported("\(row.entity.name).\(name)", instead: "The open store has no such property.")
    }
    let (entity, map) = try plan(of: farSide.destination)
    if farSide.isToMany {
      return .relation(QueryRelation(source: .farSide(farSide), destination: entity, map: map, owner: owner))
    }
    let child = row.child(name) { guarded in
      let owner = guarded(owner)
      return QueryRow(
        entity: entity, scope: row.row.scope, key: owner, source: .holder(of: owner, column: farSide.column))
    }
    return .row(
      RowOperand(
        row: child, entity: entity, map: map, isNullable: true, cast: nil,
        nullWith: (row.cast == nil ? row.nullWith : []) + [child.presenceKey(in: self)]))
  }

  private func destination(of reference: ResolvedReference, key: String, in row: RowOperand) throws -> RowOperand {
    let (entity, map) = try plan(of: reference.destination)
    // Only `noAction` lets a key stand whose record is gone: there the record itself has to be looked for.
    let mayDangle = reference.rule == .noAction
    let child = row.child(reference.name) { guarded in
      QueryRow(entity: entity, scope: row.row.scope, key: guarded(key), source: .key(mayDangle: mayDangle))
    }
    return RowOperand(
      row: child, entity: entity, map: map, isNullable: reference.isOptional || mayDangle, cast: nil,
      nullWith: (row.cast == nil ? row.nullWith : []) + [child.presenceKey(in: self)])
  }

  /// The tables and key paths of an entity.
  func plan(of entity: String) throws -> (EntityPlan, KeyPathMap) {
    guard let plan = schema.entity(entity), let map = maps.map(entity: entity) else {
      throw QueryFailure.unsupported(
        "\(entity), which is not in the schema", instead: "Add it to the container's schema.")
    }
    return (plan, map)
  }

  private func isReferencing(_ type: any Any.Type) -> Bool {
    type is any RecordReferencing.Type || type is any OptionalReferencing.Type
  }

  func property(_ property: ScalarProperty, of scalar: QueryScalar) throws -> QueryScalar {
    var result = scalar
    result.guarded = nil
    switch (scalar.type, property.kind ?? dataKind(of: property.path)) {
    case (.text, .isEmpty):
      result = .condition("\(scalar.inside(.equality)) = ''", .equality, mayFail: scalar.mayFail)
    case (.text, .count):
      result = QueryScalar("tombolo_count(\(scalar.sql))", .atom, .integer)
      result.mayFail = scalar.mayFail
    case (.attribute(.data), .isEmpty):
      result = .condition("length(\(scalar.sql)) = 0", .equality, mayFail: scalar.mayFail)
    case (.attribute(.data), .count):
      result = QueryScalar("length(\(scalar.sql))", .atom, .integer)
    case (.attribute(.codable), .isEmpty) where property.rootType is any ArrayValue.Type:
      result = .condition("json_array_length(\(scalar.sql)) = 0", .equality)
    case (.attribute(.codable), .count) where property.rootType is any ArrayValue.Type:
      result = QueryScalar("json_array_length(\(scalar.sql))", .atom, .integer)
    case (.attribute(.date), nil) where property.path == \Date.timeIntervalSinceReferenceDate:
      result.type = .double
    case (.attribute(.date), nil) where property.path == \Date.timeIntervalSince1970:
      result.sql = "\(scalar.inside(.arithmetic)) + \(Date.timeIntervalBetween1970AndReferenceDate)"
      result.binding = .arithmetic
      result.type = .double
    case (_, nil) where scalar.type != .attribute(.codable) && isRawValue(property):
      // An enum is stored as its raw value.
      return result
    default:
      if scalar.type == .attribute(.codable), let member = CodableMember.of(property) {
        return member.scalar(of: scalar)
      }
      throw QueryFailure.unsupported(
        "\(property.path)", instead: "Compare the stored property itself, or store what you filter by in one.")
    }
    result.nullWith = scalar.nullWith
    result.isNullable = scalar.isNullable
    return result
  }

  /// Foundation names the kind of generic collections' key paths only.
  private func dataKind(of path: AnyKeyPath) -> ScalarProperty.Kind? {
    path == \Data.count ? .count : path == \Data.isEmpty ? .isEmpty : nil
  }

  private func isRawValue(_ property: ScalarProperty) -> Bool {
    guard let type = property.rootType as? any RawRepresentable.Type else { return false }
    return rawType(of: type) == ObjectIdentifier(property.valueType)
  }

  private func rawType<Raw: RawRepresentable>(of type: Raw.Type) -> ObjectIdentifier {
    ObjectIdentifier(Raw.RawValue.self)
  }
}

/// An optional of a record's identifier.
protocol OptionalReferencing {}
extension Optional: OptionalReferencing where Wrapped: RecordReferencing {}
