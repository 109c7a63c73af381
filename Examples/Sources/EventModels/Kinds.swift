import SwiftData

/// A meeting with points to talk about.
@Model
public final class Meeting: Event {
  public var agenda: [String] = []
  public var minutes: String?

  public init(title: String, start: Date, hours: Double = 1, agenda: [String]) {
    self.agenda = agenda
    super.init(title: title, start: start, hours: hours)
  }

  public override var summary: String {
    agenda.isEmpty ? title : "\(title): \(agenda.joined(separator: "; "))"
  }
}

/// Days away.
@Model
public final class Trip: Event {
  /// How one gets there.
  public enum Transport: String, Codable, CaseIterable {
    case train, ferry, car, onFoot
  }

  public var destination: String
  public var transport: Transport = Transport.train
  public var budget: Decimal = 0

  public init(to destination: String, start: Date, days: Int, by transport: Transport) {
    self.destination = destination
    self.transport = transport
    super.init(title: "Trip to \(destination)", start: start, hours: Double(days) * 24)
  }

  public override var summary: String { "\(title) by \(transport.rawValue), \(Int((hours / 24).rounded())) days" }
}

/// Somebody's birthday; it goes with the person.
@Model
public final class Birthday: Event {
  @Relationship(deleteRule: .nullify, inverse: \Person.birthday) public var person: Person?

  public init(of person: Person, on day: Date) {
    self.person = person
    super.init(title: "Birthday", start: day, hours: 24)
  }

  public override var summary: String { "\(person?.name ?? "Somebody")'s birthday" }
}
