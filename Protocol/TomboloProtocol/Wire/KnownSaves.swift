/// `POST …/changes/known`: which of these saves the server has taken.
package struct KnownRequest: Hashable, Sendable {
  package var introduction: Introduction
  package var saves: [SaveID]
  package init(introduction: Introduction, saves: [SaveID]) {
    self.introduction = introduction
    self.saves = saves
  }
}

/// Those of the saves asked for that were taken, in the order of the request, with the stamps they were taken under.
package struct KnownResponse: Hashable, Sendable {
  package var saves: [Known]

  package struct Known: Hashable, Sendable {
    package var save: SaveID
    package var stamp: Stamp
    package init(save: SaveID, stamp: Stamp) {
      self.save = save
      self.stamp = stamp
    }
  }

  package init(saves: [Known]) { self.saves = saves }
}

extension KnownRequest: WireMessage {
  package static var kind: MessageKind { .knownRequest }

  package func write(to writer: inout MessageWriter) {
    writer.field(10)
    writer.introduction(introduction)
    writer.field(11)
    writer.body.array(count: saves.count)
    for save in saves { writer.body.bytes(save.bytes) }
  }

  package init(from reader: inout MessageReader) throws {
    var introduction: Introduction?
    var saves: [SaveID]?
    try reader.fields { reader, key in
      switch key {
      case 10: introduction = try reader.introduction()
      case 11: saves = try reader.list { try $0.save() }
      default: return false
      }
      return true
    }
    guard let introduction, let saves else { throw reader.missing("the introduction or the saves") }
    self.init(introduction: introduction, saves: saves)
  }
}

extension KnownResponse: WireMessage {
  package static var kind: MessageKind { .knownResponse }

  package func write(to writer: inout MessageWriter) {
    writer.field(10)
    writer.body.array(count: saves.count)
    for known in saves {
      writer.body.array(count: 2)
      writer.body.bytes(known.save.bytes)
      writer.stamp(known.stamp, suggested: .zero)
    }
  }

  package init(from reader: inout MessageReader) throws {
    var saves: [Known]?
    try reader.fields { reader, key in
      guard key == 10 else { return false }
      saves = try reader.list { reader in
        try reader.tuple(2) { reader, _ in
          let save = try reader.save()
          return (Known(save: save, stamp: try reader.stamp(suggested: .zero)), 2)
        }
      }
      return true
    }
    guard let saves else { throw reader.missing("the saves") }
    self.init(saves: saves)
  }
}
