import Foundation
import TomboloProtocol

/// The key path of a sort descriptor, taken apart: references to follow, then an attribute.
struct SortPath: Sendable {
  enum Form: Sendable { case plain, localizedStandard, member(SortMember) }

  let references: [String]
  let attribute: String
  let form: Form

  /// - Throws: `unsupported_sort`.
  init(_ path: AnyKeyPath, entity: EntityPlan, map: KeyPathMap, in compiler: QueryCompiler) throws {
    if let name = map.name(of: path), entity.column(name) != nil {
      (references, attribute, form) = ([], name, .plain)
      return
    }
    // The key path `\Book.author?.name` is not equal to one put together of its steps, but is described alike.
    let text = "\(path)"
    guard let rest = Self.suffix(of: text, root: type(of: path).rootType),
      let found = try Self.parts(rest, entity: entity, map: map, in: compiler, path: path)
    else {
      throw QueryFailure.unsupportedSort(
        QueryFailure.readable(text),
        instead: "Sort by a stored attribute of the model or of a model that a to-one relationship names, "
          + "or by a member of a Codable one that is a text, a number, a date or another simple value.")
    }
    self = found
  }

  private init(references: [String], attribute: String, form: Form) {
    self.references = references
    self.attribute = attribute
    self.form = form
  }

  private static func parts(
    _ rest: Substring, entity: EntityPlan, map: KeyPathMap, in compiler: QueryCompiler, path: AnyKeyPath
  ) throws -> SortPath? {
    guard let model = map.model as? any PersistentModel.Type else {
      return try search(rest, entity: entity, map: map, in: compiler, path: path, references: [])
    }
    // One step that is no persisted property is a computed one, which is not run to find that out.
    let count = stepCount(rest)
    guard count > 1, let steps = KeyPathProbe.steps(of: path, in: model), !steps.isEmpty else { return nil }
    var (entity, map) = (entity, map)
    var references: [String] = []
    for (index, step) in steps.enumerated() {
      guard let name = map.name(of: step) else { return nil }
      if let column = entity.column(name), case .attribute(let attribute) = column.kind {
        let beyond = count - index - 1
        guard index == steps.count - 1 else { return nil }
        let isPlain = beyond <= 1 && isDescribed(rest, as: steps)
        guard
          let form = isPlain && beyond == 0
            ? form(0, of: attribute, property: step, path: path)
            : checked(beyond, of: attribute, path: path, in: model, steps: steps)
        else { return nil }
        return SortPath(references: references, attribute: name, form: form)
      }
      guard let destination = destination(of: name, in: entity) else { return nil }
      (entity, map) = try compiler.plan(of: destination)
      references.append(name)
    }
    return nil
  }

  /// How many properties a key path's description names.
  private static func stepCount(_ rest: Substring) -> Int {
    var depth = 0
    var count = 0
    for character in rest {
      switch character {
      case "<", "(", "[": depth += 1
      case ">", ")", "]": depth -= 1
      case "." where depth == 0: count += 1
      default: break
      }
    }
    return count
  }

  private static func form(
    _ beyond: Int, of attribute: SchemaAttribute, property: AnyKeyPath, path: AnyKeyPath
  ) -> Form? {
    // At most one step beyond a simple attribute: its raw value, or its rank.
    if attribute.type == .codable || beyond > 1 { return nil }
    let value = bare(type(of: property).valueType)
    let end = bare(type(of: path).valueType)
    if beyond == 0 { return value == end ? .plain : nil }
    if end == TextRank.self { return .localizedStandard }
    if value == Bool.self { return end == bare(type(of: \Bool._$rank).valueType) ? .plain : nil }
    // An enum is stored as its raw value.
    guard let raw = value as? any RawRepresentable.Type else { return nil }
    return rawType(of: raw) == ObjectIdentifier(end) ? .plain : nil
  }

  /// Whether a key path's description names these steps, and no other. In the models' own module it does so if they
  /// are all there is; in another one the same accessor may go by another address.
  private static func isDescribed(_ rest: Substring, as steps: [AnyKeyPath]) -> Bool {
    func unmarked(_ text: some StringProtocol) -> String { String(text.filter { $0 != "?" && $0 != "!" }) }
    let parts = steps.map { suffix(of: "\($0)", root: type(of: $0).rootType) }
    return !parts.contains(nil) && unmarked(rest) == parts.compactMap { $0.map { unmarked($0) } }.joined()
  }

  /// The form of a key path that may lead through a computed property: one that gives something else than what it reads
  /// is none, but for a member of the attribute's value.
  private static func checked(
    _ beyond: Int, of attribute: SchemaAttribute, path: AnyKeyPath, in model: any PersistentModel.Type,
    steps: [AnyKeyPath]
  ) -> Form? {
    guard let property = steps.last else { return nil }
    guard let form = form(beyond, of: attribute, property: property, path: path) else {
      return member(beyond, of: attribute, path: path, in: model, steps: steps)
    }
    // An enum's member may be its raw value, which has no telling key path: all cases tell, where they are known.
    let probe = SortProbe(path, in: model, references: steps.dropLast(), attribute: property)
    let isEnum = beyond == 1 && bare(type(of: property).valueType) is any RawRepresentable.Type
    let isRank = bare(type(of: path).valueType) == TextRank.self
    switch probe?.gives({ value in
      if isRank { return (value as? String).map { TextRank($0) } }
      if isEnum { return (value as? any RawRepresentable).map { $0.rawValue } }
      if beyond == 0 { return value }
      return (value as? Bool).map { $0._$rank }
    }) {
    case true: return form
    case nil where !isEnum || probe == nil: return form
    default: return member(beyond, of: attribute, path: path, in: model, steps: steps)
    }
  }

