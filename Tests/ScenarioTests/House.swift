import TomboloProtocol

/// The schema of the scenarios: one entity for each rule.
enum House {
  static func document(version: String = "1.0.0") throws -> SchemaDocument {
    try SchemaDocument(parsing: Array(text.utf8).replacing("1.0.0", with: version))
  }

  private static let text = """
    {"name":"House","version":"1.0.0","entities":[
      {"name":"Folder","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"folder","deleteRule":"cascade"}]},
      {"name":"Note","attributes":[
        {"name":"title","type":"string","optional":true},{"name":"body","type":"string","optional":true},
        {"name":"words","type":"string","optional":true},{"name":"pages","type":"int64","default":1}],
       "relationships":[{"name":"folder","destination":"Folder","inverse":"notes"},
        {"name":"tags","destination":"Tag","toMany":true,"inverse":"notes"}]},
      {"name":"Tag","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"tags"}]},
      {"name":"Person","attributes":[
        {"name":"email","type":"string","optional":true},{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"pets","destination":"Pet","toMany":true,"inverse":"owner"}],
       "unique":[["email"]]},
      {"name":"Pet","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"owner","destination":"Person","inverse":"pets"}]},
      {"name":"Badge","attributes":[
        {"name":"code","type":"string","optional":true},{"name":"holder","type":"string","optional":true}],
       "unique":[{"attributes":["code"],"onConflict":"reject"}]},
      {"name":"Seat","attributes":[
        {"name":"row","type":"int64","optional":true},{"name":"number","type":"int64","optional":true}],
       "unique":[["row","number"]]},
      {"name":"Node","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"parent","destination":"Node","inverse":"children","acyclic":true},
        {"name":"children","destination":"Node","toMany":true,"inverse":"parent","deleteRule":"cascade"}]},
      {"name":"Shelf","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"books","destination":"Book","toMany":true,"inverse":"shelf","deleteRule":"deny"}]},
      {"name":"Book","attributes":[{"name":"title","type":"string","optional":true}],
       "relationships":[{"name":"shelf","destination":"Shelf","inverse":"books"}]},
      {"name":"Draft","concurrentDelete":"editWins","attributes":[
        {"name":"title","type":"string","optional":true},{"name":"text","type":"string","optional":true}]},
      {"name":"Score","attributes":[
        {"name":"count","type":"int64","default":0,"merge":"counter"},
        {"name":"best","type":"int64","optional":true,"merge":"max"}]}]}
    """
}

extension [UInt8] {
  fileprivate func replacing(_ old: String, with new: String) -> [UInt8] {
    Array(
      String(decoding: self, as: UTF8.self).split(separator: old, omittingEmptySubsequences: false).joined(
        separator: new
      ).utf8)
  }
}
