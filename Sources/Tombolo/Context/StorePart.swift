import TomboloProtocol

/// One of a container's stores, where the records of some of its models lie.
package final class StorePart: Sendable {
  /// The place among the container's stores.
  let index: Int
  let configuration: ModelConfiguration
  package let store: Store
  /// The store's name in identities and history: the configuration's, which is told apart from another one's.
  let storeIdentifier: String
  /// Plans of fetches made before.
  let fetches = FetchPlanCache()

  init(index: Int, configuration: ModelConfiguration, store: Store, storeIdentifier: String) {
    self.index = index
    self.configuration = configuration
    self.store = store
    self.storeIdentifier = storeIdentifier
  }

  /// - Throws: `read_only_store`.
  func requireWritable() throws {
    guard configuration.allowsSave else { throw ModelErrors.readOnly(configuration.name) }
  }
}

/// What a container is made of, and its contexts hold.
final class ContainerCore: Sendable {
  let schema: Schema
  let migrationPlan: (any SchemaMigrationPlan.Type)?
  /// In the order of the configurations; never empty.
  let parts: [StorePart]
  let plans: ModelPlans
  /// The first store, which is the only one of most containers.
  var store: Store { parts[0].store }

  init(schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)?, parts: [StorePart]) {
    precondition(!parts.isEmpty, "A container has at least one store.")
    self.schema = schema
    self.migrationPlan = migrationPlan
    self.parts = parts
    plans = ModelPlans(schema.descriptions, parts)
  }
}
