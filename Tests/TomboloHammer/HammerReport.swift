/// What a process says that it did, as JSON on standard output.
struct HammerReport: Codable {
  /// Saves of cells and halves that were committed.
  var saves = 0
  /// The last value that the process wrote into its column, by cell.
  var cells: [String: Int] = [:]
  /// The last value that it wrote into its halves.
  var half = 0
  /// Batches that it has added and removed.
  var batchSaves = 0
  /// Its batches that are there.
  var batches: [String] = []
  /// Fetches that were looked at.
  var reads = 0
  /// Syncs that went through, and such as found another one under way.
  var syncs = 0
  var syncsUnderWay = 0
  /// What should not be: errors, and parts of a transaction.
  var faults: [String] = []
}

/// What is in a store in the end.
struct HammerContent: Codable, Equatable {
  /// The five columns, by cell.
  var cells: [String: [Int]] = [:]
  /// The values of both halves, by owner.
  var halves: [Int: [Int]] = [:]
  var batches: [String: Int] = [:]
  /// Transactions of the history, by author.
  var transactions: [String: Int] = [:]
  /// Transactions of the history that do not come after the one before them, or have not the changes of whole saves.
  var historyFaults: [String] = []
}
