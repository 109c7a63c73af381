import Foundation
import Testing
import TomboloCommand

@Suite("Members of relationships at the command line")
struct MemberAssignmentTests {
  private static let schema = """
    {"name":"Notes","version":"1.0.0","entities":[
      {"name":"Note","attributes":[{"name":"text","type":"string","default":""},{"name":"tags+","type":"string","default":""}],
       "relationships":[{"name":"tags","destination":"Tag","toMany":true,"inverse":"notes"},
                        {"name":"labels","destination":"Tag","toMany":true,"inverse":"labelled"},
                        {"name":"folder","destination":"Folder","inverse":"notes"}]},
      {"name":"Tag","attributes":[{"name":"name","type":"string","default":""}],
       "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"tags"},
                        {"name":"labelled","destination":"Note","toMany":true,"inverse":"labels"}],
       "unique":[["name"]]},
      {"name":"Folder","attributes":[{"name":"name","type":"string","default":""}],
       "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"folder"},
                        {"name":"pages","destination":"Page","toMany":true,"inverse":"folder"},
                        {"name":"cover","destination":"Cover","inverse":"folder"}]},
      {"name":"Page","attributes":[],
       "relationships":[{"name":"folder","destination":"Folder","inverse":"pages","optional":false}]},
      {"name":"Cover","attributes":[],
       "relationships":[{"name":"folder","destination":"Folder","inverse":"cover"}]}]}
    """

  private let fixture: CommandFixture
  private let store: String
  private let note: String
  private let tags: [String]

  init() throws {
    let fixture = try CommandFixture()
    let store = fixture.path("notes.store")
    let made = fixture.run("init", store, "--schema", try fixture.write(Self.schema, to: "notes.json"))
    #expect(made.status == 0, "\(made.errors)")
    note = try fixture.add(store, "Note", "text=a")
    tags = try (0..<3).map { try fixture.add(store, "Tag", "name=\($0)") }
    (self.fixture, self.store) = (fixture, store)
  }

  private func members(_ entity: String, _ id: String, _ property: String) -> [String] {
    let json = fixture.run("get", store, entity, id, "--json").output
    guard let start = json.range(of: "\"\(property)\":["), let end = json[start.upperBound...].firstIndex(of: "]")
    else {
      return ["none in \(json)"]
    }
    return json[start.upperBound..<end].split(separator: ",").map { $0.trimmingCharacters(in: ["\""]) }
  }

  @Test("Pairs are added, removed, set and emptied, in the order given, from either side")
  func pairs() throws {
    func set(_ assignments: String...) { #expect(fixture.run(["set", store, "Note", note] + assignments).status == 0) }
    set("labels+=\(tags[2]),\(tags[0])", "text=b")
    #expect(members("Note", note, "labels") == [tags[2], tags[0]])
    #expect(members("Tag", tags[0], "labelled") == [note])
    set("labels+=\(tags[0])", "labels+=\(tags[1])", "labels-=\(tags[2])")
    #expect(members("Note", note, "labels") == [tags[0], tags[1]])
    set("labels=\(tags[1]), \(tags[2])")
    #expect(members("Note", note, "labels") == [tags[1], tags[2]])
    set("labels-=\(tags[0])")
    #expect(members("Note", note, "labels") == [tags[1], tags[2]])
    #expect(fixture.run("set", store, "Tag", tags[0], "labelled+=\(note)").status == 0)
    #expect(members("Note", note, "labels") == [tags[1], tags[2], tags[0]])
    set("labels=")
    #expect(members("Note", note, "labels") == [] && members("Tag", tags[1], "labelled") == [])
    let added = try fixture.add(store, "Note", "tags=\(tags[0]),\(tags[1])")
    #expect(members("Note", added, "tags") == [tags[0], tags[1]])
  }

  @Test("An attribute whose name ends like an act keeps its meaning")
  func attributeNames() throws {
    #expect(fixture.run("set", store, "Note", note, "tags+=x").status == 0)
    #expect(fixture.run("get", store, "Note", note, "--json").output.contains(#""tags+":"x""#))
    #expect(members("Note", note, "tags") == [])
  }

  @Test("A unique value that is there already: the members go to the record that stands")
  func upsert() throws {
    let again = try fixture.add(store, "Tag", "name=1", "labelled+=\(note)")
    #expect(again == tags[1] && members("Note", note, "labels") == [tags[1]])
  }

  @Test("Members whose reference lies at the other side, to-many and one-to-one")
  func references() throws {
    let other = try fixture.add(store, "Note", "text=b")
    let folder = try fixture.add(store, "Folder", "name=f", "notes+=\(note),\(other)")
    #expect(Set(members("Folder", folder, "notes")) == [note, other])
    #expect(fixture.run("set", store, "Folder", folder, "notes-=\(note)").status == 0)
    #expect(fixture.run("get", store, "Note", note, "--json").output.contains(#""folder":null"#))
    #expect(fixture.run("set", store, "Folder", folder, "notes=\(note)").status == 0)
    #expect(members("Folder", folder, "notes") == [note])

    let page = try fixture.add(store, "Page", "folder=\(folder)")
    let refused = fixture.run("set", store, "Folder", folder, "pages-=\(page)", "name=changed")
    #expect(refused.status == 1 && refused.errors.contains("error[required_reference]"))
    #expect(members("Folder", folder, "pages") == [page])
    #expect(fixture.run("get", store, "Folder", folder, "--json").output.contains(#""name":"f""#))
    let second = try fixture.add(store, "Folder", "pages=\(page)")
    #expect(members("Folder", second, "pages") == [page] && members("Folder", folder, "pages") == [])

    let covers = [try fixture.add(store, "Cover", "folder:null"), try fixture.add(store, "Cover", "folder:null")]
    // One of the two sides has the column; both take an assignment.
    #expect(fixture.run("set", store, "Folder", folder, "cover=\(covers[0])").status == 0)
    #expect(fixture.run("set", store, "Cover", covers[1], "folder=\(folder)").status == 0)
    let shown = covers.map { fixture.run("get", store, "Cover", $0, "--json").output }
    #expect(!shown[0].contains(folder) && shown[1].contains(folder), "\(shown)")
    #expect(fixture.run("set", store, "Folder", folder, "cover=\(covers[0]),\(covers[1])").status != 0)
  }

  @Test(
    "What is no list of records is refused, and nothing is changed",
    arguments: [
      ("labels+=", Int32(64)), ("labels+=,", 64), ("labels=0,,1", 64), ("labels+=xyz", 1), ("labels*=x", 1),
    ])
  func refusals(_ assignment: String, _ status: Int32) throws {
    let result = fixture.run("set", store, "Note", note, "text=changed", assignment)
    #expect(result.status == status, "\(result.errors)")
    #expect(!fixture.run("get", store, "Note", note, "--json").output.contains("changed"))
  }

  @Test("The help says how")
  func help() { #expect(fixture.run("set", "--help").output.contains("tags+=ID")) }
}
