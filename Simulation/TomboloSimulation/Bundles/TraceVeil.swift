import Foundation
import Tombolo
import TomboloProtocol

/// Puts placeholders in the place of a trace's values. Within one attribute equal values have equal placeholders, and those
/// stand in the order of the values, since the merge asks for nothing else. What is kept: nil, references, and a value that
/// the schema declares as the default. Of counters only the signs of additions are left.
struct TraceVeil {
  /// The values of one attribute.
  private struct Domain: Hashable {
    var entity: String
    var attribute: String
  }

  private let schema: StoreSchema
  private var placeholders: [Domain: [Value: Value]] = [:]

  init(_ bundle: TraceBundle) {
    schema = StoreSchema(document: bundle.schema)
    var values: [Domain: Set<Value>] = [:]
    var copy = bundle
    Self.eachValue(of: &copy) { entity, attribute, value, _ in
      let domain = self.domain(entity, attribute)
      if isOpen(value, domain) { values[domain, default: []].insert(Self.composed(value)) }
    }
    for (domain, values) in values { placeholders[domain] = self.placeholders(for: values, domain) }
  }

  func cover(_ bundle: inout TraceBundle) {
    Self.eachValue(of: &bundle) { entity, attribute, value, role in
      let domain = self.domain(entity, attribute)
      if column(domain)?.isCounter == true {
        value = role == .addition ? Self.sign(value) : isDefault(value, domain) ? value : .integer(0)
      } else if isOpen(value, domain) {
        value = placeholders[domain]?[Self.composed(value)] ?? .null
      }
    }
    settleCounters(&bundle)
  }

  // MARK: Values

  private func column(_ domain: Domain) -> Column? {
    guard let column = schema.entity(domain.entity)?.column(domain.attribute) else { return nil }
    return Column(column)
  }

  private struct Column {
    var attribute: SchemaAttribute?
    init(_ plan: ColumnPlan) { if case .attribute(let attribute) = plan.kind { self.attribute = attribute } }
    var isCounter: Bool { attribute?.merge == .counter }
    var defaultValue: Value? {
      if case .constant(let value)? = attribute?.defaultValue { return value }
      return nil
    }
  }

  /// An inherited attribute is one attribute, whichever entity's record has it.
  private func domain(_ entity: String, _ attribute: String) -> Domain {
    let plan = schema.entity(entity)?.column(attribute)
    return Domain(entity: plan?.declaringEntity ?? entity, attribute: attribute)
  }

  private func isDefault(_ value: Value, _ domain: Domain) -> Bool { column(domain)?.defaultValue == value }

  /// Whether a value says something.
  private func isOpen(_ value: Value, _ domain: Domain) -> Bool {
    // A place in a list says nothing of what stands there.
    guard !value.isNull, !domain.attribute.hasPrefix(ResolvedOrder.prefix) else { return false }
    // What this schema does not know may be anything; of a reference it cannot be told from a UUID.
    guard let column = column(domain) else { return true }
    return column.attribute != nil && !column.isCounter && column.defaultValue != value
  }

  /// Two spellings of one text are one value.
  private static func composed(_ value: Value) -> Value {
    if case .text(let text) = value { return .text(ValueRules.composed(text)) }
    return value
  }

  private static func sign(_ value: Value) -> Value {
    if case .integer(let delta) = value { return .integer(delta.signum()) }
    return .integer(0)
  }

  private func placeholders(for values: Set<Value>, _ domain: Domain) -> [Value: Value] {
    let attribute = column(domain)?.attribute
    let declared = column(domain)?.defaultValue
    let type = attribute?.type
    func isLess(_ a: Value, _ b: Value) -> Bool {
      type.map { FieldMerge.isLess(a, b, of: $0) } ?? (a.traceText < b.traceText)
    }
    let ordered = values.sorted(by: isLess)
    let below = declared.map { declared in ordered.filter { isLess($0, declared) } } ?? []
    let above = ordered.dropFirst(below.count)
    let width = String(ordered.count).count
    var result: [Value: Value] = [:]
    for (index, value) in below.enumerated() {
      result[value] = Self.placeholder(index - below.count, above: declared, type, width: width)
    }
    for (index, value) in above.enumerated() {
      result[value] = Self.placeholder(index + 1, above: declared, type, width: width)
    }
    return result
  }

