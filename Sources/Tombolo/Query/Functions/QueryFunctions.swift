import Foundation
import TomboloProtocol
package import TomboloSQLite

/// The SQL functions that compiled predicates call. Every connection that runs one has them registered.
package enum QueryFunctions {
  /// Opens the message of every failure that comes from a value, not from a mistake in the statement.
  static let failurePrefix = "tombolo: "

  package static func register(on connection: Connection) throws {
    try registerText(on: connection)
    try registerNumbers(on: connection)
    try registerLists(on: connection)
    try CodableMember.register(on: connection)
    try CodableElement.register(on: connection)
    try SortMember.register(on: connection)
  }

  /// What an SQL function throws; its description becomes SQLite's message.
  struct Failure: Error, CustomStringConvertible {
    let reason: String
    var description: String { QueryFunctions.failurePrefix + reason }
  }
}
