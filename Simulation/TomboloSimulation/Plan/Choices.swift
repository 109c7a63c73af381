import TomboloProtocol

/// Where a run's small choices come from: what becomes of the nth request of a replica, whether its nth save meets a
/// power cut.
///
/// Each is a function of the seed, its kind, its machine and its number, so that one of them can be left out without
/// moving the others. What goes wrong is written down; a replay takes it from there, and nothing else goes wrong.
struct Choices {
  enum Kind: String, Hashable, CaseIterable {
    case request, saveCrash = "save-crash", syncCrash = "sync-crash", serverCrash = "server-crash", survival
    case pause, boot, network, sync, edit, clock
  }

  /// One place in a run where something may go wrong.
  struct Point: Hashable, Comparable {
    var kind: Kind
    var machine: Int
    var ordinal: Int

    static func < (a: Point, b: Point) -> Bool {
      (a.kind.rawValue, a.machine, a.ordinal) < (b.kind.rawValue, b.machine, b.ordinal)
    }
  }

  private struct Stream: Hashable {
    var kind: Kind
    var machine: Int
  }

  private let seed: UInt64
  private let script: [Point: Int]?
  private var ordinals: [Stream: Int] = [:]
  /// What went wrong so far.
  private(set) var taken: [Point: Int] = [:]

  /// - Parameter script: what goes wrong, in a replay; nil lets the seed choose.
  init(seed: UInt64, script: [Point: Int]?) {
    self.seed = seed
    self.script = script
  }

  private mutating func next(_ kind: Kind, _ machine: Int) -> Point {
    let ordinal = ordinals[Stream(kind: kind, machine: machine), default: 0]
    ordinals[Stream(kind: kind, machine: machine)] = ordinal + 1
    return Point(kind: kind, machine: machine, ordinal: ordinal)
  }

  private func generator(_ point: Point) -> SeededGenerator {
    let place = UInt64(Kind.allCases.firstIndex(of: point.kind) ?? 0) << 56
    return SeededGenerator(
      seed: seed ^ place ^ UInt64(UInt16(truncatingIfNeeded: point.machine)) << 40 ^ UInt64(point.ordinal))
  }

  /// Random bits for what is no fault: how long something takes.
  mutating func noise(_ kind: Kind, of machine: Int) -> SeededGenerator { generator(next(kind, machine)) }

  /// Whether something goes wrong here, as a number that the caller understands; 0 for nothing.
  mutating func fault(_ kind: Kind, of machine: Int, _ draw: (inout SeededGenerator) -> Int) -> Int {
    let point = next(kind, machine)
    let value: Int
    if let script {
      value = script[point] ?? 0
    } else {
      var generator = generator(point)
      value = draw(&generator)
    }
    if value != 0 { taken[point] = value }
    return value
  }
}