  /// - Parameter rank: counted from the declared default, or from nothing.
  private static func placeholder(_ rank: Int, above declared: Value?, _ type: AttributeType?, width: Int) -> Value {
    let digits = String(abs(rank))
    let padded = String(repeating: "0", count: max(0, width - digits.count)) + digits
    var base = 0
    switch declared {
    case .integer(let value)?: base = Int(value)
    case .real(let value)? where abs(value) < 1e9: base = Int(value.rounded(rank < 0 ? .down : .up))
    case .text(let text)? where type == .decimal: base = Int(Double(text) ?? 0)
    default: break
    }
    switch type {
    case .bool?: return .integer(declared == nil ? Int64(rank - 1) : declared == .integer(0) ? 1 : 0)
    case .int8?, .int16?, .int32?, .int64?, .uint8?, .uint16?, .uint32?, .uint64?:
      return .integer(Int64(base.addingReportingOverflow(declared == nil ? rank - 1 : rank).partialValue))
    case .float?, .double?, .date?: return .real(Double(base + rank))
    case .decimal?: return .text(String(base + rank))
    case .string?, nil:
      // Between what sorts before and behind every usual text.
      let mark = declared.map { $0 == .text("") } ?? true ? "v" : rank < 0 ? "!" : "~"
      return .text(mark + (rank < 0 ? Self.complement(padded) : padded))
    case .url?: return .text("https://example.invalid/\(padded)")
    case .codable?: return .text("\"v\(padded)\"")
    case .data?: return .blob(bytes(rank))
    case .uuid?: return .blob([UInt8](repeating: 0, count: 12) + bytes(rank))
    }
  }

  /// So that ranks below the default ascend as texts, too.
  private static func complement(_ digits: String) -> String {
    String(digits.map { Character(String(9 - ($0.wholeNumberValue ?? 0))) })
  }

  private static func bytes(_ rank: Int) -> [UInt8] {
    let number = UInt32(bitPattern: Int32(clamping: rank)) ^ 0x8000_0000
    return stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
  }

  // MARK: Counters

  /// What is shown is what was confirmed and the additions that wait.
  private func settleCounters(_ bundle: inout TraceBundle) {
    var sums: [RecordID: [String: Int64]] = [:]
    for case .record(let record) in bundle.confirmed {
      for field in record.fields {
        if case .integer(let value) = field.value { sums[record.id, default: [:]][field.name] = value }
      }
    }
    for pending in bundle.pending {
      for change in pending.changeSet.changes {
        switch change {
        case .create(let create):
          for field in create.fields {
            if case .integer(let value) = field.value { sums[create.id, default: [:]][field.name] = value }
          }
        case .update(let update):
          for addition in update.additions {
            sums[update.id, default: [:]][addition.name, default: 0] += addition.delta
          }
        case .delete, .link: break
        }
      }
    }
    bundle.shown = bundle.shown.map { item in
      guard case .record(var record) = item else { return item }
      for index in record.fields.indices
      where column(domain(record.entity, record.fields[index].name))?.isCounter == true {
        record.fields[index].value = .integer(sums[record.id]?[record.fields[index].name] ?? 0)
      }
      return .record(record)
    }
  }

  // MARK: Walking

  enum Role { case value, addition }

  private typealias Visitor = (_ entity: String, _ attribute: String, _ value: inout Value, _ role: Role) -> Void

  private static func eachValue(of bundle: inout TraceBundle, _ visit: Visitor) {
    for index in bundle.confirmed.indices { walk(&bundle.confirmed[index], visit) }
    for index in bundle.shown.indices { walk(&bundle.shown[index], visit) }
    for index in bundle.pending.indices { walk(&bundle.pending[index].changeSet, visit) }
    for index in bundle.parked.indices { walk(&bundle.parked[index].changeSet, visit) }
    for index in bundle.conflicts.indices {
      var item = FeedItem.conflict(bundle.conflicts[index])
      walk(&item, visit)
      if case .conflict(let entry) = item { bundle.conflicts[index] = entry }
    }
  }

  private static func walk(_ item: inout FeedItem, _ visit: Visitor) {
    switch item {
    case .record(var record):
      for index in record.fields.indices {
        visit(record.entity, record.fields[index].name, &record.fields[index].value, .value)
      }
      item = .record(record)
    case .conflict(var entry):
      guard let field = entry.field else { return }
      visit(entry.entity, field, &entry.lost.value, .addition)
      if var standing = entry.standing {
        visit(entry.entity, field, &standing.value, .value)
        entry.standing = standing
      }
      item = .conflict(entry)
    case .tombstone, .link: break
    }
  }

  private static func walk(_ set: inout ChangeSet, _ visit: Visitor) {
    for index in set.changes.indices {
      switch set.changes[index] {
      case .create(var create):
        for field in create.fields.indices {
          visit(create.entity, create.fields[field].name, &create.fields[field].value, .value)
        }
        set.changes[index] = .create(create)
      case .update(var update):
        for field in update.writes.indices {
          visit(update.entity, update.writes[field].name, &update.writes[field].value, .value)
          if var replaced = update.writes[field].replaced {
            visit(update.entity, update.writes[field].name, &replaced, .value)
            update.writes[field].replaced = replaced
          }
        }
        for field in update.additions.indices {
          var delta = Value.integer(update.additions[field].delta)
          visit(update.entity, update.additions[field].name, &delta, .addition)
          if case .integer(let number) = delta { update.additions[field].delta = number }
        }
        set.changes[index] = .update(update)
      case .delete, .link: break
      }
    }
  }
}
