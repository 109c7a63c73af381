import TomboloProtocol

extension ModelContext {
  // MARK: Saving by itself

  /// Has what is pending saved when the context's executor is free, once: the main actor's for the main context, the
  /// queue of a ``DefaultSerialModelExecutor`` for a model actor's. Other contexts have none.
  func scheduleAutosave() {
    guard !isAutosaveScheduled else { return }
    let link = link
    isAutosaveScheduled = link.later { link.laterContext?.autosaveNow() }
  }

  private func autosaveNow() {
    isAutosaveScheduled = false
    autosave()
  }

  /// Saves what is pending, unless there is something that the program has to be told first.
  func autosave() {
    // An explicit save throws what could not be thrown where it happened: it is not taken away from it.
    guard autosaveEnabled, hasChanges, deferredFaults.isEmpty, transactionDepth == 0 else { return }
    do {
      try save()
      autosaveFailure = nil
    } catch {
      autosaveFailure = error
    }
  }
}
