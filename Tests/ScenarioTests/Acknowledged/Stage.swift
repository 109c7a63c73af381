import Testing
import Tombolo
import TomboloProtocol

/// A few records that two people see, and the things that either may do with them.
struct Stage: Sendable, CustomTestStringConvertible {
  struct Prop: Sendable {
    var name: String
    var entity: String
    var texts: [String] = []
    var references: [String: String] = [:]
    var numbers: [String: Int64] = [:]
  }
  struct Act: Sendable {
    var name: String
    var run: @Sendable (Actor) throws -> Void
    init(_ name: String, _ run: @escaping @Sendable (Actor) throws -> Void) {
      self.name = name
      self.run = run
    }
  }
  let name: String
  let props: [Prop]
  let pairs: [(entity: String, name: String, property: String, other: String)]
  let acts: [Act]
  var testDescription: String { name }
}
