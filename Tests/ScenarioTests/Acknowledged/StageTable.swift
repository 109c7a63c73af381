import TomboloProtocol

/// The stages of the table, one for each group of rules.
enum StageTable {
  static let all = [folder, owner, shelf, draft, person, badge, driver, node]

  static let folder = Stage(
    name: "cascade, pairs and policies",
    props: [
      .init(name: "F", entity: "Folder", texts: ["name"]), .init(name: "G", entity: "Folder"),
      .init(name: "N", entity: "Note", texts: ["title"], references: ["folder": "F"], numbers: ["pages": 300]),
      .init(name: "M", entity: "Note", references: ["folder": "G"]),
      .init(name: "T", entity: "Tag"), .init(name: "U", entity: "Tag"),
    ],
    pairs: [("Note", "N", "tags", "T")],
    acts: [
      .init("retitles a note") { try $0.sets("Note", "N", "title") },
      .init("retitles it twice") {
        try $0.sets("Note", "N", "title", to: "passing")
        try $0.sets("Note", "N", "title")
      },
      .init("counts") { try $0.adds("Note", "N", "pages") },
      .init("raises") { try $0.sets("Note", "N", "best", to: .integer($0.mark == "a" ? 5 : 7)) },
      .init("raises high") { try $0.sets("Note", "N", "best", to: .integer($0.mark == "a" ? 9 : 8)) },
      .init("lowers") { try $0.sets("Note", "N", "least", to: .integer($0.mark == "a" ? 5 : 7)) },
      .init("lowers deep") { try $0.sets("Note", "N", "least", to: .integer($0.mark == "a" ? 2 : 3)) },
      .init("is first") { try $0.sets("Note", "N", "first") },
      .init("deletes the note") { try $0.deletes("Note", "N") },
      .init("deletes its folder") { try $0.deletes("Folder", "F") },
      .init("deletes the other folder") { try $0.deletes("Folder", "G") },
      .init("deletes its tag") { try $0.deletes("Tag", "T") },
      .init("deletes the other tag") { try $0.deletes("Tag", "U") },
      .init("moves the note") { try $0.moves("Note", "N", "folder", to: "G") },
      .init("takes the note out") { try $0.moves("Note", "N", "folder", to: nil) },
      .init("moves the other in") { try $0.moves("Note", "M", "folder", to: "F") },
      .init("adds a note") {
        try $0.makes("Note", ["folder": Value(reference: try $0.id("F"))], texts: ["title"])
      },
      .init("tags the note") { try $0.links("Note", "N", "tags", to: "U") },
      .init("untags the note") { try $0.parts("Note", "N", "tags", from: "T") },
      .init("renames the folder") { try $0.sets("Folder", "F", "name") },
      .init("makes the note anew") { try $0.remakes("Note", "N", texts: ["title"]) },
      .init("makes a note with tags") {
        try $0.makes("Note", texts: ["title"])
        try $0.links("Note", "new", "tags", to: "T")
        try $0.links("Note", "new", "tags", to: "U")
      },
    ])

  static let owner = Stage(
    name: "nullify, noAction and required",
    props: [
      .init(name: "O", entity: "Owner", texts: ["name"]), .init(name: "P", entity: "Owner"),
      .init(name: "X", entity: "Pet", references: ["owner": "O"]),
      .init(name: "Y", entity: "Trace", references: ["owner": "O"]),
    ],
    pairs: [],
    acts: [
      .init("deletes an owner") { try $0.deletes("Owner", "O") },
      .init("deletes the other") { try $0.deletes("Owner", "P") },
      .init("gives the pet away") { try $0.moves("Pet", "X", "owner", to: "P") },
      .init("frees the pet") { try $0.moves("Pet", "X", "owner", to: nil) },
      .init("deletes the pet") { try $0.deletes("Pet", "X") },
      .init("adds a pet") { try $0.makes("Pet", ["owner": Value(reference: try $0.id("P"))], texts: ["name"]) },
      .init("adds a line") { try $0.makes("Line", ["owner": Value(reference: try $0.id("P"))], texts: ["name"]) },
      .init("moves the trace") { try $0.moves("Trace", "Y", "owner", to: "P") },
      .init("renames the owner") { try $0.sets("Owner", "O", "name") },
      .init("makes the other anew") { try $0.remakes("Owner", "P", texts: ["name"]) },
    ])

  static let shelf = Stage(
    name: "deny",
    props: [
      .init(name: "R", entity: "Room"), .init(name: "S", entity: "Shelf", texts: ["name"], references: ["room": "R"]),
      .init(name: "T", entity: "Shelf", references: ["room": "R"]), .init(name: "U", entity: "Shelf"),
      .init(name: "B", entity: "Book", references: ["shelf": "U"]),
    ],
    pairs: [],
    acts: [
      .init("deletes a shelf") { try $0.deletes("Shelf", "S") },
      .init("deletes the room") { try $0.deletes("Room", "R") },
      .init("adds a book") { try $0.makes("Book", ["shelf": Value(reference: try $0.id("S"))], texts: ["title"]) },
      .init("moves the book") { try $0.moves("Book", "B", "shelf", to: "S") },
      .init("deletes the book") { try $0.deletes("Book", "B") },
      .init("deletes book and shelf") {
        try $0.deletes("Book", "B")
        try $0.deletes("Shelf", "U")
      },
      .init("retitles the book") { try $0.sets("Book", "B", "title") },
      .init("renames the shelf") { try $0.sets("Shelf", "S", "name") },
      .init("makes the shelf anew") { try $0.remakes("Shelf", "S", texts: ["name"]) },
    ])

