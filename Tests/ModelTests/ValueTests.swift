import SwiftData
import Testing

@Suite("Values")
struct ValueTests {
  private func saved(_ edit: (Sample) -> Void) throws -> Sample {
    let container = try makeContainer()
    let context = ModelContext(container)
    let sample = Sample()
    edit(sample)
    context.insert(sample)
    try context.save()
    return try #require(try ModelContext(container).fetch(FetchDescriptor<Sample>()).first)
  }

  @Test("C19: NaN is a typed error at save, and nothing is written", arguments: [true, false])
  func nan(_ isOptional: Bool) throws {
    let context = ModelContext(try makeContainer())
    let sample = Sample()
    if isOptional { sample.optionalDouble = .nan } else { sample.double = .nan }
    context.insert(Folder(name: "beside"))
    context.insert(sample)
    let error = #expect(throws: TomboloError.self) { try context.save() }
    #expect(error?.code == .notANumber)
    #expect(error?.message.contains(isOptional ? "optionalDouble" : "double") == true)
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Folder>()) == 0)
    sample.double = 1
    sample.optionalDouble = 1
    try context.save()
  }

  @Test("C19: infinity survives, and the sign of zero is dropped")
  func infinity() throws {
    let found = try saved {
      $0.double = .infinity
      $0.optionalDouble = -0.0
    }
    #expect(found.double == .infinity)
    #expect(found.optionalDouble?.sign == .plus)
  }

  @Test(
    "C20, C107: a date comes back bit for bit, and a predicate finds it",
    arguments: [
      .distantPast, .distantFuture, Date(timeIntervalSince1970: -0.001),
      Date(timeIntervalSinceReferenceDate: 0.1 + 0.2),
      Date(timeIntervalSince1970: 2_147_483_648), Date(timeIntervalSinceReferenceDate: -63_114_076_800.123),
    ] as [Date])
  func dates(_ date: Date) throws {
    let container = try makeContainer()
    let first = ModelContext(container)
    let sample = Sample()
    sample.date = date
    first.insert(sample)
    try first.save()
    let context = ModelContext(container)
    #expect(try context.fetch(FetchDescriptor<Sample>()).map(\.date) == [date])
    #expect(try context.fetchCount(FetchDescriptor<Sample>(predicate: #Predicate { $0.date == date })) == 1)
    #expect(try context.fetchCount(FetchDescriptor<Sample>(predicate: #Predicate { $0.date < date })) == 0)
  }

  @Test("C87: empty and nil stay apart", arguments: [nil, "", "NULL", "null"] as [String?])
  func emptyText(_ text: String?) throws {
    let found = try saved {
      $0.optionalText = text
      $0.optionalData = text.map { Data($0.utf8) }
    }
    #expect(found.optionalText == text)
    #expect(found.optionalData == text.map { Data($0.utf8) })
    #expect(found.words == [])
  }

  @Test("C88: integers are exact to their limits", arguments: [Int64.min, -1, 9_007_199_254_740_993, Int64.max])
  func integers(_ value: Int64) throws {
    let found = try saved {
      $0.int64 = value
      $0.int8 = .min
      $0.int16 = .max
      $0.int32 = .min
    }
    #expect(found.int64 == value)
    #expect(found.int8 == .min)
    #expect(found.int16 == .max)
    #expect(found.int32 == .min)
  }

  @Test("C88: an unsigned integer above Int64.max is an error at save")
  func unsigned() throws {
    let error = #expect(throws: TomboloError.self) { try saved { $0.unsigned = .max } }
    #expect(error?.code == .integerOutOfRange)
  }

  @Test("C109: observers run with their values, and not inside themselves")
  func observers() {
    let watched = Watched()
    watched.count = 3
    watched.count = 20
    #expect(watched.count == 10)
    #expect(watched.log == ["will 3", "did 0", "will 20", "did 3"])
  }

  @Test("C109: a predicate on a transient property is refused by name")
  func transientPredicate() throws {
    let context = ModelContext(try makeContainer())
    let error = #expect(throws: TomboloError.self) {
      try context.fetch(FetchDescriptor<Sample>(predicate: #Predicate { $0.scratch == 7 }))
    }
    #expect(error?.code == .unsupportedPredicate)
  }

  @Test("A value made by UUID() is the same on every read, and in the store")
  func uuid() throws {
    let sample = Sample()
    let first = sample.identifier
    #expect(sample.identifier == first)
    let found = try saved { $0.text = "x" }
    #expect(found.identifier == found.identifier)
  }

  @Test("A change is observed, from either side of a relationship")
  func observation() throws {
    final class Flag: @unchecked Sendable {
      // Guarded by the test's one thread.
      var isSet = false
    }
    let folder = Folder(name: "a")
    let flag = Flag()
    withObservationTracking {
      _ = folder.notes.count
    } onChange: {
      flag.isSet = true
    }
    let note = Note(text: "n")
    note.folder = folder
    #expect(flag.isSet)
  }
}
