import Foundation
package import TomboloSQLite

extension String {
  /// The text in composed form (NFC, Unicode Standard Annex #15): canonically equal texts have the same bytes then.
  package var composed: String { isPlain ? self : precomposedStringWithCanonicalMapping }

  /// Whether the text is in composed form.
  package var isComposed: Bool { isPlain || precomposedStringWithCanonicalMapping.utf8.elementsEqual(utf8) }

  /// Whether every character is below U+0300, as in most text: such text is composed.
  private var isPlain: Bool { utf8.allSatisfy { $0 < 0xCC } }
}

extension StoreSchema {
  /// The columns that ever held text in another than composed form, each as its table and column.
  package func uncomposedColumns(_ connection: Connection) throws -> Set<[String]> {
    var columns: Set<[String]> = []
    try connection.eachRow("SELECT entity, name FROM _tombolo_column WHERE is_composed = 0") { row in
      if let entity = entity(row.string(0)) { columns.insert([entity.table, row.string(1)]) }
    }
    return columns
  }
}
