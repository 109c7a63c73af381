package import TomboloProtocol

/// What making a loss good came to.
package struct ConflictRestoration: Hashable, Sendable {
  package struct Part: Hashable, Sendable {
    /// Nil for the record as a whole.
    package var property: String?
    package var value: Value
    /// The record that a reference or a pair names and that is not there: why the part could not be restored.
    package var absent: Absent?
  }

  package struct Absent: Hashable, Sendable {
    package var entity: String
    package var id: RecordID
  }

  /// What was done to the record.
  package enum Act: Hashable, Sendable {
    /// A value was written into it again, or a pair linked or parted.
    case written
    /// It has what was lost already: nothing was written.
    case stoodAlready
    /// It was gone, and is back.
    case madeAnew
    /// A deletion of it that had been undone was made again.
    case deleted
    /// The same, and somebody else had deleted it meanwhile.
    case goneAlready
  }

  package var entity: String
  package var record: RecordID
  package var act: Act
  package var restored: [Part] = []
  package var missing: [Part] = []
  /// The entries that are off the list now.
  package var settled: [RecordID] = []
}
