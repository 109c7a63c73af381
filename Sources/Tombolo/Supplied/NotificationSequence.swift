public import Foundation

extension NotificationCenter {
  /// The notifications of a name, as they are posted from now on. Foundation on Linux lacks it.
  ///
  /// ```swift
  /// for await _ in NotificationCenter.default.notifications(named: .NSPersistentStoreRemoteChange) { reload() }
  /// ```
  ///
  /// - Parameter object: only those of this object; nil for all.
  public func notifications(named name: Notification.Name, object: (any AnyObject & Sendable)? = nil) -> Notifications {
    Notifications(self, name, object)
  }

  /// Notifications in the order of their posting. Each iterator hears of what is posted after it was made; one that is slow
  /// keeps the last thousand.
  public final class Notifications: AsyncSequence, Sendable {
    /// One notification.
    public typealias Element = Notification
    /// It does not end by an error.
    public typealias Failure = Never

    private let center: NotificationCenter
    private let name: Notification.Name
    private let object: (any AnyObject & Sendable)?

    init(_ center: NotificationCenter, _ name: Notification.Name, _ object: (any AnyObject & Sendable)?) {
      self.center = center
      self.name = name
      self.object = object
    }

    /// Begins to listen.
    public func makeAsyncIterator() -> Iterator { Iterator(center, name, object) }

    /// Gives one notification after the other until its task is cancelled.
    public final class Iterator: AsyncIteratorProtocol {
      private struct Posted: @unchecked Sendable {
        // Guarded by being given to the one iterator that waits for it.
        let notification: Notification
      }
      private let center: NotificationCenter
      private let token: any NSObjectProtocol
      private var posted: AsyncStream<Posted>.Iterator

      init(_ center: NotificationCenter, _ name: Notification.Name, _ object: Any?) {
        let (stream, continuation) = AsyncStream<Posted>.makeStream(bufferingPolicy: .bufferingNewest(1_000))
        self.center = center
        token = center.addObserver(forName: name, object: object, queue: nil) {
          continuation.yield(Posted(notification: $0))
        }
        posted = stream.makeAsyncIterator()
      }

      deinit { center.removeObserver(token) }

      /// The next notification; nil once the task is cancelled.
      public func next(isolation actor: isolated (any Actor)? = #isolation) async -> Notification? {
        await posted.next(isolation: actor)?.notification
      }

      /// The next notification; nil once the task is cancelled.
      public func next() async -> Notification? { await next(isolation: nil) }
    }
  }
}