  static let draft = Stage(
    name: "editWins",
    props: [
      .init(name: "B", entity: "Binder"), .init(name: "C", entity: "Binder"),
      .init(name: "D", entity: "Draft", texts: ["title"], references: ["binder": "B"], numbers: ["hits": 300]),
      .init(name: "L", entity: "Label"), .init(name: "K", entity: "Label"),
      .init(name: "S", entity: "Sheet", texts: ["text"], references: ["draft": "D"]),
    ],
    pairs: [("Draft", "D", "labels", "L")],
    acts: [
      .init("retitles the draft") { try $0.sets("Draft", "D", "title") },
      .init("counts") { try $0.adds("Draft", "D", "hits") },
      .init("labels it") { try $0.links("Draft", "D", "labels", to: "K") },
      .init("takes a label off") { try $0.parts("Draft", "D", "labels", from: "L") },
      .init("deletes the draft") { try $0.deletes("Draft", "D") },
      .init("deletes its binder") { try $0.deletes("Binder", "B") },
      .init("deletes the other binder") { try $0.deletes("Binder", "C") },
      .init("moves the draft") { try $0.moves("Draft", "D", "binder", to: "C") },
      .init("takes the draft out") { try $0.moves("Draft", "D", "binder", to: nil) },
      .init("adds a sheet") { try $0.makes("Sheet", ["draft": Value(reference: try $0.id("D"))], texts: ["text"]) },
      .init("edits the sheet") { try $0.sets("Sheet", "S", "text") },
      .init("deletes the sheet") { try $0.deletes("Sheet", "S") },
      .init("deletes a label") { try $0.deletes("Label", "L") },
      .init("adds a draft") { try $0.makes("Draft", ["binder": Value(reference: try $0.id("B"))], texts: ["title"]) },
      .init("makes the draft anew") { try $0.remakes("Draft", "D", texts: ["title"]) },
    ])

  static let badge = Stage(
    name: "reject",
    props: [
      .init(name: "C", entity: "Badge", texts: ["code"]), .init(name: "D", entity: "Badge"),
    ],
    pairs: [],
    acts: [
      .init("makes a badge") { try $0.makes("Badge", ["code": .text("new \($0.copy)")], texts: ["holder"]) },
      .init("recodes one") { try $0.sets("Badge", "C", "code", to: .text("new \($0.copy)")) },
      .init("recodes the other") { try $0.sets("Badge", "D", "code", to: .text("new \($0.copy)")) },
      .init("deletes one") { try $0.deletes("Badge", "C") },
      .init("deletes the other") { try $0.deletes("Badge", "D") },
      .init("hands one over") { try $0.sets("Badge", "C", "holder") },
      .init("makes one anew") { try $0.remakes("Badge", "C", texts: ["holder"]) },
    ])

  static let driver = Stage(
    name: "one to one",
    props: [
      .init(name: "A", entity: "Car"), .init(name: "B", entity: "Car"),
      .init(name: "D", entity: "Driver"), .init(name: "E", entity: "Driver"),
    ],
    pairs: [],
    acts: [
      .init("gives a car to one") { try $0.moves("Car", "A", "driver", to: "D") },
      .init("gives it to the other") { try $0.moves("Car", "A", "driver", to: "E") },
      .init("gives the second car to one") { try $0.moves("Car", "B", "driver", to: "D") },
      .init("makes a car for one") {
        try $0.makes("Car", ["driver": Value(reference: try $0.id("D"))], texts: ["name"])
      },
      .init("deletes the car") { try $0.deletes("Car", "A") },
      .init("deletes the driver") { try $0.deletes("Driver", "D") },
      .init("renames the driver") { try $0.sets("Driver", "D", "name") },
      .init("makes the driver anew") { try $0.remakes("Driver", "D", texts: ["name"]) },
    ])

  static let node = Stage(
    name: "acyclic tree",
    props: [
      .init(name: "X", entity: "Node"), .init(name: "Y", entity: "Node"),
      .init(name: "Z", entity: "Node", references: ["parent": "X"]),
      .init(name: "W", entity: "Node", references: ["parent": "Y"]),
    ],
    pairs: [],
    acts: [
      .init("puts X under Y") { try $0.moves("Node", "X", "parent", to: "Y") },
      .init("puts Y under X") { try $0.moves("Node", "Y", "parent", to: "X") },
      .init("puts X under W") { try $0.moves("Node", "X", "parent", to: "W") },
      .init("puts Y under Z") { try $0.moves("Node", "Y", "parent", to: "Z") },
      .init("puts Z under Y") { try $0.moves("Node", "Z", "parent", to: "Y") },
      .init("takes Z out") { try $0.moves("Node", "Z", "parent", to: nil) },
      .init("deletes X") { try $0.deletes("Node", "X") },
      .init("deletes Y") { try $0.deletes("Node", "Y") },
      .init("deletes Z") { try $0.deletes("Node", "Z") },
      .init("renames Z") { try $0.sets("Node", "Z", "name") },
      .init("adds below Z") { try $0.makes("Node", ["parent": Value(reference: try $0.id("Z"))], texts: ["name"]) },
      .init("makes X anew") { try $0.remakes("Node", "X", texts: ["name"]) },
    ])
}
