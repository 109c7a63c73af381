import Foundation
import Tombolo
import TomboloClient
import TomboloProtocol

/// Looks for everything that can be wrong between a replica and its server. Only questions are asked.
struct ConnectionExamination {
  private static let clockMillisecondsMax: Int64 = 2_000
  private static let driftMillisecondsMax: Int64 = 300_000

  let store: Store
  let path: String
  let context: CommandContext
  private(set) var findings: [Finding] = []

  /// - Parameter isOffline: looks at what is on this machine only.
  init(_ store: Store, path: String, tokenFile: String?, isOffline: Bool, context: CommandContext) {
    self.store = store
    self.path = path
    self.context = context
    do {
      guard let state = try store.replicaState() else {
        findings.append(
          Finding(
            .notice, .remote, "The store has no server.",
            remedy: "tombolo remote add \(path) http://HOST:PORT/v1/stores/NAME --token-file FILE names one."))
        return
      }
      findings.append(Finding(.fine, .remote, "The store syncs with \(state.remoteURL)."))
      guard let token = checkToken(tokenFile ?? state.tokenFile), !isOffline else { return }
      try examine(state, token)
    } catch let error as TomboloError {
      findings.append(Finding(.problem, .remote, error.message, remedy: error.remedy))
    } catch {
      findings.append(Finding(.problem, .remote, "The connection cannot be examined: \(error)."))
    }
  }

  private mutating func checkToken(_ file: String?) -> String? {
    guard let file else {
      findings.append(
        Finding(
          .notice, .token, "No token file is named in the store, so nothing was asked of the server.",
          remedy: "An app hands its token to the synchronizer; here give one with --token-file FILE."))
      return nil
    }
    do {
      let token = try TokenFile.read(file)
      let rights = try? FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
      if let rights, rights.intValue & 0o077 != 0 {
        findings.append(
          Finding(
            .warning, .token, "Others on this machine may read the token file \(file).", remedy: "chmod 600 \(file)"))
      }
      return token
    } catch let error as TomboloError {
      findings.append(Finding(.problem, .token, error.message, remedy: error.remedy))
    } catch {
      findings.append(Finding(.problem, .token, "The token file \(file) cannot be read."))
    }
    return nil
  }

  // MARK: The server

  private mutating func examine(_ state: ReplicaState, _ token: String) throws {
    let access = try ServerAccess(url: state.remoteURL, token: token, context: context)
    guard checkServer(access) else { return }
    let description: JSONValue
    do {
      description = try access.json("GET", "")
    } catch let error as TomboloError {
      let isFirst = error.code == .unknownStore && state.epoch == nil
      findings.append(
        Finding(
          isFirst ? .notice : .problem, error.code == .unknownStore ? .epoch : .token, error.message,
          remedy: isFirst ? "The owner's first sync creates it." : error.remedy))
      return
    }
    checkRole(description, state)
    let isSameEpoch = checkEpoch(description, state)
    try checkSchema(access)
    if isSameEpoch { checkChecksum(access, description, state) }
  }

  /// - Returns: whether there is one to ask further.
  private mutating func checkServer(_ access: ServerAccess) -> Bool {
    do {
      let capabilities = try access.publicJSON("/v1")
      guard capabilities["service"] == .string("tombolod"), capabilities["protocol"] == .integer(1) else {
        findings.append(
          Finding(
            .problem, .server, "What answers at the remote's URL is no tombolod of protocol version 1.",
            remedy: "Check the URL, what stands in between, and the server's version."))
        return false
      }
      findings.append(Finding(.fine, .server, "The server answers."))
      if case .integer(let time)? = try access.publicJSON("/v1/health")["time"] {
        checkClock(time - Int64(clamping: context.clock.milliseconds()))
      }
      return true
    } catch let error as TomboloError {
      findings.append(Finding(.problem, .server, error.message, remedy: error.remedy))
      return false
    } catch {
      findings.append(Finding(.problem, .server, "The server's answer cannot be read: \(error)."))
      return false
    }
  }

  private mutating func checkClock(_ offset: Int64) {
    guard abs(offset) > Self.clockMillisecondsMax else { return }
    findings.append(
      Finding(
        abs(offset) > Self.driftMillisecondsMax ? .warning : .notice, .clock,
        "This machine's clock is \(abs(offset) / 1_000) s \(offset > 0 ? "behind" : "ahead of") the server's.",
        remedy: "Set one of them. The replica corrects its stamps by what it measures."))
  }

