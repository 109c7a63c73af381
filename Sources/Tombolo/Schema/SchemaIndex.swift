extension Schema {
  /// The indexes of a model, and the kinds that ``Index(_:)`` takes.
  public struct Index<Model: PersistentModel> {
    /// The key paths of each index.
    public let indices: [[PartialKeyPath<Model>]]
    /// Ordinary indexes.
    public init(_ indices: [PartialKeyPath<Model>]...) { self.indices = indices }
    /// Indexes of given kinds.
    public init(_ indices: Types<Model>...) { self.indices = indices.map(\.paths) }

    /// One index: its kind and its attributes.
    public struct Types<Root: PersistentModel> {
      package let paths: [PartialKeyPath<Root>]
      package let isTree: Bool
      /// An ordinary index, for equality, ranges and order.
      public static func binary(_ paths: [PartialKeyPath<Root>]) -> Self { Self(paths: paths, isTree: false) }
      /// An index for ranges in up to five dimensions, of numbers and dates: a predicate that bounds them
      /// (`$0.latitude >= south && $0.latitude < north && …`) finds its records through it.
      public static func rtree(_ paths: [PartialKeyPath<Root>]) -> Self { Self(paths: paths, isTree: true) }
    }
  }

  /// The unique constraints of a model.
  public struct Unique<Model: PersistentModel> {
    /// The key paths of each constraint.
    public let constraints: [[PartialKeyPath<Model>]]
    /// Constraints, each over attributes that are unique together.
    public init(_ constraints: [PartialKeyPath<Model>]...) { self.constraints = constraints }
  }
}
