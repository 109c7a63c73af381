import Foundation
import Tombolo
import TomboloProtocol

extension AgreementCases {
  static let homeID = TestID(RecordID(high: 7, low: 4 * 7919 % 10_007))

  static var relationships: [ItemCase] {
    let id = homeID
    let noID: TestID? = nil
    return [
      ItemCase("folder == nil", #Predicate { $0.folder == nil }),
      ItemCase("folder != nil", #Predicate { $0.folder != nil }),
      ItemCase("not folder == nil", #Predicate { !($0.folder == nil) }),
      ItemCase("folder name", #Predicate { $0.folder?.name == "home" }),
      ItemCase("folder name differs", #Predicate { $0.folder?.name != "home" }),
      ItemCase("not folder name", #Predicate { !($0.folder?.name == "home") }),
      ItemCase("folder name nil", #Predicate { $0.folder?.name == nil }),
      ItemCase("folder nick nil", #Predicate { $0.folder?.nick == nil }),
      ItemCase("folder nick not nil", #Predicate { $0.folder?.nick != nil }),
      ItemCase("folder owner", #Predicate { $0.folder?.owner == nil }),
      ItemCase("folder owner name", #Predicate { $0.folder?.owner?.name == "ann" }),
      ItemCase("not folder owner name", #Predicate { !($0.folder?.owner?.name == "ann") }),
      ItemCase("folder owner age", #Predicate { $0.folder?.owner?.age == nil }),
      ItemCase("folder parent parent", #Predicate { $0.folder?.parent?.parent == nil }),
      ItemCase("folder name ?? empty", #Predicate { ($0.folder?.name ?? "") == "" }),
      ItemCase("folder owner age ?? 0", #Predicate { ($0.folder?.owner?.age ?? 0) > 10 }),
      ItemCase("folder key", #Predicate { $0.folder?.modelID == id }),
      ItemCase("folder key differs", #Predicate { $0.folder?.modelID != id }),
      ItemCase("folder key nil", #Predicate { $0.folder?.modelID == noID }),
      ItemCase("own key", #Predicate { $0.modelID == id }),
      ItemCase("folder flatMap", #Predicate { $0.folder.flatMap { $0.name == "home" } == true }),
      ItemCase("folder flatMap on nil", #Predicate { $0.folder.flatMap { $0.nick == nil } ?? false }),
      ItemCase("folder flatMap on nil ?? true", #Predicate { $0.folder.flatMap { $0.nick == nil } ?? true }),
      ItemCase(
        "if let folder",
        #Predicate {
          if let folder = $0.folder { folder.name.contains("o") && folder.nick == nil } else { false }
        }),
      ItemCase(
        "if let else nick",
        #Predicate { item in
          if let folder = item.folder { folder.name == "work" } else { item.nick == nil }
        }),
      ItemCase("folder contains", #Predicate { $0.folder?.name.contains("o") ?? false }),
      ItemCase("folder contains empty", #Predicate { $0.folder?.name.contains("") ?? false }),
      ItemCase("folder and name", #Predicate { $0.folder?.name == "home" && $0.folder?.nick == nil && $0.flag }),
      ItemCase("badge", #Predicate { $0.badge == nil }),
      ItemCase("badge title", #Predicate { $0.badge?.title == "gold" }),
      ItemCase("badge title differs", #Predicate { $0.badge?.title != "gold" }),
      ItemCase("badge item name", #Predicate { $0.badge?.item?.name != "abc" && $0.badge?.item != nil }),
    ]
  }

  // `!` inside a predicate is what is tested here.
  // swift-format-ignore: NeverForceUnwrap
  static var toMany: [ItemCase] {
    let name = "red"
    return [
      ItemCase("no tags", #Predicate { $0.tags.isEmpty }),
      ItemCase("tags", #Predicate { !$0.tags.isEmpty }),
      ItemCase("tags, other spelling", #Predicate { $0.tags.isEmpty == false }),
      ItemCase("tag count", #Predicate { $0.tags.count > 1 }),
      ItemCase("tag count == 0", #Predicate { $0.tags.count == 0 }),
      ItemCase("contains where", #Predicate { $0.tags.contains { $0.name == name } }),
      ItemCase("not contains where", #Predicate { !$0.tags.contains { $0.name == name } }),
      ItemCase("contains where, outer variable", #Predicate { item in item.tags.contains { $0.name == item.name } }),
      ItemCase("all satisfy", #Predicate { $0.tags.allSatisfy { $0.weight > 0 } }),
      ItemCase("not all satisfy", #Predicate { !$0.tags.allSatisfy { $0.weight > 0 } }),
      ItemCase("filter count", #Predicate { $0.tags.filter { $0.weight > 1 }.count == 1 }),
      ItemCase("filter is empty", #Predicate { $0.tags.filter { $0.weight > 1 }.isEmpty }),
      ItemCase(
        "filter contains", #Predicate { $0.tags.filter { $0.weight > 1 }.contains { $0.name == "green" } }),
      ItemCase(
        "nested", #Predicate { item in item.tags.contains { tag in tag.items.contains { $0.name == "a" } } }),
      ItemCase(
        "nested all",
        #Predicate { item in item.tags.allSatisfy { tag in tag.items.contains { $0.count == item.count } } }),
      ItemCase("through a to-one", #Predicate { $0.folder?.items.contains { $0.name == "a" } ?? false }),
      ItemCase("count through a to-one", #Predicate { ($0.folder?.items.count ?? 0) > 5 }),
      ItemCase("children", #Predicate { $0.folder?.children.isEmpty ?? true }),
      ItemCase(
        "children's children",
        #Predicate { $0.folder?.children.contains { $0.children.isEmpty && $0.name == "x" } ?? false }),
      ItemCase(
        "to-one inside to-many",
        #Predicate { $0.folder?.children.contains { $0.parent?.owner?.name == "ann" } ?? false }),
      ItemCase("optional to-many", #Predicate { $0.optionalTags?.contains { $0.name == name } ?? false }),
      ItemCase(
        "tags of a test with unwrap",
        #Predicate { $0.tags.contains { $0.items.contains { $0.nick != nil && $0.nick!.contains("b") } } }),
      ItemCase("tags and or", #Predicate { $0.tags.contains { $0.name == "red" || $0.name == "blue" } && $0.flag }),
    ]
  }
}
