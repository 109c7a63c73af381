import Testing
import TomboloClient
import TomboloProtocol

@Suite("The watchdog, and what a synchronizer says of itself")
struct ProgressWatchTests {
  /// One attempt: seconds, the first save that waits, whether the server answered, whether it stands still.
  typealias Attempt = (seconds: UInt64, first: UInt64?, isReachable: Bool, isStandstill: Bool)

  @Test(
    "A queue that stays is a standstill after three attempts and a minute, with a server that answers",
    arguments: [
      // The same save at the head.
      [(0, 1, true, false), (30, 1, true, false), (61, 1, true, true), (90, 1, true, true)],
      // Often, and within the minute.
      [(0, 1, true, false), (1, 1, true, false), (2, 1, true, false), (3, 1, true, false), (60, 1, true, true)],
      // Slow progress is progress.
      [(0, 1, true, false), (60, 2, true, false), (120, 3, true, false), (180, 4, true, false)],
      // Nothing waits.
      [(0, nil, true, false), (60, nil, true, false), (120, nil, true, false)],
      // Nobody answers: that is being offline, and afterwards the count begins anew.
      [
        (0, 1, false, false), (60, 1, false, false), (120, 1, true, false), (150, 1, true, false), (181, 1, true, true),
      ],
      // It got through at last.
      [(0, 1, true, false), (30, 1, true, false), (61, 1, true, true), (62, nil, true, false), (63, 2, true, false)],
    ] as [[Attempt]])
  func standstill(_ attempts: [Attempt]) {
    var watch = ProgressWatch()
    for attempt in attempts {
      let isStandstill = watch.note(
        first: attempt.first.map { SaveNumber($0) }, isReachable: attempt.isReachable, now: attempt.seconds * 1_000)
      #expect(isStandstill == attempt.isStandstill, "after \(attempt.seconds) s of \(attempts)")
    }
  }

  @Test("Each way to fail has a state of its own")
  func states() {
    func error(_ code: ErrorCode, _ isRetryable: Bool) -> TomboloError {
      TomboloError(code, "It failed.", isRetryable: isRetryable)
    }
    let busy = error(.unavailable, true)
    #expect(SyncState(error(.serverUnreachable, true), next: 5) == .offline)
    #expect(SyncState(error(.serverTimeout, true)) == .offline)
    #expect(SyncState(error(.cancelled, true)) == .idle)
    #expect(SyncState(busy, next: 5) == .waiting(until: 5))
    #expect(SyncState(busy, next: 5, isStandstill: true) == .stalled(busy))
    #expect(SyncState(busy) == .stalled(busy))
    let stalled = error(.syncStalled, true)
    #expect(SyncState(stalled, next: 5) == .stalled(stalled))
    let refused = error(.unauthorized, false)
    #expect(SyncState(refused, next: 5, isStandstill: true) == .refused(refused))
  }
}
