import Testing
import Tombolo
import TomboloProtocol

/// One person at one copy of a stage: each verb is a save, and notes what he may rely on from then on.
final class Actor {
  let replica: Replica
  /// Tells the values of the two apart.
  let mark: String
  /// Tells the copies of the stage apart, in values that must be unique.
  let copy: Int
  private(set) var ids: [String: RecordID]
  private(set) var claims: [Claim] = []
  /// Records that he gave another life: what he deleted before is not missed.
  private(set) var remade: Set<RecordID> = []

  init(_ replica: Replica, mark: String, copy: Int, ids: [String: RecordID]) {
    self.replica = replica
    self.mark = mark
    self.copy = copy
    self.ids = ids
  }

  func id(_ name: String) throws -> RecordID { try #require(ids[name], "\(name)") }
  private func text(_ property: String) -> Value { .text("\(mark) \(property) \(copy)") }

  /// - Parameter value: what is written; the default is a text of his own.
  func sets(_ entity: String, _ name: String, _ property: String, to value: Value? = nil) throws {
    let id = try id(name)
    let value = value ?? text(property)
    try replica.sets(entity, id, property, to: value)
    claims.removeAll { $0.record == id && $0.property == property }
    claims.append(Claim(entity, id, .value(property, value)))
  }

  func moves(_ entity: String, _ name: String, _ property: String, to target: String?) throws {
    try sets(entity, name, property, to: Value(reference: try target.map(id)))
  }

  /// - Parameter digit: which decimal digit of the sum is his, so that it can be told from the other's.
  func adds(_ entity: String, _ name: String, _ property: String) throws {
    let id = try id(name)
    let delta: Int64 = mark == "a" ? 1 : 10
    guard case .integer(let sum) = try replica.value(entity, id, property) ?? .null else { return }
    try replica.sets(entity, id, property, to: .integer(sum + delta))
    claims.append(Claim(entity, id, .addition(property, delta)))
  }

  func deletes(_ entity: String, _ name: String) throws {
    let id = try id(name)
    try replica.deletes(entity, id)
    claims.removeAll { $0.record == id }
    claims.append(Claim(entity, id, .deletion))
  }

  func makes(_ entity: String, _ values: [String: Value] = [:], texts: [String] = [], named name: String = "new") throws
  {
    var values = values
    for property in texts { values[property] = text(property) }
    let id = try replica.inserts(entity, values)
    ids[name] = id
    claim(entity, id, values)
  }

  /// Gives a record the unique value that another has, so that the two become one: that one is there, and has the value that
  /// it had before.
  func unites(_ entity: String, _ name: String, _ property: String, value: Value) throws {
    let id = try id(name)
    try replica.sets(entity, id, property, to: value)
    claims.append(Claim(entity, id, .record))
  }

  /// The same by making one; its other texts are new.
  func makesAgain(_ entity: String, _ property: String, value: Value, texts: [String]) throws {
    try makes(entity, [property: value], texts: texts)
    claims.removeAll { $0.property == property }
  }

  /// Deletes a record and makes another under its identity.
  func remakes(_ entity: String, _ name: String, texts: [String]) throws {
    let id = try id(name)
    try replica.deletes(entity, id)
    let values = Dictionary(uniqueKeysWithValues: texts.map { ($0, text($0)) })
    try replica.inserts(entity, values, id: id)
    remade.insert(id)
    claim(entity, id, values)
  }

  private func claim(_ entity: String, _ id: RecordID, _ values: [String: Value]) {
    claims.append(Claim(entity, id, .record))
    for (property, value) in values.sorted(by: { $0.key < $1.key }) {
      claims.append(Claim(entity, id, .value(property, value)))
    }
  }

  func links(_ entity: String, _ name: String, _ property: String, to other: String) throws {
    let (id, other) = (try id(name), try id(other))
    try replica.links(entity, id, property, to: other)
    claims.append(Claim(entity, id, .pair(property, other)))
  }

  func parts(_ entity: String, _ name: String, _ property: String, from other: String) throws {
    let (id, other) = (try id(name), try id(other))
    try replica.parts(entity, id, property, from: other)
    claims.append(Claim(entity, id, .absence(property, other)))
  }
}
