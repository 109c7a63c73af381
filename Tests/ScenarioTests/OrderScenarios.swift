import Testing
import Tombolo
import TomboloProtocol
import TomboloSQLite
import TomboloSimulation

@Suite("Scenarios: ordered relationships")
struct OrderScenarios {
  private static let document = """
    {"name":"Lists","version":"1.0.0","entities":[
      {"name":"Folder","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"folder","ordered":true}]},
      {"name":"Note","attributes":[{"name":"title","type":"string","optional":true}],
       "relationships":[{"name":"folder","destination":"Folder","inverse":"notes"}]}]}
    """

  private final class Setting {
    let world: World
    let replicas: [Replica]
    let folder: RecordID

    /// Replicas that all have one folder with notes of these titles, in order.
    init(_ names: [String], _ titles: [String]) throws {
      world = try World(document: SchemaDocument(parsing: Array(OrderScenarios.document.utf8)))
      replicas = try names.map { [world] in try world.replica($0) }
      folder = try replicas[0].inserts("Folder", ["name": "F"])
      for title in titles {
        try replicas[0].inserts("Note", ["title": .text(title), "folder": Value(reference: folder)])
      }
      try world.settles()
    }

    /// The order that everybody ends with.
    func result() throws -> [String] {
      try world.expectAllEqual()
      let lists = try replicas.map { try $0.titles(of: folder) }
      #expect(Set(lists).count == 1)
      return lists[0]
    }
  }

  @Test("52: both move, each another member: both moves stand", arguments: [false, true])
  func bothMove(isSecondFirst: Bool) throws {
    let setting = try Setting(["a", "b"], ["1", "2", "3", "4", "5"])
    let (a, b) = (setting.replicas[0], setting.replicas[1])
    try a.arranges(["5", "1", "2", "3", "4"], in: setting.folder)
    try b.arranges(["2", "1", "3", "4", "5"], in: setting.folder)
    for replica in isSecondFirst ? [b, a] : [a, b] { try replica.pushes() }
    let result = try setting.result()
    #expect(result.filter { $0 != "5" } == ["2", "1", "3", "4"])
    #expect(result.filter { $0 != "2" } == ["5", "1", "3", "4"])
    #expect(try a.conflicts.isEmpty && b.conflicts.isEmpty)
  }

  @Test("53: both insert at one place: blocks lie side by side", arguments: [false, true], [false, true])
  func bothInsert(isSecondFirst: Bool, isThreeReplicas: Bool) throws {
    let setting = try Setting(isThreeReplicas ? ["a", "b", "c"] : ["a", "b"], ["1", "2"])
    for replica in setting.replicas {
      for number in 1...3 {
        let title = "\(replica.name)\(number)"
        try replica.inserts("Note", ["title": .text(title), "folder": Value(reference: setting.folder)])
        let block = (1...number).map { "\(replica.name)\($0)" }
        try replica.arranges(["1"] + block + ["2"], in: setting.folder)
      }
    }
    for replica in isSecondFirst ? setting.replicas.reversed() : setting.replicas { try replica.pushes() }
    let result = try setting.result()
    #expect(result.first == "1" && result.last == "2")
    for replica in setting.replicas {
      let place = try #require(result.firstIndex(of: "\(replica.name)1"))
      #expect(result[place...].prefix(3).elementsEqual((1...3).map { "\(replica.name)\($0)" }), "\(result)")
    }
  }

  @Test("53: both append: blocks lie side by side behind what was there") func bothAppend() throws {
    let setting = try Setting(["a", "b"], ["1"])
    for number in 1...4 {
      for replica in setting.replicas {
        try replica.inserts(
          "Note", ["title": .text("\(replica.name)\(number)"), "folder": Value(reference: setting.folder)])
      }
    }
    let result = try setting.result()
    #expect(result == ["1", "a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4"])
  }

  @Test(
    "52: two move one member to two places: the later move stands, the other is told in a sentence, and can be restored"
  )
  func oneMemberTwoPlaces() throws {
    let setting = try Setting(["a", "b"], ["1", "2", "3", "4"])
    let (a, b) = (setting.replicas[0], setting.replicas[1])
    try a.arranges(["4", "1", "2", "3"], in: setting.folder)
    setting.world.passes(milliseconds: 1_000)
    try b.arranges(["1", "4", "2", "3"], in: setting.folder)
    #expect(try setting.result() == ["1", "4", "2", "3"])
    let entry = try #require(try a.conflicts.first)
    #expect(try a.conflicts.count == 1 && b.conflicts.isEmpty)
    #expect(entry.rule == .laterEdit)
    try a.store.restoreConflict(entry.id)
    #expect(try setting.result() == ["4", "1", "2", "3"])
    #expect(try a.conflicts.isEmpty)
  }

  @Test(
    "52: a move and a deletion of the same member: the deletion stands and the place is told", arguments: [false, true])
  func moveAndDeletion(isDeletionFirst: Bool) throws {
    let setting = try Setting(["a", "b"], ["1", "2", "3"])
    let (a, b) = (setting.replicas[0], setting.replicas[1])
    let last = try #require(try a.ids("Note").first { try a.value("Note", $0, "title") == "3" })
    try a.arranges(["3", "1", "2"], in: setting.folder)
    try b.deletes("Note", last)
    for replica in isDeletionFirst ? [b, a] : [a, b] { try replica.pushes() }
    #expect(try setting.result() == ["1", "2"])
    #expect(try a.conflicts.map(\.rule) == [.recordDeleted])
  }

