import SwiftData
import Testing
import TomboloProtocol

@testable import TomboloSimulation

@Model final class SetList {
  var name = ""
  @Relationship(.ordered, deleteRule: .cascade, inverse: \SetListSong.list) var songs: [SetListSong] = []
  init() {}
}

@Model final class SetListSong {
  var name: String
  var list: SetList?
  init(name: String) { self.name = name }
}

@Suite("Simulations of ordered relationships")
struct OrderSimulationTests {
  private static let json = """
    {"name":"Lists","version":"1.0.0","entities":[
      {"name":"Folder","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"folder","ordered":true,"deleteRule":"cascade"},
        {"name":"pins","destination":"Note","toMany":true,"inverse":"board","ordered":true}]},
      {"name":"Note","attributes":[{"name":"title","type":"string","optional":true},{"name":"code","type":"int64","optional":true}],
       "relationships":[{"name":"folder","destination":"Folder","inverse":"notes"},
        {"name":"board","destination":"Folder","inverse":"pins"}]},
      {"name":"Memo","superentity":"Note","attributes":[{"name":"rating","type":"double","optional":true}]}]}
    """

  @Test("Made-up appends, moves and deletions in two ordered lists keep every promise under every fault")
  func madeUp() throws {
    #expect(try Simulation(schema: Self.json).converges(seeds: 25))
  }

  @Test("Lists that people arrange through their models converge, and no song is in one twice") func arranged() throws {
    let simulation = try Simulation(models: SetList.self)
      .operation("arrange", share: 0.6) { save in
        guard let list = try save.pick(SetList.self) else { return save.context.insert(SetList()) }
        if list.songs.count < 2 || save.chance(0.3) {
          list.songs.insert(SetListSong(name: "\(save.number(in: 0...9))"), at: save.number(in: 0...list.songs.count))
        } else {
          let song = list.songs.remove(at: save.number(in: 0...(list.songs.count - 1)))
          list.songs.insert(song, at: save.number(in: 0...list.songs.count))
        }
      }
      .invariant("no song is in a list twice") { view in
        try view.all(SetList.self).allSatisfy { list in
          Set(list.songs.map(\.persistentModelID)).count == list.songs.count
        }
      }
    #expect(try simulation.converges(seeds: 15))
  }

  @Test("A run makes up moves") func moves() throws {
    var configuration = SimulationConfiguration()
    configuration.keepsTrace = true
    let lines = try (1...5).flatMap {
      try Simulation(schema: Self.json, configuration: configuration).run(seed: $0).trace.lines
    }
    #expect(lines.contains { $0.contains(ResolvedOrder.prefix) })
  }
}
