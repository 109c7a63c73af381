import Foundation
import TomboloProtocol
import TomboloSQLite

/// The errors of compiled predicates.
enum QueryFailure {
  /// A construct that has no SQL.
  static func unsupported(_ construct: String, instead remedy: String) -> TomboloError {
    TomboloError(.unsupportedPredicate, "A predicate of a fetch cannot use \(construct).", remedy: remedy)
  }

  static func unsupportedSort(_ construct: String, instead remedy: String) -> TomboloError {
    TomboloError(.unsupportedSort, "A fetch cannot be sorted by \(construct).", remedy: remedy)
  }

  /// A key path's description without the addresses of accessors.
  static func readable(_ keyPath: String) -> String {
    keyPath.split(separator: " ", omittingEmptySubsequences: false).filter { !$0.hasPrefix("0x") }
      .joined(separator: " ").replacing("<computed (", with: "<a computed property (")
  }

  static func tooComplex(_ what: String) -> TomboloError {
    TomboloError(
      .limitExceeded, "The predicate is too complex: \(what).",
      remedy: "Nest less deeply, compare with a captured list by contains, or split the fetch.")
  }

  /// What SQLite says of a statement that was made of a predicate, in our words; other errors as they are.
  static func translated(_ error: any Error) -> any Error {
    guard let error = error as? SQLiteError else { return error }
    if error.message.contains("parser stack overflow") || error.message.contains("Expression tree is too large") {
      return tooComplex("SQLite cannot nest expressions that deeply")
    }
    if error.message.contains("too many SQL variables") { return tooComplex("it captures too many values") }
    if error.message.contains("string or blob too big") { return tooComplex("its SQL is too long") }
    if let range = error.message.range(of: QueryFunctions.failurePrefix) {
      return TomboloError(
        .predicateFailed, "The predicate failed while it ran: \(error.message[range.upperBound...]).",
        remedy: "Guard the expression so that it is not reached for such records.")
    }
    return error
  }
}
