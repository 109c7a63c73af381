import CTomboloMicroHTTPD
import Foundation
import TomboloServer

/// One thread that commits pushes and answers suspended pulls.
///
/// While it waits for the disk, further pushes gather: the next commit is for all of them. Their connections, and those
/// of long polls, are suspended meanwhile and cost no thread.
final class Dispatcher: @unchecked Sendable {
  // Guarded by `condition`: everything but `waiting`, which only the dispatcher's own thread touches.
  private let condition = NSCondition()
  private var pushes: [Exchange] = []
  private var arrivals: [Waiting] = []
  private var isStopping = false
  private var isFinished = false
  private var waiting: [Waiting] = []
  private let service: Service
  private let clock = SystemClock()
  private var nextCollection: UInt64
  private var nextRecount: UInt64
  private var recounted = 0

  /// Requests that share one commit at most.
  private static let batchMax = 256
  private static let batchBytesMax = 32 << 20
  private static let queueMax = 1_024
  private static let collectionMilliseconds: UInt64 = 24 * 3_600 * 1_000

  private struct Waiting {
    let exchange: Exchange
    var poll: LongPoll
  }

  init(service: Service) {
    self.service = service
    nextCollection = clock.milliseconds() + Self.collectionMilliseconds
    nextRecount = clock.milliseconds() + Self.collectionMilliseconds / UInt64(Service.recountParts)
    let thread = Thread { [self] in run() }
    thread.name = "dispatcher"
    thread.start()
  }

  // MARK: From the library's threads

  /// Suspends the connection until the push is durable.
  /// - Returns: false if the dispatcher has stopped or its queue is full: the caller answers by itself, which holds up
  ///   the connections of its thread.
  func enqueue(_ exchange: Exchange) -> Bool {
    suspend(exchange, unless: { pushes.count >= Self.queueMax }) { pushes.append(exchange) }
  }

  /// Suspends the connection until there is something to deliver, or the poll's time is up.
  func enqueue(_ exchange: Exchange, poll: LongPoll) -> Bool {
    suspend(exchange, unless: { false }) { arrivals.append(Waiting(exchange: exchange, poll: poll)) }
  }

  private func suspend(_ exchange: Exchange, unless isFull: () -> Bool, _ add: () -> Void) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    guard !isFinished, !isFull() else { return false }
    // Suspended before anybody else can see it: a connection that is resumed first would never wake.
    MHD_suspend_connection(exchange.connection)
    add()
    condition.broadcast()
    return true
  }

  /// Answers everything that waits; when it returns no connection is suspended, nor will be.
  func stop() {
    condition.lock()
    isStopping = true
    condition.broadcast()
    while !isFinished { condition.wait() }
    condition.unlock()
  }

  // MARK: The thread

  private struct Work {
    var pushes: [Exchange]
    var isStopping: Bool
  }

  private func run() {
    while let work = nextWork() {
      if !work.pushes.isEmpty { commit(work.pushes) }
      answerWaiting(atOnce: work.isStopping)
      collectIfDue()
      recountIfDue()
    }
  }

  /// Waits for something to do; nil at the end.
  private func nextWork() -> Work? {
    condition.lock()
    defer { condition.unlock() }
    while pushes.isEmpty, arrivals.isEmpty, !isStopping {
      let deadline = min(waiting.map(\.poll.deadline).min() ?? .max, nextCollection, nextRecount)
      let now = clock.milliseconds()
      if deadline <= now { break }
      let limit = Date(timeIntervalSinceNow: Double(deadline - now) / 1_000)
      if !condition.wait(until: limit) { break }
    }
    let batch = nextBatch()
    waiting += arrivals
    arrivals.removeAll()
    if isStopping, batch.isEmpty, waiting.isEmpty {
      isFinished = true
      condition.broadcast()
      return nil
    }
    return Work(pushes: batch, isStopping: isStopping)
  }

  private func nextBatch() -> [Exchange] {
    var bytes = 0
    let count = pushes.prefix(Self.batchMax).prefix { exchange in
      defer { bytes += exchange.request.body.count }
      return bytes < Self.batchBytesMax
    }.count
    defer { pushes.removeFirst(count) }
    return Array(pushes.prefix(count))
  }

  private func commit(_ batch: [Exchange]) {
    let replies = service.handle(batch: batch.map(\.request))
    for (exchange, reply) in zip(batch, replies) {
      switch reply {
      case .response(let response): finish(exchange, response)
      case .waits(let poll): waiting.append(Waiting(exchange: exchange, poll: poll))
      }
    }
  }

  private func answerWaiting(atOnce: Bool) {
    guard !waiting.isEmpty else { return }
    let now = clock.milliseconds()
    var left: [Waiting] = []
    for var entry in waiting {
      if atOnce { entry.poll.deadline = 0 }
      guard entry.poll.deadline <= now || service.hasNews(for: entry.poll) else {
        left.append(entry)
        continue
      }
      switch service.resume(entry.poll) {
      case .response(let response): finish(entry.exchange, response)
      case .waits(let poll): left.append(Waiting(exchange: entry.exchange, poll: poll))
      }
    }
    waiting = left
  }

  private func finish(_ exchange: Exchange, _ response: ServiceResponse) {
    exchange.response = response
    MHD_resume_connection(exchange.connection)
  }

  private func collectIfDue() {
    guard clock.milliseconds() >= nextCollection else { return }
    nextCollection = clock.milliseconds() + Self.collectionMilliseconds
    service.collectTombstonesAndLog()
  }

  /// A part of the checksums at a time, all of them in a day.
  private func recountIfDue() {
    guard clock.milliseconds() >= nextRecount else { return }
    nextRecount = clock.milliseconds() + Self.collectionMilliseconds / UInt64(Service.recountParts)
    service.recountChecksumsAndLog(part: recounted)
    recounted += 1
  }
}
