/// The merge of one field: what stands of two versions, in any order of arrival.
///
/// - `lastWriter`: the greater stamp, also where the values are equal.
/// - `max`, `min`: the greater or the smaller value, with the greater of the two stamps.
/// - `firstWriter`: the smallest stamp above zero.
/// - `counter`: never comes here; its deltas are added, each once.
package enum FieldMerge {
  package typealias Version = ConflictEntry.FieldVersion

  package static func fold(
    _ policy: MergePolicy, of type: AttributeType?, _ current: Version, _ new: Version, rules: MergeRules = MergeRules()
  ) -> Version {
    switch policy {
    case .lastWriter, .counter:
      guard isGreater(new.stamp, than: current.stamp, rules) else { return current }
      return rules.equalValuesTakeGreater || new.value != current.value ? new : current
    case .firstWriter:
      if let only = assigned(current, new, rules) { return only }
      return new.stamp < current.stamp ? new : current
    case .max, .min:
      if let only = assigned(current, new, rules) { return only }
      let newIsGreater = isLess(current.value, new.value, of: type)
      let takesNew =
        policy == .max
        ? newIsGreater
        : current.value.isNull || !new.value.isNull && isLess(new.value, current.value, of: type)
      return Version(
        value: takesNew ? new.value : current.value, stamp: Swift.max(current.stamp, new.stamp))
    }
  }

  /// The version that stands because nobody assigned the other; nil if both count.
  private static func assigned(_ current: Version, _ new: Version, _ rules: MergeRules) -> Version? {
    guard rules.unassignedIsAbsent else { return nil }
    if current.stamp == .zero { return new }
    return new.stamp == .zero ? current : nil
  }

  private static func isGreater(_ a: Stamp, than b: Stamp, _ rules: MergeRules) -> Bool {
    rules.tieBreakByReplica ? a > b : a.clock != b.clock ? a.clock > b.clock : a != b
  }

  /// The order of values within one attribute; null is below everything.
  package static func isLess(_ a: Value, _ b: Value, of type: AttributeType?) -> Bool {
    switch (a, b) {
    case (_, .null): return false
    case (.null, _): return true
    case (.integer(let x), .integer(let y)): return x < y
    case (.real(let x), .real(let y)): return x < y
    case (.text(let x), .text(let y)):
      return type == .decimal ? DecimalForm.compare(x, y) < 0 : x.utf8.lexicographicallyPrecedes(y.utf8)
    case (.blob(let x), .blob(let y)): return x.lexicographicallyPrecedes(y)
    default: return classRank(a) < classRank(b)
    }
  }

  private static func classRank(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .integer: 1
    case .real: 2
    case .text: 3
    case .blob: 4
    }
  }
}
