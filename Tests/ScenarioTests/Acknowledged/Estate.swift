import TomboloProtocol

/// The schema of the table of acts: each merge policy and each integrity rule, with something that hangs on it.
enum Estate {
  static func document() throws -> SchemaDocument { try SchemaDocument(parsing: Array(text.utf8)) }

  private static let text = """
    {"name":"Estate","version":"1.0.0","entities":[
      {"name":"Folder","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"folder","deleteRule":"cascade"}]},
      {"name":"Note","attributes":[
        {"name":"title","type":"string","optional":true},{"name":"pages","type":"int64","default":0,"merge":"counter"},
        {"name":"best","type":"int64","optional":true,"merge":"max"},
        {"name":"least","type":"int64","optional":true,"merge":"min"},
        {"name":"first","type":"string","optional":true,"merge":"firstWriter"}],
       "relationships":[{"name":"folder","destination":"Folder","inverse":"notes"},
        {"name":"tags","destination":"Tag","toMany":true,"inverse":"notes"}]},
      {"name":"Tag","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"notes","destination":"Note","toMany":true,"inverse":"tags"}]},
      {"name":"Owner","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"pets","destination":"Pet","toMany":true,"inverse":"owner"},
        {"name":"traces","destination":"Trace","toMany":true,"inverse":"owner","deleteRule":"noAction"},
        {"name":"lines","destination":"Line","toMany":true,"inverse":"owner"}]},
      {"name":"Pet","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"owner","destination":"Owner","inverse":"pets"}]},
      {"name":"Trace","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"owner","destination":"Owner","inverse":"traces"}]},
      {"name":"Line","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"owner","destination":"Owner","optional":false,"inverse":"lines"}]},
      {"name":"Room","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"shelves","destination":"Shelf","toMany":true,"inverse":"room","deleteRule":"cascade"}]},
      {"name":"Shelf","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"room","destination":"Room","inverse":"shelves"},
        {"name":"books","destination":"Book","toMany":true,"inverse":"shelf","deleteRule":"deny"}]},
      {"name":"Book","attributes":[{"name":"title","type":"string","optional":true}],
       "relationships":[{"name":"shelf","destination":"Shelf","inverse":"books"}]},
      {"name":"Binder","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"drafts","destination":"Draft","toMany":true,"inverse":"binder","deleteRule":"cascade"}]},
      {"name":"Draft","concurrentDelete":"editWins","attributes":[
        {"name":"title","type":"string","optional":true},{"name":"hits","type":"int64","default":0,"merge":"counter"}],
       "relationships":[{"name":"binder","destination":"Binder","inverse":"drafts"},
        {"name":"labels","destination":"Label","toMany":true,"inverse":"drafts"},
        {"name":"sheets","destination":"Sheet","toMany":true,"inverse":"draft","deleteRule":"cascade"}]},
      {"name":"Label","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"drafts","destination":"Draft","toMany":true,"inverse":"labels"}]},
      {"name":"Sheet","attributes":[{"name":"text","type":"string","optional":true}],
       "relationships":[{"name":"draft","destination":"Draft","inverse":"sheets"}]},
      {"name":"Person","attributes":[
        {"name":"email","type":"string","optional":true},{"name":"name","type":"string","optional":true},
        {"name":"score","type":"int64","default":0,"merge":"counter"},
        {"name":"best","type":"int64","optional":true,"merge":"max"},
        {"name":"first","type":"string","optional":true,"merge":"firstWriter"}],
       "relationships":[{"name":"boss","destination":"Person","inverse":"reports","acyclic":true},
        {"name":"reports","destination":"Person","toMany":true,"inverse":"boss"},
        {"name":"pals","destination":"Pal","toMany":true,"inverse":"person"},
        {"name":"cards","destination":"Card","toMany":true,"inverse":"person","deleteRule":"cascade"},
        {"name":"groups","destination":"Group","toMany":true,"inverse":"people"}],
       "unique":[["email"]]},
      {"name":"Pal","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"person","destination":"Person","inverse":"pals"}]},
      {"name":"Card","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"person","destination":"Person","inverse":"cards"}]},
      {"name":"Group","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"people","destination":"Person","toMany":true,"inverse":"groups"}]},
      {"name":"Badge","attributes":[
        {"name":"code","type":"string","optional":true},{"name":"holder","type":"string","optional":true}],
       "unique":[{"attributes":["code"],"onConflict":"reject"}]},
      {"name":"Car","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"driver","destination":"Driver","inverse":"car"}]},
      {"name":"Driver","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"car","destination":"Car","inverse":"driver"}]},
      {"name":"Node","attributes":[{"name":"name","type":"string","optional":true}],
       "relationships":[{"name":"parent","destination":"Node","inverse":"children","acyclic":true},
        {"name":"children","destination":"Node","toMany":true,"inverse":"parent","deleteRule":"cascade"}]}]}
    """
}