  /// Any number of steps into a `Codable` value or an enum.
  private static func member(
    _ beyond: Int, of attribute: SchemaAttribute, path: AnyKeyPath, in model: any PersistentModel.Type,
    steps: [AnyKeyPath]
  ) -> Form? {
    guard beyond > 0, let property = steps.last else { return nil }
    let raw = bare(type(of: property).valueType) as? any RawRepresentable.Type
    guard attribute.type == .codable || raw.map({ SortProbe.isStoredRaw($0) }) == true else { return nil }
    return SortMember.of(path, in: model, references: steps.dropLast(), attribute: property).map { .member($0) }
  }

  private static func bare(_ type: any Any.Type) -> any Any.Type { (type as? any OptionalType.Type)?.wrapped ?? type }

  private static func search(
    _ rest: Substring, entity: EntityPlan, map: KeyPathMap, in compiler: QueryCompiler, path: AnyKeyPath,
    references: [String]
  ) throws -> SortPath? {
    guard references.count <= 16 else { return nil }
    for (name, property) in map.paths {
      guard let step = suffix(of: "\(property)", root: type(of: property).rootType), rest.hasPrefix(step) else {
        continue
      }
      var tail = rest.dropFirst(step.count)
      // Between steps and after the last one an optional is unwrapped or wrapped.
      while let mark = tail.first, mark == "?" || mark == "!" { tail = tail.dropFirst() }
      guard tail.isEmpty || tail.first == "." else { continue }
      if let column = entity.column(name), case .attribute(let attribute) = column.kind {
        guard let form = form(tail, of: attribute, property: property, path: path) else { continue }
        return SortPath(references: references, attribute: name, form: form)
      }
      guard !tail.isEmpty, let destination = destination(of: name, in: entity) else { continue }
      let (nextEntity, nextMap) = try compiler.plan(of: destination)
      if let found = try search(
        tail, entity: nextEntity, map: nextMap, in: compiler, path: path, references: references + [name])
      {
        return found
      }
    }
    return nil
  }

  private static func destination(of name: String, in entity: EntityPlan) -> String? {
    if case .reference(let reference)? = entity.column(name)?.kind { return reference.destination }
    return entity.farSides.first { $0.property == name && !$0.isToMany }?.destination
  }

  private static func form(
    _ tail: Substring, of attribute: SchemaAttribute, property: AnyKeyPath, path: AnyKeyPath
  ) -> Form? {
    if attribute.type == .codable { return nil }
    if tail.isEmpty { return .plain }
    for (helper, form) in helpers where suffix(of: "\(helper)", root: type(of: helper).rootType) == tail { return form }
    // An enum is stored as its raw value.
    let valueType = (type(of: property).valueType as? any OptionalType.Type)?.wrapped ?? type(of: property).valueType
    guard let raw = valueType as? any RawRepresentable.Type else { return nil }
    let end = (type(of: path).valueType as? any OptionalType.Type)?.wrapped ?? type(of: path).valueType
    return rawType(of: raw) == ObjectIdentifier(end) ? .plain : nil
  }

  private static func rawType<Raw: RawRepresentable>(of type: Raw.Type) -> ObjectIdentifier {
    ObjectIdentifier(Raw.RawValue.self)
  }

  private static var helpers: [(AnyKeyPath, Form)] {
    [
      (\Bool._$rank, .plain), (\Bool?._$rank, .plain), (\String._$localizedStandardRank, .localizedStandard),
      (\String?._$localizedStandardRank, .localizedStandard),
    ]
  }

  /// A key path's description without its root: `.author?.name`.
  private static func suffix(of text: String, root: any Any.Type) -> Substring? {
    for name in ["\(root)", String(reflecting: root)] where text.hasPrefix("\\\(name)") {
      let rest = text.dropFirst(name.count + 1)
      if rest.first == "." || rest.first == "?" { return rest }
    }
    return nil
  }
}

/// An optional's wrapped type.
protocol OptionalType {
  static var wrapped: any Any.Type { get }
}

extension Optional: OptionalType {
  static var wrapped: any Any.Type { Wrapped.self }
}

extension QueryCompiler {
  /// One term of ORDER BY.
  func orderTerm(_ path: SortPath, of row: RowOperand, isReversed: Bool) throws -> String {
    var row = row
    for reference in path.references {
      guard let step = row.map.paths[reference], case .row(let next) = try property(step, valueType: Any.self, of: row)
      else { throw QueryFailure.unsupportedSort(reference, instead: "Sort through to-one relationships only.") }
      row = next
    }
    guard let step = row.map.paths[path.attribute],
      case .scalar(let scalar) = try property(step, valueType: Any.self, of: row)
    else { throw QueryFailure.unsupportedSort(path.attribute, instead: "Sort by a stored attribute.") }
    var (text, type) = (scalar.comparable, scalar.type)
    switch path.form {
    case .plain: break
    case .localizedStandard: text = "tombolo_standard_key(\(scalar.sql))"
    case .member(let member): (text, type) = ("tombolo_sort_member(\(scalar.sql), \(member.number))", member.type)
    }
    if type.isDecimal { text = "tombolo_decimal_key(\(text))" }
    return isReversed ? text + " DESC" : text
  }
}
