import SwiftData
import TomboloClient

/// One of the processes that write to a store at once, and what it looks at meanwhile.
struct Worker {
  private static let names = (0..<6).map { "cell \($0)" }

  let number: Int
  private let container: ModelContainer
  private let context: ModelContext
  private(set) var report = HammerReport()
  private var next = 1

  init(_ number: Int, _ container: ModelContainer) {
    self.number = number
    self.container = container
    context = ModelContext(container)
  }

  mutating func turn() {
    do {
      next += 1
      switch Int.random(in: 0..<7) {
      case 0, 1: try changeCell()
      case 2: try upsertCell()
      case 3: try changeHalves()
      case 4: try addBatch()
      case 5: try removeBatch()
      default: try look(ModelContext(container))
      }
      try look(context)
    } catch {
      note(error)
      context.rollback()
    }
  }

  /// - Parameter synchronizer: of the store, or of another replica.
  mutating func sync(_ synchronizer: Synchronizer) async {
    do {
      let outcome = try await synchronizer.sync()
      report.syncs += 1
      if outcome.parked > 0 { report.faults.append("\(outcome.parked) saves were refused") }
    } catch let error as TomboloError where error.code.rawValue == "sync_under_way" {
      report.syncsUnderWay += 1
    } catch {
      note(error)
    }
  }

  mutating func note(_ error: any Error) { report.faults.append("worker \(number): \(error)") }

  private mutating func save() throws {
    context.author = "worker \(number)"
    try context.save()
    report.saves += 1
  }

  private mutating func changeCell() throws {
    guard let name = Self.names.randomElement() else { return }
    let found = try context.fetch(FetchDescriptor<Cell>(predicate: #Predicate { $0.name == name }))
    guard let cell = found.first else { return }
    cell[keyPath: Cell.columns[number]] = next
    try save()
    report.cells[name] = next
  }

  /// An insert with a name that is there, or that another process is about to insert, writes what it assigns.
  private mutating func upsertCell() throws {
    guard let name = Self.names.randomElement() else { return }
    let cell = Cell(name: name)
    cell[keyPath: Cell.columns[number]] = next
    context.insert(cell)
    try save()
    report.cells[name] = next
  }

  private mutating func changeHalves() throws {
    let owner = number
    let halves = try context.fetch(FetchDescriptor<Half>(predicate: #Predicate { $0.owner == owner }))
    for _ in halves.count..<max(2, halves.count) {
      let half = Half(owner: owner)
      half.value = next
      context.insert(half)
    }
    for half in halves { half.value = next }
    try save()
    report.half = next
  }

  private mutating func addBatch() throws {
    guard report.batches.count < 20 else { return }
    let batch = "\(number) \(next)"
    context.author = "batches of \(number)"
    try context.transaction {
      for position in 0..<3 { context.insert(Item(batch: batch, position: position)) }
    }
    report.batches.append(batch)
    report.batchSaves += 1
  }

  private mutating func removeBatch() throws {
    guard let batch = report.batches.first else { return }
    for item in try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.batch == batch })) {
      context.delete(item)
    }
    context.author = "batches of \(number)"
    try context.save()
    report.batches.removeFirst()
    report.batchSaves += 1
  }

  /// Each fetch sees whole saves: both halves alike, every batch complete.
  private mutating func look(_ context: ModelContext) throws {
    report.reads += 1
    let halves = Dictionary(grouping: try context.fetch(FetchDescriptor<Half>()), by: \.owner)
    for (owner, pair) in halves where pair.count != 2 || pair[0].value != pair[1].value {
      report.faults.append("worker \(number) saw the halves \(pair.map(\.value)) of \(owner)")
    }
    let batches = Dictionary(grouping: try context.fetch(FetchDescriptor<Item>()), by: \.batch)
    for (batch, items) in batches where items.count != 3 {
      report.faults.append("worker \(number) saw \(items.count) items of \(batch)")
    }
  }
}
