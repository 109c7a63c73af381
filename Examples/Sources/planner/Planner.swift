import EventModels
import SwiftData

/// The view model of the planner: the days to come.
@Observable @MainActor
final class Planner {
  /// What is shown.
  enum Kind: String, CaseIterable {
    case all, meetings, trips, birthdays
  }

  var kind = Kind.all
  private(set) var events: [Event] = []
  private let context: ModelContext

  init(container: ModelContainer) {
    context = ModelContext(container)
  }

  func load(from day: Date) throws {
    let predicate: Predicate<Event>
    switch kind {
    case .all: predicate = #Predicate { $0.end > day }
    case .meetings: predicate = #Predicate { $0.end > day && $0 is Meeting }
    case .trips: predicate = #Predicate { $0.end > day && $0 is Trip }
    case .birthdays: predicate = #Predicate { $0.end > day && $0 is Birthday }
    }
    events = try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.start)]))
  }

  func event(_ words: String) throws -> Event {
    let found = try context.fetch(
      FetchDescriptor<Event>(
        predicate: #Predicate { $0.title.localizedStandardContains(words) }, sortBy: [SortDescriptor(\.start)]))
    guard let event = found.first else { throw PlannerError.unknown(words) }
    return event
  }

  func add(_ event: Event) throws {
    context.insert(event)
    try context.save()
  }

  func addBirthday(of name: String, on day: Date) throws {
    let person = try person(name)
    if let known = person.birthday {
      known.move(to: day)
    } else {
      context.insert(Birthday(of: person, on: day))
    }
    try context.save()
  }

  func invite(_ names: [String], to event: Event) throws {
    for name in names {
      let person = try person(name)
      if !event.guests.contains(person) { event.guests.append(person) }
    }
    try context.save()
  }

  func move(_ event: Event, to start: Date) throws {
    event.move(to: start)
    try context.save()
  }

  func cancel(_ event: Event) throws {
    context.delete(event)
    try context.save()
  }

  /// Pairs that somebody would have to be at at once.
  func clashes() throws -> [(Event, Event, Person)] {
    let people = try context.fetch(FetchDescriptor<Person>(sortBy: [SortDescriptor(\.name)]))
    return people.flatMap { person in
      let events = person.events.sorted { $0.start < $1.start }
      return events.indices.flatMap { first in
        events[(first + 1)...].filter { $0.overlaps(events[first]) }.map { (events[first], $0, person) }
      }
    }
  }

  /// What the trips of a year may cost.
  func budget(of year: ClosedRange<Date>) throws -> Decimal {
    let first = year.lowerBound
    let last = year.upperBound
    let trips = FetchDescriptor<Trip>(predicate: #Predicate { $0.start >= first && $0.start <= last })
    return try context.fetch(trips).reduce(0) { $0 + $1.budget }
  }

  private func person(_ name: String) throws -> Person {
    let found = try context.fetch(FetchDescriptor<Person>(predicate: #Predicate { $0.name == name }))
    if let person = found.first { return person }
    let person = Person(name: name)
    context.insert(person)
    return person
  }
}

enum PlannerError: LocalizedError {
  case unknown(String)

  var errorDescription: String? {
    switch self {
    case .unknown(let words): return "Nothing in the planner is called “\(words)”."
    }
  }
}
