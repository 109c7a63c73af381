import Foundation
import Testing
import TomboloProtocol

/// Feeds the model's change sets to the engine and compares after each one.
struct ModelReplay {
  private(set) var runs = 0
  private(set) var merges = 0
  /// Where the two differ, the first hundred.
  private(set) var differences: [String] = []
  private let rules: MergeRules
  private var reader = MemoryMergeReader()
  private var script = ""
  /// The records as the model last showed them.
  private var expected: [RecordID: MergeRecord] = [:]
  private var backup: (MemoryMergeReader, [RecordID: MergeRecord])?
  private var uploads: UInt64 = 0

  init(rules: MergeRules = MergeRules()) { self.rules = rules }

  private mutating func check(_ holds: Bool, _ what: @autoclosure () -> String, _ place: String) {
    if !holds, differences.count < 100 { differences.append("\(what()): \(place)") }
  }

  mutating func take(_ line: JSONLine) throws {
    switch try line.text("k") {
    case "run": script = "mix \(try line.text("mix")), seed \(try line.number("seed"))"
    case "start":
      reader = MemoryMergeReader()
      expected = [:]
      backup = nil
    case "backup": backup = (reader, expected)
    case "restored":
      (reader, expected) = try #require(backup)
      let epoch = try line.number("epoch")
      reader.beginEpoch(after: Epoch(epoch - 1), head: FeedPosition(try line.number("seq")))
    case "upload": try upload(line)
    case "merge": try merge(line)
    case "collect": collect(try line.list("ids").compactMap { $0 as? String })
    default:
      runs += 1
      try compareAll()
    }
  }

  private mutating func collect(_ ids: [String]) {
    for id in ids.map(ModelForm.id) {
      check(reader.records[id]?.isCollectable(upTo: reader.head) ?? false, "tombstone of \(id)", script)
      reader.records[id] = nil
      expected[id] = nil
    }
  }

  private func context(_ line: JSONLine) throws -> MergeContext {
    var context = MergeContext(
      schema: MergeModelSchema.schema, rules: rules, now: try line.number("T"),
      greatestMilliseconds: reader.greatestMilliseconds, aheadMillisecondsMax: 300)
    context.tracksEpoch = reader.epochBook.former != nil
    return context
  }

  private mutating func upload(_ line: JSONLine) throws {
    uploads += 1
    let replica = ReplicaID(try line.number("rid"))
    var vector: [ReplicaID: SaveNumber] = [:]
    for any in try line.list("vec") {
      let pair = try #require(any as? [NSNumber]).map(\.uint64Value)
      vector[ReplicaID(pair[0])] = SaveNumber(pair[1])
    }
    let entries = try reader.upload(
      try ModelForm.items(line), from: replica, oldPosition: FeedPosition(try line.number("p")), vector: vector,
      name: RecordID(high: uploads, low: replica.rawValue), context: try context(line))
    try compareNews(line, entries, stamp: .zero, "\(script), upload of replica \(replica.rawValue)")
  }

  private mutating func merge(_ line: JSONLine) throws {
    merges += 1
    let changeSet = try ModelForm.changeSet(try JSONLine(line.object["cs"]))
    let replica = ReplicaID(try line.number("rid"))
    let effects = try MergeEngine.merge(
      changeSet, from: replica, at: reader.head.next, into: reader, context: try context(line))
    reader.apply(effects, of: changeSet, from: replica)
    let place: String = "\(script), save \(changeSet.number.rawValue) of replica \(replica.rawValue)"
    try compareAnswer(effects.verdict, line.list("answer"), place)
    for changed in effects.records {
      let record = changed.record
      check(try MergeRecord(decoding: record.encoded()) == record, "payload of \(record.id)", place)
    }
    try compareNews(line, effects.conflicts, stamp: changeSet.stamp, place)
  }

  private mutating func compareNews(
    _ line: JSONLine, _ entries: [ConflictEntry], stamp: Stamp, _ place: String
  ) throws {
    check(reader.head.rawValue == (try line.number("seq")), "head", place)
    for any in try line.list("changed") {
      let record = try ModelForm.record(try JSONLine(any))
      expected[record.id] = record
      compare(reader.records[record.id], record, place)
    }
    for record in reader.records.values where record.position == reader.head {
      if let model = expected[record.id] {
        compare(record, model, place)
      } else {
        check(false, "a record that the model does not have", place)
      }
    }
    try compareLinks(line.list("links"), place)
    try compareLog(entries, line.list("log"), stamp: stamp, place)
    try compareViews(line, place)
    check(reader.checksum == (try wholeChecksum()), "checksum", place)
  }

