package import Foundation
package import TomboloProtocol

/// The order of a fetch in memory: the same as that of its SQL.
///
/// Nil comes first ascending and last descending. Numbers, dates and Booleans (false first) go by value, text by the
/// Unicode scalars of its composed form (as Swift's `<` does), unless a localized order is asked for.
/// Records that are equal in every key go by their own keys, ascending.
package struct RecordOrder<Model> {
  /// - Throws: ``TomboloError`` `unsupported_sort`.
  package init(sortBy: [SortDescriptor<Model>], maps: KeyPathMaps) throws {
    preconditionFailure("not built yet")
  }

  /// Whether `a` comes before `b`; the keys break ties.
  package func precedes(_ a: Model, _ aKey: RecordID, _ b: Model, _ bKey: RecordID) -> Bool {
    preconditionFailure("not built yet")
  }
}
