import Foundation
import Testing
import TomboloProtocol
import TomboloSQLite

@testable import Tombolo

/// One documented order, in SQL and in memory.
@Suite struct SortTests {
  struct Order: Sendable, CustomTestStringConvertible {
    let name: String
    let descriptors: [SortDescriptor<Item>]
    var testDescription: String { name }
  }

  static let orders: [Order] = [
    Order(name: "none", descriptors: []),
    Order(name: "name", descriptors: [SortDescriptor(\.name)]),
    Order(name: "name, reversed", descriptors: [SortDescriptor(\.name, order: .reverse)]),
    Order(name: "nick, count", descriptors: [SortDescriptor(\.nick), SortDescriptor(\.count, order: .reverse)]),
    Order(name: "nick, reversed", descriptors: [SortDescriptor(\.nick, order: .reverse)]),
    Order(name: "optional count", descriptors: [SortDescriptor(\.optionalCount)]),
    Order(name: "score", descriptors: [SortDescriptor(\.score)]),
    Order(name: "optional score, reversed", descriptors: [SortDescriptor(\.optionalScore, order: .reverse)]),
    Order(name: "date", descriptors: [SortDescriptor(\.date)]),
    Order(name: "price", descriptors: [SortDescriptor(\.price)]),
    Order(name: "optional price", descriptors: [SortDescriptor(\.optionalPrice, order: .reverse)]),
    Order(name: "flag", descriptors: [SortDescriptor(\.flag)]),
    Order(name: "optional flag, reversed", descriptors: [SortDescriptor(\.optionalFlag, order: .reverse)]),
    Order(name: "uuid", descriptors: [SortDescriptor(\.uuid)]),
    Order(name: "level", descriptors: [SortDescriptor(\.level)]),
    Order(name: "kind's raw value", descriptors: [SortDescriptor(\.kind.rawValue)]),
    Order(name: "folder name", descriptors: [SortDescriptor(\.folder?.name), SortDescriptor(\.count)]),
    Order(name: "folder owner age", descriptors: [SortDescriptor(\.folder?.owner?.age, order: .reverse)]),
    Order(name: "folder nick", descriptors: [SortDescriptor(\.folder?.nick)]),
    Order(name: "badge title", descriptors: [SortDescriptor(\.badge?.title, order: .reverse)]),
    Order(name: "localized", descriptors: [SortDescriptor(\.name, comparator: .localizedStandard)]),
    Order(
      name: "localized optional, reversed",
      descriptors: [SortDescriptor(\.nick, comparator: .localizedStandard, order: .reverse)]),
  ]

  @Test("SQL and memory sort alike, whatever the text's form", arguments: [false, true])
  func agreement(composedOnly: Bool) throws {
    let store = try TestStore.filled(composedOnly: composedOnly)
    for order in Self.orders {
      let memory = try RecordOrder(sortBy: order.descriptors)
      let expected = store.items.sorted { memory.precedes($0, $0.key, $1, $1.key) }.map(\.key)
      let plan = try store.plan("Item", nil, sortBy: order.descriptors)
      #expect(try store.keys(plan) == expected, "\(order.name): \(plan.tail)")
    }
  }

  @Test("Pages are a partition of the whole, in every order")
  func pages() throws {
    let store = try TestStore.filled(composedOnly: false)
    let predicate = #Predicate<Item> { $0.count < 100 }
    for order in Self.orders {
      let all = try store.keys(store.plan("Item", predicate, sortBy: order.descriptors))
      var pages: [RecordID] = []
      while pages.count < all.count {
        let plan = try store.plan("Item", predicate, sortBy: order.descriptors, limit: 7, offset: pages.count)
        let page = try store.keys(plan)
        #expect(try store.count(plan) == page.count)
        try #require(!page.isEmpty)
        pages += page
      }
      #expect(pages == all, "\(order.name)")
    }
  }

  @Test("A limit of zero is none, and an offset stands without a limit")
  func limits() throws {
    let store = try TestStore.filled(composedOnly: true)
    #expect(try store.keys(store.plan("Item", Optional<Predicate<Item>>.none, limit: 0)).count == store.items.count)
    #expect(
      try store.keys(store.plan("Item", Optional<Predicate<Item>>.none, offset: 5)).count == store.items.count - 5)
    #expect(try store.keys(store.plan("Item", Optional<Predicate<Item>>.none, offset: 5_000)).isEmpty)
  }

  @Test("The localized order counts digits and ignores case and accents")
  func localized() {
    let names = ["a10", "b", "A2", "a1", "É", "e", "f", "a01", ""]
    let sorted = names.sorted { LocalizedStandardKey($0) < LocalizedStandardKey($1) }
    #expect(sorted == ["", "a01", "a1", "A2", "a10", "b", "e", "É", "f"])
  }

  @Test("A sort by what is not stored is refused by name")
  func refusals() throws {
    let store = try TestStore.filled(composedOnly: true)
    for descriptor in [SortDescriptor(\Item.computed), SortDescriptor(\Item.name.count)] {
      #expect(throws: TomboloError.self) { try store.plan("Item", nil, sortBy: [descriptor]) }
    }
  }
}
