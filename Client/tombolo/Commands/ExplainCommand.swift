import Tombolo
import TomboloClient
import TomboloProtocol

/// `tombolo explain STORE ENTITY ID`
package struct ExplainCommand: Command {
  static let server = CommandOption.flag("server", help: "Ask the server too what it has.")
  static let tokenFile = CommandOption.text(
    "token-file", "FILE", help: "Another token than the one that was named with the remote.")

  package static let declaration = CommandDeclaration(
    "explain", summary: "Say why a record is, or is not, what and where one expects",
    discussion:
      "Whether it lives here, who wrote each value and when, what is pending, parked, hidden, set aside or overridden, and\n"
      + "by whom it was deleted. Without --server nothing is sent. Exit status 1 for a record that is not shown.",
    operands: [Shared.store, Shared.entity, Shared.identifier],
    options: [server.declaration, tokenFile.declaration, Shared.json.declaration])

  let store: String
  let entity: String
  let identifier: String
  let asksServer: Bool
  let tokenFile: String?
  let isJSON: Bool

  package init(_ arguments: ParsedArguments) throws {
    store = arguments["STORE"]
    entity = arguments["ENTITY"]
    identifier = arguments["ID"]
    asksServer = try arguments.value(Self.server)
    tokenFile = try arguments.value(Self.tokenFile)
    isJSON = try arguments.value(Shared.json)
  }

  package func run(in context: CommandContext) throws {
    let store = try context.open(store, readOnly: true)
    let plan = try RecordAccess.entity(entity, in: store.schema)
    let facts = try self.facts(in: store, plan)
    let answer = asksServer ? try ask(about: facts, store, context) : nil
    let known = facts.entity.flatMap(store.schema.entity) ?? plan
    let explanation = RecordExplanation(
      facts, asked: plan, name: try RecordNaming(store).name(of: facts.standing, entity: known.name),
      schema: store.schema, path: self.store, server: answer)
    if isJSON { context.output.json(explanation.json) } else { explanation.show(in: context.output) }
    if !facts.isShown { throw CommandStatus.negative }
  }

  /// - Throws: `unknown_record` for what is no identifier, `ambiguous`.
  private func facts(in store: Store, _ plan: EntityPlan) throws -> RecordFacts {
    let bounds = try RecordAccess.bounds(identifier)
    let ids = try store.knownIdentities(from: bounds.lowerBound, through: bounds.upperBound, limit: 20)
    let all = try ids.map { try store.facts(about: $0) }
    let fitting = all.filter { facts in facts.entity.map { plan.concreteNames.contains($0) } ?? true }
    if let only = fitting.count == 1 ? fitting.first : all.count == 1 ? all.first : nil { return only }
    if all.isEmpty {
      guard bounds.lowerBound == bounds.upperBound else {
        throw TomboloError(
          .unknownRecord, "This replica has never heard of a record whose identifier begins with \(identifier).",
          remedy: "Give all 32 digits to ask about a record that may be elsewhere.")
      }
      return try store.facts(about: bounds.lowerBound)
    }
    throw TomboloError(
      .ambiguous, "More than one record has an identifier that begins with \(identifier).",
      remedy: "Give more of its digits.")
  }

  private func ask(about facts: RecordFacts, _ store: Store, _ context: CommandContext) throws -> ServerAnswer {
    do {
      let access = try ServerAccess(of: store, tokenFile: tokenFile, context: context)
      let items = try access.records([facts.id])
      return ServerAnswer(record: .success(ServerRecord(items.first)), replicas: try access.replicaNames())
    } catch let error as TomboloError {
      return ServerAnswer(record: .failure(error))
    }
  }
}
