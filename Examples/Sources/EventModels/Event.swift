import SwiftData

/// What the planner keeps; a library of its own, so that an app and its extensions can share it.
public enum PlannerV1: VersionedSchema {
  public static var versionIdentifier = Schema.Version(1, 0, 0)
  public static var models: [any PersistentModel.Type] {
    [Event.self, Meeting.self, Trip.self, Birthday.self, Person.self]
  }
}

/// Anything that can be said in a line.
public protocol Summarized {
  var summary: String { get }
}

/// Anything that has a day in the planner.
@Model
open class Event: Summarized {
  #Index<Event>([\.start])

  public var title: String
  public var start: Date
  public var end: Date
  public var place: Place?
  @Relationship(inverse: \Person.events) public var guests: [Person] = []

  public init(title: String, start: Date, hours: Double = 1) {
    self.title = title
    self.start = start
    end = start.addingTimeInterval(hours * 3_600)
  }

  public var hours: Double { end.timeIntervalSince(start) / 3_600 }
  open var summary: String { title }

  public func overlaps(_ other: Event) -> Bool {
    self !== other && start < other.end && other.start < end
  }

  /// Moves it and keeps its length.
  public func move(to newStart: Date) {
    end += newStart.timeIntervalSince(start)
    start = newStart
  }
}

/// Where something is.
public struct Place: Codable, Hashable, Sendable {
  public var name: String
  public var latitude: Double?
  public var longitude: Double?

  public init(name: String, latitude: Double? = nil, longitude: Double? = nil) {
    self.name = name
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// Somebody who comes.
@Model
public final class Person {
  @Attribute(.unique) public var name: String
  public internal(set) var events: [Event] = []
  public internal(set) var birthday: Birthday?

  public init(name: String) {
    self.name = name
  }
}
