import Foundation
import Testing
import TomboloProtocol
import TomboloSQLite

@testable import Tombolo

/// What cannot be SQL is refused by name; what fails while it runs is a thrown error.
@Suite struct RefusalTests {
  private func refusal(_ predicate: Predicate<Item>, _ sourceLocation: SourceLocation = #_sourceLocation) throws
    -> TomboloError?
  {
    let store = try TestStore.filled(composedOnly: true)
    do {
      let plan = try store.plan("Item", predicate)
      _ = try store.keys(plan)
      return nil
    } catch let error as TomboloError {
      return error
    }
  }

  @Test("A construct without SQL throws unsupported_predicate and says what to write instead")
  func unsupported() throws {
    let regex = /a.c/
    let predicates: [Predicate<Item>] = [
      #Predicate { $0.computed == 3 },
      #Predicate { $0.name.contains(regex) },
      #Predicate { $0.tags[0].name == "a" },
      #Predicate { $0.name.first != nil },
      #Predicate { $0.folder!.name == "a" },
      #Predicate { $0.link?.lastPathComponent == "3" },
    ]
    for predicate in predicates {
      let error = try #require(try refusal(predicate))
      #expect(error.code == .unsupportedPredicate)
      #expect(!error.remedy.isEmpty)
    }
  }

  @Test("A forced unwrap of nil, an overflow and a division by zero fail the fetch")
  func failures() throws {
    let zero = 0
    let predicates: [Predicate<Item>] = [
      #Predicate { $0.optionalCount! > 3 },
      #Predicate { $0.count + 1 > 3 },
      #Predicate { $0.count - 2 > 3 },
      #Predicate { $0.count * 2 > 3 },
      #Predicate { -$0.count > 3 },
      #Predicate { $0.small + 100 > 3 },
      #Predicate { 1 / $0.count == 1 },
      #Predicate { $0.count % zero == 1 },
    ]
    for predicate in predicates {
      let error = try #require(try refusal(predicate))
      #expect(error.code == .predicateFailed)
      #expect(!error.message.contains("SQLite"))
    }
  }

  @Test("A predicate beyond SQLite's depth is a clear error")
  func depth() throws {
    var predicate = #Predicate<Item> { $0.count == 1 }
    for number in 0..<120 {
      let other = #Predicate<Item> { $0.count == number }
      predicate = number % 2 == 0 ? Predicates.all([other, predicate]) : Predicates.any([other, predicate])
    }
    let error = try #require(try refusal(predicate))
    #expect(error.code == .limitExceeded)
  }

  @Test("A thousand negations are one or none")
  func negations() throws {
    let store = try TestStore.filled(composedOnly: true)
    var negated: any StandardPredicateExpression<Bool> = PredicateExpressions.Value(false)
    for _ in 0..<301 { negated = Self.negation(of: negated) }
    let expression = negated
    let predicate = Predicate<Item> { _ in expression }
    #expect(try store.keys(store.plan("Item", predicate)).count == store.items.count)
  }

  private static func negation<Inner: StandardPredicateExpression<Bool>>(
    of inner: Inner
  ) -> any StandardPredicateExpression<Bool> {
    PredicateExpressions.Negation(inner)
  }

  @Test(
    "Lists of any length stay below the limit on parameters", arguments: [0, 1, 40, 41, 999, 1_000, 32_766, 40_000])
  func longLists(count: Int) throws {
    let store = try TestStore.filled(composedOnly: true)
    store.connection.limit(9, to: 999)
    let integers = Array(0..<count)
    let keys = store.items.prefix(count).map(\.modelID) + (0..<count).map { TestID(RecordID(high: 1, low: UInt64($0))) }
    let found = try store.keys(store.plan("Item", #Predicate<Item> { keys.contains($0.modelID) }))
    #expect(found.count == min(count, store.items.count))
    let plan = try store.plan("Item", #Predicate<Item> { !integers.contains($0.count) })
    #expect(plan.arguments.count <= 999)
    #expect(try store.keys(plan).count == store.items.filter { !integers.contains($0.count) }.count)
  }

  @Test("Statements are shared by predicates that differ in captured values only")
  func sharedText() throws {
    let store = try TestStore.filled(composedOnly: true)
    func text(_ count: Int, _ name: String) throws -> String {
      try store.plan("Item", #Predicate<Item> { $0.count > count && $0.name == name }).tail
    }
    #expect(try text(1, "a") == text(2, "b'\""))
  }

  @Test("A plain comparison uses an index, a nullable one and a prefix too")
  func indexes() throws {
    let store = try TestStore.filled(composedOnly: true)
    for column in ["name", "nick", "optionalCount", "folder"] {
      try store.connection.execute("CREATE INDEX \"by \(column)\" ON \"Item\" (\"\(column)\")")
    }
    let id = AgreementCases.homeID
    let predicates: [Predicate<Item>] = [
      #Predicate { $0.name == "a" }, #Predicate { $0.nick == "a" }, #Predicate { $0.optionalCount == nil },
      #Predicate { $0.name.starts(with: "ab") }, #Predicate { $0.folder?.modelID == id },
      #Predicate { $0.folder == nil },
      #Predicate { $0.nick.flatMap { $0 > "x" } ?? false },
    ]
    for predicate in predicates {
      let plan = try store.plan("Item", predicate)
      let statement = try plan.statement("EXPLAIN QUERY PLAN " + plan.identifierStatement, on: store.connection)
      var steps: [String] = []
      while try statement.step() { steps.append(statement.string(3)) }
      #expect(
        steps.first?.contains("USING INDEX") == true || steps.first?.contains("USING COVERING INDEX") == true,
        "\(steps) \(plan.tail)")
    }
  }
}