  private mutating func compareAnswer(_ verdict: PushAnswer.Verdict, _ told: [Any], _ place: String) throws {
    switch (verdict, told.first as? String) {
    case (.accepted(let fell), "ok"):
      let model = Set((told[1] as? [Any] ?? []).compactMap { ($0 as? NSNumber)?.uint32Value })
      check(Set(fell.map(\.change)) == model, "fallen parts", place)
    case (.known(let stamp), "known"): check(stamp == (try ModelForm.stamp(told[1])), "known stamp", place)
    case (.refused, "refused"), (.clockSkew, "skew"), (.gap, "gap"), (.copiedReplica, "clone"): break
    default: check(false, "answers \(verdict), the model \(told)", place)
    }
  }

  private mutating func compare(_ record: MergeRecord?, _ model: MergeRecord, _ place: String) {
    guard var record else {
      check(false, "the record \(model.id) is missing", place)
      return
    }
    var model = model
    let order = { (a: MergeRecord.Incarnation, b: MergeRecord.Incarnation) in (a.id, a.stamp) < (b.id, b.stamp) }
    record.answersTo.sort(by: order)
    model.answersTo.sort(by: order)
    record.fields.sort { $0.name < $1.name }
    model.fields.sort { $0.name < $1.name }
    if record.isLiving { record.deathStamp = .zero }
    // The model tells nobody what a counter or an extreme value lost, so it does not keep who wrote it.
    for index in record.fields.indices {
      record.fields[index].source = nil
      record.fields[index].sourcePosition = nil
      record.fields[index].additions = []
    }
    // Nobody asks where a value was written that nobody wrote; the model keeps the answer of an earlier life.
    for index in record.fields.indices where record.fields[index].stamp.isZero {
      record.fields[index].writePosition = .start
    }
    for index in model.fields.indices where model.fields[index].stamp.isZero {
      model.fields[index].writePosition = .start
    }
    check(record == model, "record \(record) is not \(model)", place)
  }

  private mutating func compareAll() throws {
    check(Set(reader.records.keys) == Set(expected.keys), "the set of records", script)
    for (id, model) in expected { compare(reader.records[id], model, "\(script), at the end") }
  }

  private mutating func compareLinks(_ links: [Any], _ place: String) throws {
    for any in links {
      let parts = try #require(any as? [Any])
      let key = LinkKey(
        relationship: "P.tags", source: try ModelForm.id(parts[0]),
        target: try ModelForm.id(parts[1]))
      let model = MergeLink(
        key: key, isPresent: try #require(parts[2] as? NSNumber).boolValue, stamp: try ModelForm.stamp(parts[3]),
        position: try ModelForm.position(parts[4]))
      check(reader.pairs[key] == model, "link \(model)", place)
    }
  }

  private mutating func compareLog(_ entries: [ConflictEntry], _ log: [Any], stamp: Stamp, _ place: String) throws {
    check(Set(entries.map(\.id)).count == entries.count, "names of entries", place)
    let log = try MergeModelLog(model: log, own: entries, save: stamp, reader: reader)
    check(log.differences.isEmpty, "\(log.differences); all entries \(log.own), the model's \(log.model)", place)
  }

  /// References as readers get them.
  private mutating func compareViews(_ line: JSONLine, _ place: String) throws {
    for (name, any) in try JSONLine(line.object["view"]).object {
      let record = try #require(reader.records[ModelForm.id(name)], "\(place)")
      let item = try MergeEngine.item(for: record, since: .start, reader: reader, schema: MergeModelSchema.schema)
      guard case .record(let state) = item else {
        check(false, "\(name) is not delivered as living", place)
        continue
      }
      check(state.isWhole, "whole", place)
      for (field, any) in try JSONLine(any).object {
        let parts = try #require(any as? [Any])
        let shown = state.fields.first { $0.name == field }
        check(shown?.value == (try ModelForm.value(parts[0], isReference: true)), "shown \(field)", place)
        check(shown?.stamp == (try ModelForm.stamp(parts[1])), "stamp of \(field)", place)
      }
    }
  }

  private mutating func wholeChecksum() throws -> Checksum {
    var sum = Checksum()
    for record in reader.records.values where record.isLiving {
      let item = try MergeEngine.item(for: record, since: .start, reader: reader, schema: MergeModelSchema.schema)
      guard case .record(let state) = item else { continue }
      sum.insert(state)
    }
    for link in reader.pairs.values where link.isPresent {
      let ends = [link.key.source, link.key.target]
      if ends.allSatisfy({ reader.records[$0]?.isLiving ?? false }) { sum.insert(link.key, link.stamp) }
    }
    return sum
  }
}
