import Foundation
import TomboloProtocol
import TomboloSQLite

/// The plans of fetches that were made before, by their shape: a repeated fetch only binds its values.
final class FetchPlanCache: Sendable {
  /// One kept plan.
  final class Entry: Sendable {
    let plan: FetchPlan
    /// The whole statement.
    let select: String
    /// By which a connection keeps the prepared statement.
    let number = StatementNumber.next()
    /// What was known of the text columns when the plan was made.
    let texts: [TextColumn]

    init(plan: FetchPlan, select: String, texts: [TextColumn]) {
      self.plan = plan
      self.select = select
      self.texts = texts
    }

    /// The prepared statement with a fetch's own values.
    func statement(_ arguments: [Value], on connection: Connection) throws -> Statement {
      do {
        let statement = try connection.numbered(number) { select }
        for index in arguments.indices { statement.bind(arguments[index], at: Int32(index + 1)) }
        return statement
      } catch {
        throw QueryFailure.translated(error)
      }
    }
  }

  /// A text column that a plan asked about.
  struct TextColumn: Sendable {
    var table: String
    var column: String
    var isComposed: Bool
  }

  /// An application has few shapes; where it has more than this many, all are made anew.
  private static let countMax = 500
  private let entries = Guarded<[PlanShape: Entry]>([:])

  /// The plan of a shape, unless columns that it compares hold text in other forms by now.
  func entry(_ shape: PlanShape, textForms: (() -> TextForms)? = nil) -> Entry? {
    guard let entry = entries.withLock({ $0[shape] }) else { return nil }
    if entry.texts.isEmpty { return entry }
    guard let forms = textForms?() else { return nil }
    let isCurrent = entry.texts.allSatisfy {
      forms.isComposed(table: $0.table, column: $0.column) == $0.isComposed
    }
    return isCurrent ? entry : nil
  }

  /// Keeps a plan, if it binds just what its shape says.
  func keep(_ plan: FetchPlan, select: String, _ shape: PlanShape, _ texts: [TextColumn]) {
    guard plan.arguments == shape.arguments else { return }
    let entry = Entry(plan: plan, select: select, texts: texts)
    entries.withLock { entries in
      if entries.count >= Self.countMax { entries.removeAll() }
      entries[shape] = entry
    }
  }
}
