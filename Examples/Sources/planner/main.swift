import EventModels
import SwiftData
import Terminal

let program = Program(
  "planner", "Meetings, trips and birthdays, and who comes.", schema: PlannerV1.self,
  app: { container in Office(container) },
  commands: [
    .init("meet", "TITLE WHEN [--hours N] [--at PLACE] [--about POINT]", "a meeting; WHEN is 2030-03-09T14:00") {
      office, arguments in
      let hours = try arguments.option("hours", as: Double.self) ?? 1
      let place = try arguments.option("at").map { Place(name: $0) }
      let point = try arguments.option("about")
      let meeting = try Meeting(
        title: arguments.next("TITLE"), start: time(arguments.next("WHEN")), hours: hours,
        agenda: point.map { [$0] } ?? [])
      meeting.place = place
      try office.planner.add(meeting)
    },
    .init("travel", "PLACE DAY DAYS [--by train|ferry|car|onFoot] [--budget N]", "a trip") { office, arguments in
      let transport = try arguments.option("by", as: Trip.Transport.self) ?? .train
      let budget = try arguments.option("budget").flatMap { Decimal(string: $0) } ?? 0
      let (place, day) = try (arguments.next("PLACE"), time(arguments.next("DAY")))
      guard let days = Int(try arguments.next("DAYS")), days > 0 else { throw UsageError("DAYS is a number of days.") }
      let trip = Trip(to: place, start: day, days: days, by: transport)
      trip.budget = budget
      try office.planner.add(trip)
    },
    .init("birthday", "NAME DAY", "somebody's birthday") { office, arguments in
      try office.planner.addBirthday(of: arguments.next("NAME"), on: time(arguments.next("DAY")))
    },
    .init("invite", "EVENT NAME…", "who comes to it; EVENT is any part of its title") { office, arguments in
      let event = try office.planner.event(arguments.next("EVENT"))
      try office.planner.invite(arguments.rest(), to: event)
    },
    .init("move", "EVENT WHEN", "to another time, as long as before") { office, arguments in
      try office.planner.move(office.planner.event(arguments.next("EVENT")), to: time(arguments.next("WHEN")))
    },
    .init("cancel", "EVENT", "take it out") { office, arguments in
      try office.planner.cancel(office.planner.event(arguments.next("EVENT")))
    },
    .init("list", "[--only meetings|trips|birthdays] [--from DAY]", "what comes") { office, arguments in
      office.planner.kind = try arguments.option("only", as: Planner.Kind.self) ?? .all
      try office.planner.load(from: arguments.option("from").map(time) ?? .now)
      for event in office.planner.events { print(line(event)) }
      for (first, second, person) in try office.planner.clashes() {
        print("! \(person.name) cannot be at \(first.title) and \(second.title) at once")
      }
    },
    .init("budget", "YEAR", "what the trips of a year may cost") { office, arguments in
      let year = try arguments.next("YEAR")
      print(try office.planner.budget(of: time("\(year)-01-01")...time("\(year)-12-31T23:59")))
    },
    .init("clean", "DAY", "remove what was over by then") { office, arguments in
      print("\(try await office.cleaner.removeEvents(before: time(arguments.next("DAY")))) removed")
    },
  ])

/// What the commands work with.
@MainActor
final class Office {
  let planner: Planner
  let cleaner: Cleaner

  init(_ container: ModelContainer) {
    planner = Planner(container: container)
    cleaner = Cleaner(modelContainer: container)
  }
}

/// Times are typed and shown in UTC, so that a session looks alike everywhere.
func time(_ text: String) throws -> Date {
  let full = text.contains("T") ? text : text + "T00:00"
  guard let date = ISO8601DateFormatter().date(from: full + ":00Z") else {
    throw UsageError("'\(text)' is no time; write 2030-03-09T14:00 or 2030-03-09.")
  }
  return date
}

func line(_ event: Event) -> String {
  let text = ISO8601DateFormatter().string(from: event.start)
  var parts = [text.prefix(16).replacingOccurrences(of: "T", with: " "), event.summary]
  if let place = event.place { parts.append("at \(place.name)") }
  if !event.guests.isEmpty { parts.append("with \(event.guests.map(\.name).sorted().joined(separator: ", "))") }
  return parts.joined(separator: "  ")
}

await program.main()