  private mutating func checkRole(_ description: JSONValue, _ state: ReplicaState) {
    findings.append(Finding(.fine, .token, "The server takes the token."))
    guard case .string(let role)? = description["role"] else { return }
    if role == "reader", state.unsent > 0 {
      findings.append(
        Finding(
          .problem, .role, "The token permits reading only, and \(state.unsent) saves wait to be sent.",
          remedy: "Use a writer's or an owner's token: tombolo remote add \(path) URL --token-file FILE."))
    } else {
      findings.append(Finding(.fine, .role, "The token is \(role == "owner" ? "an" : "a") \(role)'s."))
    }
  }

  private mutating func checkEpoch(_ description: JSONValue, _ state: ReplicaState) -> Bool {
    guard case .string(let text)? = description["epoch"], let number = UInt64(text, radix: 16),
      case .integer(let position)? = description["position"]
    else { return false }
    if let known = state.epoch, known.rawValue != number {
      findings.append(
        Finding(
          .problem, .epoch,
          "The server's store is not the one that this replica last spoke with: it was restored, replaced or wiped.",
          remedy: "Nothing is sent until you decide: see 'tombolo sync --help'."))
      return false
    }
    let own = Int64(clamping: state.cursor?.position.rawValue ?? 0)
    if position < own {
      findings.append(
        Finding(
          .problem, .epoch, "The server is at position \(position), and this replica has received up to \(own).",
          remedy:
            "The server lost data: a file was copied back. Restore it from a newer backup, or see 'tombolo sync --help'."
        ))
      return false
    }
    findings.append(
      position == own
        ? Finding(.fine, .epoch, "Everything that the server has is received.")
        : Finding(
          .notice, .epoch, "\(position - own) saves of the server are not received so far.",
          remedy: "tombolo sync \(path) receives them."))
    return true
  }

  private mutating func checkSchema(_ access: ServerAccess) throws {
    guard let version = store.schema.document.version else { return }
    let latest: SchemaDocument
    do {
      latest = try access.latestSchema()
    } catch let error as TomboloError {
      findings.append(
        Finding(.notice, .serverSchema, error.message, remedy: "The first sync registers this store's schema."))
      return
    }
    guard let theirs = latest.version else { return }
    if theirs > version {
      findings.append(
        Finding(
          .notice, .serverSchema, "The server knows schema version \(theirs), and this store has \(version).",
          remedy: "What only the newer version knows is set aside until the program is upgraded."))
      return
    }
    let refused = SchemaEvolution.check(from: latest, to: store.schema.document).filter { $0.verdict == .refused }
    if !refused.isEmpty {
      findings.append(
        Finding(
          .problem, .serverSchema,
          "This store's schema \(version) is no additive successor of the server's \(theirs): "
            + refused.prefix(3).map(\.detail.text).joined(separator: " "),
          remedy: "'tombolo schema diff' shows each violation. The store works on, and does not sync."))
    } else {
      findings.append(
        Finding(
          .fine, .serverSchema,
          theirs == version
            ? "The server knows this schema version."
            : "The next sync registers \(version) after the server's \(theirs)."))
    }
  }

  private mutating func checkChecksum(_ access: ServerAccess, _ description: JSONValue, _ state: ReplicaState) {
    guard let cursor = state.cursor, state.unsent == 0,
      description["position"] == .integer(Int64(clamping: cursor.position.rawValue))
    else { return }
    do {
      let theirs = try access.checksum(after: cursor, of: store, state)
      if theirs == (try store.checksum()) {
        findings.append(Finding(.fine, .serverChecksum, "This replica and the server hold the same."))
      } else {
        findings.append(
          Finding(
            .problem, .serverChecksum, "This replica and the server differ although all is exchanged.",
            remedy: "Copy the file for whoever looks into it, then sync; if it stays, clone anew."))
      }
    } catch let error as TomboloError where error.code == .nothingToCompare {
      // Somebody was faster: the server has moved on meanwhile.
      return
    } catch {
      findings.append(Finding(.warning, .serverChecksum, "The checksums could not be compared."))
    }
  }
}
