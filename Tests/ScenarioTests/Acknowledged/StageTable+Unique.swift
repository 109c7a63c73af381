import TomboloProtocol

extension StageTable {
  static let person = Stage(
    name: "unique merge",
    props: [
      .init(name: "P", entity: "Person", texts: ["email", "name"], numbers: ["score": 300]),
      .init(name: "Q", entity: "Person", texts: ["email", "name"], numbers: ["score": 600]),
      .init(name: "X", entity: "Pal", references: ["person": "P"]),
      .init(name: "Y", entity: "Pal", references: ["person": "Q"]),
      .init(name: "K", entity: "Card", references: ["person": "Q"]),
      .init(name: "G", entity: "Group"), .init(name: "H", entity: "Group"),
    ],
    pairs: [("Person", "P", "groups", "G"), ("Person", "Q", "groups", "H")],
    acts: [
      .init("makes a person") {
        try $0.makes(
          "Person", ["email": .text("new \($0.copy)"), "best": .integer($0.mark == "a" ? 5 : 7)],
          texts: ["name", "first"])
        try $0.adds("Person", "new", "score")
        try $0.links("Person", "new", "groups", to: "G")
        try $0.makes("Pal", ["person": Value(reference: try $0.id("new"))], named: "pal")
      },
      .init("gives P that address") { try $0.sets("Person", "P", "email", to: .text("new \($0.copy)")) },
      .init("gives Q that address") { try $0.sets("Person", "Q", "email", to: .text("new \($0.copy)")) },
      .init("gives Q the address of P") {
        try $0.unites("Person", "Q", "email", value: .text("set up P email \($0.copy)"))
      },
      .init("makes a person with P's address") {
        try $0.makesAgain("Person", "email", value: .text("set up P email \($0.copy)"), texts: ["name"])
      },
      .init("deletes P") { try $0.deletes("Person", "P") },
      .init("deletes Q") { try $0.deletes("Person", "Q") },
      .init("renames P") { try $0.sets("Person", "P", "name") },
      .init("renames Q") { try $0.sets("Person", "Q", "name") },
      .init("counts for P") { try $0.adds("Person", "P", "score") },
      .init("counts for Q") { try $0.adds("Person", "Q", "score") },
      .init("scores Q and renames it") {
        try $0.adds("Person", "Q", "score")
        try $0.sets("Person", "Q", "name")
      },
      .init("raises P") { try $0.sets("Person", "P", "best", to: .integer($0.mark == "a" ? 5 : 8)) },
      .init("raises Q") { try $0.sets("Person", "Q", "best", to: .integer($0.mark == "a" ? 9 : 7)) },
      .init("is first for P") { try $0.sets("Person", "P", "first") },
      .init("is first for Q") { try $0.sets("Person", "Q", "first") },
      .init("moves a pal to Q") { try $0.moves("Pal", "X", "person", to: "Q") },
      .init("moves a pal to P") { try $0.moves("Pal", "Y", "person", to: "P") },
      .init("moves the card to P") { try $0.moves("Card", "K", "person", to: "P") },
      .init("adds Q to a group") { try $0.links("Person", "Q", "groups", to: "G") },
      .init("adds P to a group") { try $0.links("Person", "P", "groups", to: "H") },
      .init("takes Q out of a group") { try $0.parts("Person", "Q", "groups", from: "H") },
      .init("takes P out of a group") { try $0.parts("Person", "P", "groups", from: "G") },
      .init("puts P under Q") { try $0.moves("Person", "P", "boss", to: "Q") },
      .init("puts Q under P") { try $0.moves("Person", "Q", "boss", to: "P") },
      .init("deletes a group") { try $0.deletes("Group", "G") },
      .init("makes Q anew") { try $0.remakes("Person", "Q", texts: ["name"]) },
    ])
}
