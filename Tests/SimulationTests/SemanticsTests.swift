import Testing
import TomboloProtocol
import TomboloSimulation

@Suite("What a schema's pairings come to")
struct SemanticsTests {
  struct Expectation: Sendable, CustomStringConvertible {
    var entity: String
    var pairing: String
    var property: String?
    var sentence: String
    /// Whether the first is told, and by which rule; nil where nobody is.
    var told: (isFirst: Bool, rule: String)?
    var description: String { "\(entity) \(pairing) \(property ?? "")" }

    init(
      _ entity: String, _ pairing: String, of property: String? = nil, _ sentence: String,
      told: (isFirst: Bool, rule: String)? = nil
    ) {
      self.entity = entity
      self.pairing = pairing
      self.property = property
      self.sentence = sentence
      self.told = told
    }
  }

  private static let sample = Result { try SchemaSemantics(of: .simulationSample) }

  private static func row(_ expected: Expectation) throws -> SchemaSemantics.Row {
    let rows = try sample.get().rows.filter { $0.entity == expected.entity && $0.pairing == expected.pairing }
    return try #require(
      rows.first { row in expected.property.map { row.properties.contains($0) } ?? row.properties.isEmpty },
      "\(rows)")
  }

  @Test(
    "Each rule of the merge shows in the pairing that it is for",
    arguments: [
      Expectation("Note", "edit_edit", of: "title", "The later edit stands.", told: (true, "later_edit")),
      Expectation(
        "Note", "edit_edit", of: "highest", "The greater value stands, whoever wrote later.", told: (false, "extremum")),
      Expectation(
        "Note", "edit_edit", of: "lowest", "The smaller value stands, whoever wrote later.", told: (false, "extremum")),
      Expectation("Note", "edit_edit", of: "first", "The first value stands.", told: (false, "first_writer")),
      Expectation("Note", "edit_edit", of: "views", "Both count: what each added is added."),
      Expectation("Note", "edit_other", "Both edits stand."),
      Expectation("Note", "edit_delete", "The record stays deleted.", told: (true, "record_deleted")),
      Expectation("Note", "delete_edit", "The record stays deleted.", told: (false, "record_deleted")),
      Expectation("Item", "edit_delete", "The record stays, with the edit.", told: (false, "edit_wins")),
      Expectation("Note", "delete_delete", "The record is deleted."),
      Expectation("Note", "move_move", of: "folder", "The later move stands.", told: (true, "later_edit")),
      Expectation("Item", "delete_target_add", of: "folder", "Both are deleted.", told: (false, "parent_deleted")),
      Expectation("Note", "delete_target_add", of: "folder", "The Folder is deleted; the Note stays, without one."),
      Expectation(
        "Slot", "add_delete_target", of: "tag", "The deletion is undone: both are there.", told: (false, "deny")),
      Expectation("Note", "link_link", of: "tags", "They are linked, once."),
      Expectation("Note", "unlink_unlink", of: "tags", "They are not linked."),
      Expectation("Note", "link_delete", of: "tags", "The Tag is deleted, and the link with it."),
    ])
  func rules(_ expected: Expectation) throws {
    let row = try Self.row(expected)
    #expect(row.result.sentence == expected.sentence, "\(row)")
    if let told = expected.told {
      #expect(row.result.told.contains { $0.isFirst == told.isFirst && $0.rule == told.rule }, "\(row)")
    } else {
      #expect(row.result.told.isEmpty || row.result.told.allSatisfy { $0.rule == "target_deleted" }, "\(row)")
    }
  }

  @Test("Rules that depend on the order of arrival are told with both outcomes")
  func orders() throws {
    let reject = try Self.row(Expectation("Slot", "same_value_create", of: "code", ""))
    #expect(reject.result.sentence == "Only the first one's record is there; the other's save is refused.", "\(reject)")
    #expect(reject.result.told.map(\.rule) == ["unique_violation"])
    #expect(reject.reversed?.sentence == "Only the second one's record is there; the other's save is refused.")
    let unite = try Self.row(Expectation("Tag", "same_value_create", of: "name", ""))
    #expect(unite.result.sentence == "They become one record, under the first one's identity.", "\(unite)")
    #expect(unite.reversed == nil, "\(unite)")
  }

  @Test("Trees keep no circle, and partners one claimant")
  func graphs() throws {
    let cycle = try Self.row(Expectation("Folder", "move_cycle", of: "parent", ""))
    #expect(cycle.result.sentence.contains("undone"), "\(cycle)")
    #expect(cycle.result.told.contains { $0.rule == "cycle" }, "\(cycle)")
    let claim = try Self.row(Expectation("Badge", "claim_claim", of: "note", ""))
    #expect(claim.result.sentence == "The later claim has it, the earlier one is without.", "\(claim)")
  }

  @Test("An ordered list has rows for moves of its members, deletions, and inserts at one place")
  func ordered() throws {
    let document = try SchemaDocument(
      parsing: Array(
        """
        {"name":"Lists","version":"1.0.0","entities":[
          {"name":"Folder","attributes":[{"name":"name","type":"string"}],
           "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"folder","ordered":true},
            {"name":"drafts","destination":"Draft","toMany":true,"inverse":"folder","ordered":true},
            {"name":"loose","destination":"Note","toMany":true,"inverse":"board"}]},
          {"name":"Note","attributes":[{"name":"title","type":"string"}],
           "relationships":[{"name":"folder","destination":"Folder","inverse":"notes"},
            {"name":"board","destination":"Folder","inverse":"loose"}]},
          {"name":"Draft","concurrentDelete":"editWins","attributes":[{"name":"title","type":"string"}],
           "relationships":[{"name":"folder","destination":"Folder","inverse":"drafts"}]}]}
        """.utf8))
    let rows = try SchemaSemantics(of: document).rows
    func row(_ pairing: String, _ property: String) throws -> SchemaSemantics.Row {
      try #require(
        rows.first { $0.entity == "Folder" && $0.pairing == pairing && $0.properties.contains(property) },
        "\(pairing) \(property)")
    }
    for property in ["notes", "drafts"] {
      let moves = try row("place_place", property)
      #expect(moves.result.sentence == "The later move stands.", "\(moves)")
      #expect(moves.result.told.contains { $0.isFirst && $0.rule == "later_edit" }, "\(moves)")
      #expect(try row("place_other", property).result.sentence == "Both moves stand.")
      let inserts = try row("insert_insert", property)
      #expect(inserts.result.sentence.hasPrefix("All four are there: the "), "\(inserts)")
      #expect(inserts.reversed == nil && inserts.result.told.isEmpty, "\(inserts)")
    }
    for pairing in ["place_delete", "delete_place"] {
      let note = try row(pairing, "notes")
      #expect(note.result.sentence == "The Note stays deleted.", "\(note)")
      #expect(
        note.result.told.contains { $0.isFirst == (pairing == "place_delete") && $0.rule == "record_deleted" },
        "\(note)")
      let draft = try row(pairing, "drafts")
      #expect(draft.result.sentence == "The Draft is back, at its new place.", "\(draft)")
    }
    #expect(!rows.contains { $0.pairing.contains("place") && $0.properties.contains("loose") })
    #expect(!rows.contains { $0.properties.contains { $0.hasPrefix("_tombolo") } }, "\(rows)")
    #expect(!rows.contains { $0.result.sentence.hasPrefix("This cannot be done") }, "\(rows)")
  }

  @Test("Only what the schema can have is there, attributes that behave alike are one row, and each run says the same")
  func shape() throws {
    let semantics = try Self.sample.get()
    let text = try #require(semantics.rows.first { $0.entity == "Note" && $0.properties.contains("body") })
    #expect(text.properties.contains("title") && text.properties.contains("picture"), "\(text)")
    #expect(!semantics.rows.contains { $0.entity == "Account" && $0.pairing.hasPrefix("move") })
    #expect(!semantics.rows.contains { $0.result.sentence.hasPrefix("This cannot be done") }, "\(semantics.rows)")
    #expect(try SchemaSemantics(of: .simulationSample).rows == semantics.rows)
  }

  @Test("A schema that may not sync has no semantics")
  func refused() throws {
    let lonely = SchemaDocument(
      name: "Lonely", version: nil,
      entities: [
        SchemaEntity(name: "A", relationships: [SchemaRelationship(name: "b", destination: "A")])
      ])
    let error = #expect(throws: TomboloError.self) { try SchemaSemantics(of: lonely) }
    #expect(error?.code == .schemaNotSyncable)
  }
}
