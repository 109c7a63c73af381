import SwiftData
import TomboloClient

// One of several processes on one store, started by ConcurrentProcessTests. Arguments: STORE, then
//   work NUMBER SECONDS URL TOKENFILE [OTHER]   write and read until the time is over; OTHER is a replica of its own to sync
//   sync URL TOKENFILE                          one sync
//   content                                     what is in the store

func container(_ path: String) throws -> ModelContainer {
  try ModelContainer(for: HammerV1.self, configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
}

func synchronizer(_ container: ModelContainer, _ words: ArraySlice<String>) throws -> Synchronizer {
  guard let url = words.first, let file = words.dropFirst().first else { throw CocoaError(.featureUnsupported) }
  return try Synchronizer(container: container, remote: Remote(url: url, tokenFile: URL(fileURLWithPath: file)))
}

func work(_ store: ModelContainer, _ words: ArraySlice<String>) async throws -> HammerReport {
  let words = Array(words)
  guard words.count >= 4, let number = Int(words[0]), let seconds = Double(words[1]) else {
    throw CocoaError(.featureUnsupported)
  }
  let own = try synchronizer(store, words[2...3])
  let other = try words.count > 4 ? container(words[4]) : nil
  let remote = try other.map { try synchronizer($0, words[2...3]) }
  var worker = Worker(number, store)
  var elsewhere = other.map { Worker(4, $0) }
  let end = ContinuousClock.now + .seconds(seconds)
  var turns = 0
  while ContinuousClock.now < end {
    worker.turn()
    turns += 1
    if let remote {
      elsewhere?.turn()
      if turns % 10 == 0 {
        await worker.sync(own)
        await elsewhere?.sync(remote)
      }
    } else if turns % 50 == 0 {
      await worker.sync(own)
    }
  }
  var report = worker.report
  report.faults += elsewhere?.report.faults ?? []
  return report
}

func content(_ container: ModelContainer) throws -> HammerContent {
  let context = ModelContext(container)
  var content = HammerContent()
  for cell in try context.fetch(FetchDescriptor<Cell>()) {
    if content.cells[cell.name] != nil { content.cells["\(cell.name) twice"] = [] }
    content.cells[cell.name] = Cell.columns.map { cell[keyPath: $0] }
  }
  for half in try context.fetch(FetchDescriptor<Half>()) { content.halves[half.owner, default: []].append(half.value) }
  for item in try context.fetch(FetchDescriptor<Item>()) { content.batches[item.batch, default: 0] += 1 }
  var last: DefaultHistoryTransaction?
  for transaction in try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()) {
    let author = transaction.author ?? "none"
    content.transactions[author, default: 0] += 1
    let inserts = transaction.changes.filter {
      if case .insert(_ as DefaultHistoryInsert<Item>) = $0 { true } else { false }
    }
    // One sync brings whole saves, several of them in one transaction.
    let isWhole = author == "sync" ? inserts.count.isMultiple(of: 3) : [0, 3].contains(inserts.count)
    if !isWhole || transaction.changes.isEmpty {
      content.historyFaults.append("\(author) at \(transaction.id): \(transaction.changes.count) changes")
    }
    if let last, last.token >= transaction.token || last.id >= transaction.id {
      content.historyFaults.append("\(author) at \(transaction.id) comes after \(last.id)")
    }
    last = transaction
  }
  return content
}

func write(_ value: some Encodable) throws {
  FileHandle.standardOutput.write(try JSONEncoder().encode(value))
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count > 1 else { exit(64) }
let store = try container(words[0])
switch words[1] {
case "work": try write(await work(store, words[2...]))
case "sync": try await synchronizer(store, words[2...]).sync()
default: try write(content(store))
}
