public import Foundation

/// Where a container keeps its data, and how.
public struct ModelConfiguration: Identifiable, Hashable, Sendable {
  /// Whose rules a schema has to keep to. Nothing here talks to CloudKit.
  public struct CloudKitDatabase: Hashable, Sendable {
    let isStrict: Bool
    /// The same as ``none`` here.
    public static let automatic = CloudKitDatabase(isStrict: false)
    /// Tombolo's own rules.
    public static let none = CloudKitDatabase(isStrict: false)
    /// The strict rules that CloudKit demands of a schema, so that they can be checked on any platform.
    public static func `private`(_ name: String) -> CloudKitDatabase { CloudKitDatabase(isStrict: true) }
  }

  /// Accepted for source compatibility: there are no group containers here.
  public struct GroupContainer: Hashable, Sendable {
    private let name: String?
    /// No group.
    public static let automatic = GroupContainer(name: nil)
    /// No group.
    public static let none = GroupContainer(name: nil)
    /// A group by its name, which has no effect.
    public static func identifier(_ name: String) -> GroupContainer { GroupContainer(name: name) }
  }

  /// The name; the file is called `NAME.store` where no URL was given.
  public let name: String
  /// The store's file. In memory, it only tells stores apart.
  public let url: URL
  /// The models whose records lie in this configuration's store, with what relationships and base classes tie to them; nil for
  /// all of the container's that no other configuration has. A container's only configuration has all models.
  public let schema: Schema?
  /// Whether everything is gone when the container goes.
  public let isStoredInMemoryOnly: Bool
  /// Whether a context may save.
  public let allowsSave: Bool
  /// Accepted for source compatibility.
  public let groupContainer: GroupContainer
  /// Whose rules the schema has to keep to.
  public let cloudKitDatabase: CloudKitDatabase
  /// Whether each save is recorded as a change set, which sync and history need. Beyond SwiftData.
  public let recordsHistory: Bool

  /// The store's file.
  public var id: URL { url }

  /// A configuration with the default file, `$XDG_DATA_HOME/<executable>/default.store`, or in memory.
  public init(
    _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
    groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic,
    recordsHistory: Bool = true
  ) {
    let name = name ?? "default"
    self.init(
      name: name, schema: schema,
      url: isStoredInMemoryOnly
        ? URL(fileURLWithPath: "/dev/null/\(IdentifierSource.next())")
        : Self.defaultFolder.appendingPathComponent("\(name).store"),
      isStoredInMemoryOnly: isStoredInMemoryOnly, allowsSave: allowsSave, groupContainer: groupContainer,
      cloudKitDatabase: cloudKitDatabase, recordsHistory: recordsHistory)
  }

  /// A configuration with that file.
  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
    cloudKitDatabase: CloudKitDatabase = .automatic, recordsHistory: Bool = true
  ) {
    self.init(
      name: name ?? url.deletingPathExtension().lastPathComponent, schema: schema, url: url,
      isStoredInMemoryOnly: false,
      allowsSave: allowsSave, groupContainer: .automatic, cloudKitDatabase: cloudKitDatabase,
      recordsHistory: recordsHistory)
  }

  /// A configuration for some models, with the default file or in memory.
  @_disfavoredOverload
  public init(for types: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(schema: Schema(types), isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  private init(
    name: String, schema: Schema?, url: URL, isStoredInMemoryOnly: Bool, allowsSave: Bool,
    groupContainer: GroupContainer, cloudKitDatabase: CloudKitDatabase, recordsHistory: Bool
  ) {
    self.name = name
    self.schema = schema
    self.url = url
    self.isStoredInMemoryOnly = isStoredInMemoryOnly
    self.allowsSave = allowsSave
    self.groupContainer = groupContainer
    self.cloudKitDatabase = cloudKitDatabase
    self.recordsHistory = recordsHistory
  }

  /// `$XDG_DATA_HOME/<executable>`, or `~/.local/share/<executable>` (XDG Base Directory Specification).
  private static var defaultFolder: URL {
    let environment = ProcessInfo.processInfo.environment
    let base: URL
    if let home = environment["XDG_DATA_HOME"], home.hasPrefix("/") {
      base = URL(fileURLWithPath: home, isDirectory: true)
    } else {
      base = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share", isDirectory: true)
    }
    let program = URL(fileURLWithPath: CommandLine.arguments.first ?? "tombolo").lastPathComponent
    return base.appendingPathComponent(program.isEmpty ? "tombolo" : program, isDirectory: true)
  }
}
