import TomboloClient
import TomboloProtocol

/// I14: no request and no page is larger than its limit, but for a single save or what a single save redelivers.
struct BoundsChecker {
  let options: SyncEngine.Options
  /// Items that one save may bring to a page that was not full before it.
  private static let itemsOfASaveMax = 400

  func check(_ request: TransportRequest) throws {
    let limits = options.limits
    guard request.body.count <= limits.bodyBytesMax else {
      throw SimulationFailure(.bounds, "a request has \(request.body.count) bytes")
    }
    guard let push = SimulationRun.push(in: request), push.changeSets.count > 1 else { return }
    let records = push.changeSets.reduce(0) { $0 + $1.changes.count }
    guard records <= limits.recordsMax else {
      throw SimulationFailure(.bounds, "a push has \(records) changes; its limit is \(limits.recordsMax)")
    }
  }

  func check(_ page: Page, to request: TransportRequest) throws {
    guard page.items.count <= options.limits.pageItemsMax + Self.itemsOfASaveMax else {
      throw SimulationFailure(
        .bounds, "a page has \(page.items.count) items; its limit is \(options.limits.pageItemsMax)")
    }
  }
}
