import CTomboloSQLite

/// The SQLite library of the whole process.
package enum SQLiteLibrary {
  /// Lets threads allocate side by side: SQLite's count of the memory that it uses takes one lock an allocation
  /// (https://sqlite.org/malloc.html#_memory_statistics).
  ///
  /// For programs, before anything else of SQLite is used; a library does not decide this for its process. Later it
  /// changes nothing.
  package static func prepareForThreads() { _ = tombolo_disable_memory_statistics() }
}
