package import TomboloSQLite

/// The SQL functions that compiled predicates call. Every connection that runs one has them registered.
package enum QueryFunctions {
  package static func register(on connection: Connection) throws {}
}
