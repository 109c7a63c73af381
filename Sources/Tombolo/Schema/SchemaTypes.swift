package import TomboloProtocol

extension Schema {
  /// The number of a schema version, as 1.2.0.
  public struct Version: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The first number.
    public let major: Int
    /// The second number.
    public let minor: Int
    /// The third number.
    public let patch: Int
    /// A version of three numbers, none of them negative.
    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }
    /// Orders by the numbers, the first one first.
    public static func < (a: Version, b: Version) -> Bool {
      (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
    }
    /// The numbers with points between.
    public var description: String { "\(major).\(minor).\(patch)" }
    package var number: SchemaVersion { SchemaVersion(major, minor, patch) }
  }
}

extension Schema.Attribute {
  /// What an attribute is besides its type.
  public struct Option: Hashable, Sendable {
    package let name: String
    package let merge: MergePolicy?
    /// The name of a value transformer.
    let transformer: String?
    init(_ name: String, merge: MergePolicy? = nil, transformer: String? = nil) {
      self.name = name
      self.merge = merge
      self.transformer = transformer
    }
    /// No two records have one value; an insert that matches updates the record. Nil never collides.
    public static let unique = Option("unique")
    /// A `Data` value of more than 100 000 bytes lies outside of its record's row, and is read when it is asked for. It is
    /// written and deleted with the record, in the same transaction.
    public static let externalStorage = Option("externalStorage")
    /// Accepted for source compatibility.
    public static let allowsCloudEncryption = Option("allowsCloudEncryption")
    /// History keeps the value of a deleted record.
    public static let preserveValueOnDeletion = Option("preserveValueOnDeletion")
    /// In no store: tracked and observed as any attribute, with its default value again after a fetch.
    public static let ephemeral = Option("ephemeral")
    /// The words of a `String` are indexed: ``ModelContext/search(_:_:limit:offset:)`` finds them.
    public static let spotlight = Option("spotlight")
    /// The value is stored as JSON.
    public static let codable = Option("codable")
    /// The value is stored as the data that a ``ValueTransformer`` makes of it; the property's type may be any.
    public static func transformable(by transformerName: String) -> Option {
      Option("transformable", transformer: transformerName)
    }
    /// The same, with the transformer's class, which is registered under its name if it is not yet.
    public static func transformable(by transformer: ValueTransformer.Type) -> Option {
      let name = String(describing: transformer)
      if ValueTransformer.registered(NSValueTransformerName(name)) == nil {
        ValueTransformer.setValueTransformer(transformer.init(), forName: NSValueTransformerName(name))
      }
      return transformable(by: name)
    }
    /// How concurrent writes merge. Beyond SwiftData: a file that uses it does not compile on Apple's platforms.
    public static func merge(_ policy: Policy) -> Option { Option("merge", merge: policy.merge) }

    /// How concurrent writes of one attribute merge.
    public enum Policy: Hashable, Sendable {
      /// Every difference counts once: between replicas, and between contexts and processes on one store. A save adds
      /// what was added to the value that the object showed, and the object shows the sum.
      case counter
      /// The greatest value stands.
      case max
      /// The smallest value stands.
      case min
      /// The value that was written first stands.
      case firstWriter

      var merge: MergePolicy {
        switch self {
        case .counter: .counter
        case .max: .max
        case .min: .min
        case .firstWriter: .firstWriter
        }
      }
    }
  }
}

extension Schema.Relationship {
  /// What a relationship is besides its destination.
  public struct Option: Hashable, Sendable {
    private let name: String
    private init(_ name: String) { self.name = name }
    /// Accepted for source compatibility.
    public static let unique = Option("unique")
    /// A to-many whose array has one order, saved and synced: whoever is added comes to the end, whoever is moved, inserted
    /// or sorted stays there. Its inverse is a to-one. Beyond SwiftData.
    ///
    /// ```swift
    /// @Relationship(.ordered, inverse: \Song.playlist) var songs: [Song] = []
    /// ```
    ///
    /// Blocks that two replicas insert at one place lie side by side; of two moves of one member the later stands, and
    /// the other is a conflict. Moving writes only what moved. A change other than appending reads the list at the next save.
    public static let ordered = Option("ordered")
    /// A to-one to the class itself that never closes a cycle. Beyond SwiftData.
    public static let acyclic = Option("acyclic")
  }

  /// What becomes of a record's partners when it is deleted.
  public enum DeleteRule: String, Hashable, Codable, Sendable, CaseIterable {
    /// The partners stay as they are, their references with them.
    case noAction
    /// The partners' references become nil.
    case nullify
    /// The partners are deleted as well.
    case cascade
    /// The deletion is refused as long as there are partners.
    case deny

    package init(_ rule: TomboloProtocol.DeleteRule) {
      switch rule {
      case .noAction: self = .noAction
      case .nullify: self = .nullify
      case .cascade: self = .cascade
      case .deny: self = .deny
      }
    }
    package var rule: TomboloProtocol.DeleteRule {
      switch self {
      case .noAction: .noAction
      case .nullify: .nullify
      case .cascade: .cascade
      case .deny: .deny
      }
    }
  }
}
