import Foundation

/// A value that one thread at a time may touch, behind a lock.
///
/// Over `NSLock`, not `Synchronization.Mutex`: the thread sanitizer knows the system's locks and so sees what they order, but
/// on Linux not what a `Mutex` orders, and reports what that guards as a race.
package final class Guarded<Value>: @unchecked Sendable {
  // `value` is only touched under `lock`.
  private let lock = NSLock()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  /// Runs `body` with the value while no other thread has it. Not reentrant.
  package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
