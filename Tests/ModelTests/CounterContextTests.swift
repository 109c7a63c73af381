import Foundation
import SwiftData
import Testing

@Model final class Tally {
  @Attribute(.unique) var name: String
  @Attribute(.merge(.counter)) var count = 0
  var remark = ""
  init(_ name: String) { self.name = name }
}

@Suite("Counters that several contexts add to")
struct CounterContextTests {
  /// Two contexts, each with its object of the one record; on a file, each with a container of its own.
  private func pair(_ url: URL? = nil) throws -> (ModelContext, ModelContext, Tally, Tally) {
    func container() throws -> ModelContainer {
      try ModelContainer(
        for: Tally.self,
        configurations: url.map { ModelConfiguration(url: $0) } ?? ModelConfiguration(isStoredInMemoryOnly: true))
    }
    let first = try container()
    let a = ModelContext(first)
    let b = ModelContext(try url == nil ? first : container())
    a.insert(Tally("t"))
    try a.save()
    return (
      a, b, try #require(try a.fetch(FetchDescriptor<Tally>()).first),
      try #require(try b.fetch(FetchDescriptor<Tally>()).first)
    )
  }

  @Test("Additions made at once all count, and both objects show the sum")
  func atOnce() throws {
    let (a, b, one, two) = try pair()
    one.count += 1
    two.count += 1
    one.remark = "a"
    try a.save()
    try b.save()
    #expect(one.count == 2 && two.count == 2)
    #expect(two.remark == "a")
    two.count += 10
    try b.save()
    #expect(one.count == 12 && two.count == 12)
    #expect(!a.hasChanges && !b.hasChanges)
  }

  @Test("Additions of two processes all count")
  func twoProcesses() throws {
    try StoreFile.run { file in
      let (a, b, one, two) = try pair(file.url)
      for round in 1...3 {
        one.count += 1
        two.count += 2
        try a.save()
        try b.save()
        #expect(two.count == 3 * round)
        #expect(try a.fetch(FetchDescriptor<Tally>()).first?.count == 3 * round)
        #expect(one.count == 3 * round)
      }
    }
  }

  @Test("An edit that saw others' additions come in adds to them what it had added")
  func refreshedBetween() throws {
    let (a, b, one, two) = try pair()
    one.count = 4
    two.count = 1
    try b.save()
    #expect(one.count == 4, "an edit stays what it is until it is saved")
    one.count = 5
    try a.save()
    #expect(one.count == 6 && two.count == 6)
  }

  @Test("A step that does not fit is refused, and the save that follows goes on from what stands")
  func tooLong() throws {
    let (a, _, one, _) = try pair()
    one.count = -2
    try a.save()
    one.count = .max
    let error = #expect(throws: SwiftDataError.self) { try a.save() }
    #expect(error?.code.rawValue == "integer_out_of_range" && error?.message.contains("Tally.count") == true)
    one.count = 5
    try a.save()
    #expect(one.count == 5)
  }

  @Test("A rolled-back addition, and one that was taken back, add nothing")
  func takenBack() throws {
    let (a, b, one, two) = try pair()
    one.count = 9
    a.rollback()
    two.count = 3
    try b.save()
    one.count += 1
    try a.save()
    #expect(one.count == 4)
    one.count += 5
    two.count += 1
    try b.save()
    one.count -= 5
    try a.save()
    #expect(one.count == 5 && two.count == 5)
  }
}
