import TomboloProtocol
import TomboloSQLite

/// Answers to a push: what settles, what is parked, what is named anew.
extension ReplicaTransaction {
  func take(_ response: PushResponse) throws -> PushOutcome {
    if let epoch = try book.epoch, epoch != response.epoch { return .epochChanged(response.epoch) }
    try book.set(.epoch, to: response.epoch.rawValue)
    try noteServerTime(response.serverTime)
    try book.set(.lastPush, to: wall)
    var accepted = 0
    var parked = 0
    var stop: PushOutcome?
    for answer in response.answers {
      switch answer.verdict {
      case .gap(let expected): stop = .gap(expected: expected)
      case .copiedReplica: stop = .copied
      case .clockSkew:
        if let save = save(answer.number), save.id == answer.save, save.state == .unsent {
          try restamp(from: save, serverTime: response.serverTime)
          stop = .restamped
        }
      case .fragmentStored: continue
      case .accepted, .known, .refused:
        guard let save = save(answer.number), save.id == answer.save, save.state == .unsent else { continue }
        try take(answer.verdict, for: save)
        if save.state == .parked { parked += 1 } else { accepted += 1 }
      }
      if stop != nil { break }
    }
    try relayOpen()
    try settleReferences()
    try relayLinks([:])
    try writeQueue()
    return stop ?? .settled(accepted: accepted, parked: parked)
  }

  /// Takes the verdict on one save; what it changes in the rows is opened, and laid anew by the caller.
  func take(_ verdict: PushAnswer.Verdict, for save: PendingSave) throws {
    switch verdict {
    case .accepted(let fell):
      save.state = .answered
      show(save)
      try book.note(save.stamp.clock)
      note(fell, in: save)
    case .known(let stamp):
      save.state = .answered
      show(save)
      try book.note(stamp.clock)
      if stamp != save.stamp { try rename([save.stamp: stamp]) }
    case .refused(let code, let message): try park(save, code: code, message: message)
    case .clockSkew, .gap, .copiedReplica, .fragmentStored: break
    }
  }

  /// A save that was hidden because it seemed to hang on a refused one, and was taken all the same.
  private func show(_ save: PendingSave) {
    guard save.isDependent else { return }
    save.isDependent = false
    save.now.isHidden = false
    open(save)
  }

  private func note(_ fell: [FallenPart], in save: PendingSave) {
    let sent = PendingQueue.sent(save)
    for part in fell where Int(part.change) < sent.count {
      let change = sent[Int(part.change)]
      if let field = part.field {
        save.now.fallenFields[change.position, default: []].insert(field)
      } else {
        save.now.fallen.insert(change.position)
      }
      open(change)
    }
  }

  // MARK: Refusals

  private func park(_ save: PendingSave, code: ErrorCode, message: String) throws {
    let outbox = try Outbox(connection, schema: schema, rows: rows)
    try outbox.settleValues(of: queue.saves.filter { $0.state == .unsent }, in: queue)
    let set = try outbox.changeSet(save, number: save.number - numberOffset)
    try connection.run("INSERT OR REPLACE INTO _tombolo_parked(save, code, message, body) VALUES (?1, ?2, ?3, ?4)") {
      $0.bind(save.number, at: 1)
      $0.bind(code.rawValue, at: 2)
      $0.bind(message, at: 3)
      $0.bind(set.encoded(as: .cbor), at: 4)
    }
    save.state = .parked
    save.now.isHidden = true
    save.isDependent = false
    open(save)
    passBases(over: save)
    hideDependents(of: save)
  }

  /// A base that names a write of a refused save counts as that write's own base; what a refused save created had none.
  private func passBases(over refused: PendingSave) {
    for change in refused.changes {
      let own: [Int: Stamp?]
      switch change.detail {
      case .update(let lost):
        own = Dictionary(lost.fields.map { ($0.column, $0.base) }, uniquingKeysWith: { a, _ in a })
      case .create: own = [:]
      case .delete, .link: continue
      }
      for later in queue.changes(of: change.record) where later.save.order > refused.order {
        guard case .update(var detail) = later.detail else { continue }
        for index in detail.fields.indices where detail.fields[index].base == refused.stamp {
          if case .create = change.detail {
            detail.fields[index].base = .zero
          } else if let base = own[detail.fields[index].column] {
            detail.fields[index].base = base
          }
        }
        later.rewrite(.update(detail))
      }
    }
  }

  /// The saves behind it that touch a record that it created will be refused as well: they are hidden with it at once.
  private func hideDependents(of refused: PendingSave) {
    var lost: Set<RecordID> = []
    func addCreated(_ save: PendingSave) {
      for change in save.changes { if case .create = change.detail { lost.insert(change.record) } }
    }
    addCreated(refused)
    if lost.isEmpty { return }
    for save in queue.saves where save.state == .unsent && save.order > refused.order && !save.now.isHidden {
      guard save.changes.contains(where: { Self.names($0, lost) }) else { continue }
      save.now.isHidden = true
      save.isDependent = true
      addCreated(save)
      open(save)
    }
  }

  private static func names(_ change: PendingChange, _ records: Set<RecordID>) -> Bool {
    if case .create = change.detail {
      return change.own.values.contains { $0.reference.map(records.contains) ?? false }
    }
    if records.contains(change.record) { return true }
    switch change.detail {
    case .link(let detail): return records.contains(detail.link.target)
    case .update(let detail):
      return detail.fields.contains { field in
        !field.isConsequence && (change.own[field.column]?.reference.map(records.contains) ?? false)
      }
    default: return false
    }
  }
}
