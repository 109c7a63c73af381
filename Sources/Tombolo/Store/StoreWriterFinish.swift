import TomboloProtocol

extension StoreWriter {
  /// What has to wait until the save is complete: uniqueness, the checks that deletes left open, and the save's own row.
  func finish(author: String?) throws {
    try settleUniqueKeys()
    try settleReferences()
    try runFinalChecks()
    if let recorder, recorder.changeCount > 0 {
      try recorder.finish(author: author, schema: schema)
      outcome.save = recorder.number
    }
  }

  func summary(author: String?) -> CommitSummary {
    CommitSummary(
      author: author, isRemote: false, inserted: inserted.filter { outcome.merged[$0.id] == nil },
      updated: updated + outcome.touched, deleted: outcome.deleted)
  }
}
