import TomboloProtocol
import TomboloSQLite

/// Large values of attributes that are declared `.externalStorage`: in a table of their own, `_tombolo_external`, so that neither a
/// fetch nor a change of the rest of the record touches them.
///
/// The rule, for everybody who reads the file: where the record's column is an empty blob and the table has a row for the record
/// and the column, the value is that row's `body`; else it is what the column holds. So another program may write a value
/// of any size into the column. Our own connections move it out, by a trigger of theirs, in the same transaction.
///
/// In a file of its own beside the store a value would be outside of the transaction: a power cut would leave files that
/// nothing names, or names without a file, and a copied store would lack them.
package enum ExternalValues {
  /// A value with more bytes than this lies outside of its row.
  package static let inlineBytesMax = 100_000
  static let table = "_tombolo_external"

  /// SQL for the value of a column in a row: the table's name or alias comes first.
  static func value(of column: String, in row: String) -> String {
    let name = "\(row).\(column.quotedIdentifier)"
    return "iif(length(\(name)) = 0, coalesce((SELECT body FROM \(table) WHERE record = \(row)._tombolo_id "
      + "AND property = \(column.quotedLiteral)), \(name)), \(name))"
  }

  // MARK: What our own triggers do

  static func afterInsert(_ table: String, _ column: String) -> [String] {
    // The update first: it fires the trigger below, which forgets what is outside.
    [empty(table, column), moveOut(column)]
  }

  static func afterUpdate(_ table: String, _ column: String) -> [String] {
    [forget(column, of: "NEW"), moveOut(column), empty(table, column)]
  }

  private static func moveOut(_ column: String) -> String {
    "INSERT INTO \(table)(record, property, body) SELECT NEW._tombolo_id, \(column.quotedLiteral), "
      + "NEW.\(column.quotedIdentifier) WHERE length(NEW.\(column.quotedIdentifier)) > \(inlineBytesMax);"
  }

  private static func empty(_ table: String, _ column: String) -> String {
    "UPDATE \(table.quotedIdentifier) SET \(column.quotedIdentifier) = x'' WHERE _tombolo_id = NEW._tombolo_id "
      + "AND length(NEW.\(column.quotedIdentifier)) > \(inlineBytesMax);"
  }

  static func forget(_ column: String, of row: String) -> String {
    "DELETE FROM \(table) WHERE record = \(row)._tombolo_id AND property = \(column.quotedLiteral);"
  }

  // MARK: What another program's triggers do, after they noted what was there

  /// A row that took another's place has nothing outside.
  static let afterForeignInsert = "DELETE FROM \(table) WHERE record = NEW._tombolo_id;"
  static func afterForeignUpdate(_ column: String) -> String {
    "DELETE FROM \(table) WHERE record = OLD._tombolo_id AND property = \(column.quotedLiteral) "
      + "AND OLD.\(column.quotedIdentifier) IS NOT NEW.\(column.quotedIdentifier);"
  }
  static let afterForeignDelete = "DELETE FROM \(table) WHERE record = OLD._tombolo_id;"
  static let afterForeignRename = "UPDATE \(table) SET record = NEW._tombolo_id WHERE record = OLD._tombolo_id;"
}

extension ColumnPlan {
  /// SQL for the column's value in a row of its table, which may lie outside of it.
  package func value(in row: String) -> String {
    isExternal ? ExternalValues.value(of: column, in: row) : "\(row).\(column.quotedIdentifier)"
  }
}
