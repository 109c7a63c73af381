import Foundation
import TomboloClient
import TomboloProtocol
import TomboloServer

/// Stands at the server's door and writes down what was asked and answered, in the order in which it took effect, also
/// where the answer never arrives: so the checkers of the simulation judge real processes.
///
/// Pushes pass one by one, since the order of acceptance is in no answer; unless they are to share commits. Then the
/// checks that need the order have no opinion.
final class WireWitness: Sendable {
  struct Notes {
    var ledger = WireLedger()
    var fidelity = FidelityChecker()
    /// The machine behind each replica id that was seen.
    var machines: [ReplicaID: String] = [:]
    /// The highest save that a request of each replica carried.
    var sentUpTo: [ReplicaID: SaveNumber] = [:]
    /// The first broken promise.
    var failure: SimulationFailure?
    var statistics = SimulationStatistics()
  }

  let notes = Guarded(Notes())
  private let turn = NSLock()
  /// Whether pushes may share commits.
  let overlaps: Bool
  /// Whether only one exchange at a time is under way: at the end, when everybody syncs in turn.
  let isQuiet = Guarded(false)
  private let directory: String
  private let store: String

  /// - Parameters:
  ///   - directory: the server's data.
  ///   - store: the store's name on the server.
  init(directory: String, store: String, overlaps: Bool) {
    self.directory = directory
    self.store = store
    self.overlaps = overlaps
  }

  /// Stands around one exchange: see ``Proxy/Witness``.
  func exchange(_ request: HTTPMessage, _ send: () -> HTTPMessage?) -> HTTPMessage? {
    notes.withLock { $0.statistics.count("exchanges") }
    if request.method == "POST", request.target.hasSuffix("/changes") {
      if overlaps { return push(request, send) }
      turn.lock()
      defer { turn.unlock() }
      return push(request, send)
    }
    let answer = send()
    if let answer { check(answer, to: request) }
    if request.method == "GET", request.target.contains("/changes?"), let answer, answer.status == 200 {
      record { notes in
        guard let body = answer.body else { return }
        let page = try Page(decoding: body, as: .cbor)
        notes.ledger.take(page, isAlone: isQuiet.withLock { $0 })
      }
    }
    return answer
  }

  private func push(_ request: HTTPMessage, _ send: () -> HTTPMessage?) -> HTTPMessage? {
    guard let body = request.body, let push = try? PushRequest(decoding: body, as: .cbor) else { return send() }
    let replica = push.introduction.replica
    record { notes in
      let name = notes.machines[replica] ?? "A replica"
      try notes.fidelity.check(push, replica: name, ledger: notes.ledger)
      if let last = push.changeSets.last {
        notes.sentUpTo[replica] = max(notes.sentUpTo[replica] ?? .none, last.number)
      }
    }
    let answer = send()
    if let answer { check(answer, to: request) }
    record { notes in
      if let answer, answer.status == 200, let body = answer.body {
        try notes.ledger.take(push, try PushResponse(decoding: body, as: .cbor))
      } else if answer == nil {
        try takeUnanswered(push, &notes)
      }
    }
    return answer
  }

  /// The connection ended without an answer: what became of the saves is in the server's file.
  private func takeUnanswered(_ push: PushRequest, _ notes: inout Notes) throws {
    notes.statistics.count("pushes without an answer")
    guard FileManager.default.fileExists(atPath: "\(directory)/stores/\(store).sqlite") else { return }
    let settled = try SettledSaves(directory: directory, store: store)
    var push = push
    var answers: [PushAnswer] = []
    if let fragment = push.fragment {
      let verdict = try settled.verdict(on: fragment.save)?.verdict ?? .fragmentStored
      answers.append(PushAnswer(save: fragment.save, number: .none, verdict: verdict))
    }
    for (index, set) in push.changeSets.enumerated() {
      guard notes.ledger.accepted[set.id] == nil, notes.ledger.refused[set.id] == nil,
        let (verdict, stamp) = try settled.verdict(on: set.id)
      else { continue }
      push.changeSets[index].stamp = stamp
      answers.append(PushAnswer(save: set.id, number: set.number, verdict: verdict))
      notes.statistics.count("commits without an answer")
    }
    let response = PushResponse(epoch: push.introduction.epoch ?? Epoch(0), serverTime: 0, answers: answers)
    try notes.ledger.take(push, response)
  }

  /// A server's own fault is a defect, whatever came before it.
  private func check(_ answer: HTTPMessage, to request: HTTPMessage) {
    guard let status = answer.status, status >= 500, status != 503 else { return }
    note(SimulationFailure(.progress, "the server answers \(status) to \(request.method) \(request.target)"))
  }

  private func record(_ body: (inout Notes) throws -> Void) {
    do {
      try notes.withLock { notes in try body(&notes) }
    } catch {
      note(error as? SimulationFailure ?? SimulationFailure(.progress, "unexpected on the wire: \(error)"))
    }
  }

  /// The first failure is the one that counts.
  func note(_ failure: SimulationFailure) {
    notes.withLock { notes in if notes.failure == nil { notes.failure = failure } }
  }

  var hasFailed: Bool { notes.withLock { $0.failure != nil } }
}