  @Test("52: a move to another owner and a reorder: both lists are whole, each member once")
  func otherOwner() throws {
    let setting = try Setting(["a", "b", "c"], ["1", "2", "3"])
    let (a, b) = (setting.replicas[0], setting.replicas[1])
    let other = try a.inserts("Folder", ["name": "G"])
    try a.inserts("Note", ["title": "g", "folder": Value(reference: other)])
    try setting.world.settles()
    let moved = try #require(try a.ids("Note").first { try a.value("Note", $0, "title") == "2" })
    try a.sets("Note", moved, "folder", to: Value(reference: other))
    #expect(try a.titles(of: other) == ["g", "2"])
    try b.arranges(["2", "3", "1"], in: setting.folder)
    let result = try setting.result()
    #expect(result == ["3", "1"])
    for replica in setting.replicas { #expect(Set(try replica.titles(of: other)) == ["g", "2"]) }
    #expect(Set(try setting.replicas.map { try $0.titles(of: other) }).count == 1)
  }

  @Test("52: the owner is deleted while its members are arranged: the members stay, without owner")
  func ownerDeleted() throws {
    let setting = try Setting(["a", "b"], ["1", "2", "3"])
    let (a, b) = (setting.replicas[0], setting.replicas[1])
    try a.deletes("Folder", setting.folder)
    try b.arranges(["3", "2", "1"], in: setting.folder)
    #expect(try setting.result() == [])
    #expect(try a.count("Note") == 3 && b.count("Note") == 3)
  }

  @Test(
    "52: a file that was copied makes equal positions: everybody has one order, and the next arrangement parts them")
  func copiedReplica() throws {
    let setting = try Setting(["a", "b"], ["1"])
    let (a, b) = (setting.replicas[0], setting.replicas[1])
    try b.takesFile(of: a)
    for replica in [a, b] {
      try replica.inserts("Note", ["title": .text(replica.name), "folder": Value(reference: setting.folder)])
    }
    let result = try setting.result()
    #expect(result.first == "1" && Set(result) == ["1", "a", "b"])
    try a.arranges(["b", "a", "1"], in: setting.folder)
    #expect(try setting.result() == ["b", "a", "1"])
  }

  @Test("52: three replicas arrange at random, again and again: one order, nothing lost", arguments: 0..<8)
  func random(seed: UInt64) throws {
    var titles = (0..<8).map { "\($0)" }
    let setting = try Setting(["a", "b", "c"], titles)
    var generator = SeededGenerator(seed: seed)
    for round in 0..<4 {
      for replica in setting.replicas {
        for step in 0..<3 {
          var list = try replica.titles(of: setting.folder)
          if generator.chance(0.3) {
            let title = "\(replica.name)\(round)\(step)"
            try replica.inserts("Note", ["title": .text(title), "folder": Value(reference: setting.folder)])
            titles.append(title)
            list.append(title)
          }
          list.insert(list.remove(at: generator.below(list.count)), at: generator.below(list.count))
          try replica.arranges(list, in: setting.folder)
          #expect(try replica.titles(of: setting.folder) == list)
        }
        if generator.chance(0.5) { try replica.syncs() }
      }
    }
    #expect(Set(try setting.result()) == Set(titles))
  }

  @Test(
    "70: a list that becomes ordered in a new version: older members come first, and older replicas lose no position")
  func becomesOrdered() throws {
    let text = Self.document
    let old = try SchemaDocument(parsing: Array(text.replacing(",\"ordered\":true", with: "").utf8))
    let new = try SchemaDocument(parsing: Array(text.replacing("1.0.0", with: "1.1.0").utf8))
    let world = try World(document: old)
    let (a, b) = (try world.replica("a"), try world.replica("b"))
    let folder = try a.inserts("Folder", [:])
    for title in ["1", "2"] { try a.inserts("Note", ["title": .text(title), "folder": Value(reference: folder)]) }
    try world.settles()
    try a.opens(with: new)
    try a.inserts("Note", ["title": "3", "folder": Value(reference: folder)])
    #expect(try a.titles(of: folder) == ["1", "2", "3"])
    try a.arranges(["3", "1", "2"], in: folder)
    try world.settles()
    try b.inserts("Note", ["title": "4", "folder": Value(reference: folder)])
    let third = try #require(try b.ids("Note").first { try b.value("Note", $0, "title") == "3" })
    try b.sets("Note", third, "title", to: "three")
    try world.settles()
    try b.opens(with: new)
    try world.expectAllEqual()
    for replica in [a, b] { #expect(try replica.titles(of: folder) == ["4", "three", "1", "2"]) }
  }
}

extension Replica {
  private func list() throws -> (note: EntityPlan, side: FarSidePlan) {
    let folder = try #require(store.schema.entity("Folder"))
    return (
      try #require(store.schema.entity("Note")), try #require(folder.farSides.first { $0.property == "notes" })
    )
  }

  /// The notes' titles, in the order in which a reader sees them.
  func titles(of folder: RecordID) throws -> [String] {
    let (_, side) = try list()
    return try store.read { connection in
      var titles: [String] = []
      try connection.eachRow(
        "SELECT title FROM Note AS t0 WHERE folder = ?1 ORDER BY \(side.order(in: "t0"))",
        { $0.bind(folder, at: 1) }
      ) { titles.append($0.string(0)) }
      return titles
    }
  }

  /// Puts the notes into the order of their titles, in one save.
  func arranges(_ titles: [String], in folder: RecordID) throws {
    let (_, side) = try list()
    var ids: [String: RecordID] = [:]
    for id in try self.ids("Note") {
      guard try value("Note", id, "folder") == Value(reference: folder) else { continue }
      if case .text(let title)? = try value("Note", id, "title") { ids[title] = id }
    }
    let members = titles.compactMap { ids[$0] }
    try store.save { try $0.arrange(members, in: side, of: folder) }
  }
}
