import TomboloProtocol

extension StoreWriter {
  /// What has to wait until the save is complete: uniqueness, then the checks that deletes left open.
  func finish() throws {
    try runFinalChecks()
  }

  func summary(author: String?) -> CommitSummary {
    CommitSummary(
      author: author, isRemote: false, inserted: inserted, updated: updated + outcome.touched, deleted: outcome.deleted)
  }
}
