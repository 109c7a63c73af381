internal import Foundation
import TomboloProtocol

extension Service {
  /// `POST …/reupload`: one part of what a replica has of an earlier life of the store.
  ///
  /// The last part takes all of them, in one transaction.
  func reupload(_ request: ServiceRequest, token: TokenRecord) throws -> ResponseBody {
    guard token.role.mayPush else { throw TomboloError.forbidden(token.role, to: "re-upload") }
    let upload = try ReuploadRequest(decoding: request.body, as: try WireFormat(ofBodyIn: request))
    let file = try store(of: token)
    let introduction = upload.introduction
    guard try file.knowsSchema(introduction.schemaVersion), let schema = file.registry.merged else {
      throw TomboloError.schemaUnknown(introduction.schemaVersion.description)
    }
    guard upload.items.count <= options.limits.pageItemsMax else {
      throw TomboloError.pushTooLarge(changes: upload.items.count, limit: options.limits.pageItemsMax)
    }
    return .message(try file.transaction { try file.take(upload, token: token, schema: schema) }, for: request)
  }

  /// Begins a new life of a store: after its file was put back from a backup. Replicas stop until their people say
  /// whether to upload what they have.
  /// - Throws: `unknown_store`.
  package func beginEpoch(store name: String) throws {
    try lock.withLock {
      guard let file = try store(named: name) else { throw TomboloError.storeUnknown(name) }
      try file.beginEpoch()
    }
  }

  /// The names of all stores.
  package func storeNames() throws -> [String] { try lock.withLock { try control.storeNames() } }
}
