package import TomboloProtocol

/// The errors that end a sync, each with what to do about it.
package enum SyncFailure {
  package static func unversioned(_ name: String) -> TomboloError {
    TomboloError(
      .storeUnversioned, "The store's schema '\(name)' has no version, and an unversioned store never syncs.",
      remedy:
        "For a store at hand: tombolo schema adopt STORE --version 1.0.0. For an app: make two releases: the first declares a VersionedSchema that is exactly what shipped, and nothing else, so that "
        + "every store is adopted as that version; only the second may change the schema.")
  }

  static var noRemote: TomboloError {
    TomboloError(
      .noRemote, "The store has no remote to sync with.",
      remedy: "Add one: tombolo remote add STORE http://HOST:PORT/v1/stores/NAME --token-file FILE.")
  }

  /// - Parameter server: scheme, host and port of the server that was tried.
  static func transport(_ failure: TransportFailure, at server: String) -> TomboloError {
    switch failure.kind {
    case .unreachable, .lost:
      TomboloError(
        .serverUnreachable, "The server at \(server) cannot be reached: \(failure.reason).",
        remedy: "Check the network and the remote's URL; what is unsent stays here and is sent next time.",
        isRetryable: true)
    case .timedOut:
      TomboloError(
        .serverTimeout, "The server at \(server) did not answer in time.",
        remedy: "Try again later; what is unsent stays here and is sent next time.", isRetryable: true)
    case .insecure:
      TomboloError(
        .tlsFailure, "The identity of the server at \(server) cannot be verified: \(failure.reason).",
        remedy: "Check the server's certificate and this machine's clock.")
    case .answerTooLarge:
      TomboloError(
        .unexpectedResponse, "The answer of the server at \(server) is larger than a client takes.",
        remedy: "Check that the URL is a tombolod's.")
    case .interrupted:
      stopped
    case .impossible:
      TomboloError(
        .unexpectedResponse, "The request could not be made: \(failure.reason).", remedy: "Check the remote's URL.")
    }
  }

  static var stopped: TomboloError {
    TomboloError(
      .cancelled, "The sync was stopped; what was done so far is kept.", remedy: "Sync again to go on.",
      isRetryable: true)
  }

  static func stalled(_ reason: String) -> TomboloError {
    TomboloError(
      .syncStalled, "The server can be reached and nothing gets through: \(reason).",
      remedy: "Look at the server's log; what is unsent stays here.", isRetryable: true)
  }

  static var epochChanged: TomboloError {
    TomboloError(
      .otherEpoch,
      "The server's store is not the one that this replica last spoke with: it was restored, replaced or wiped.",
      remedy:
        "Nothing was sent or changed. Decide what is right: 'tombolo sync STORE --reupload' (Synchronizer.reupload()) "
        + "gives the server what this replica has; 'tombolo sync STORE --reset' (Synchronizer.reset()) takes what the "
        + "server has. Both keep what is unsent, and send it.")
  }

  static var unauthorized: TomboloError {
    TomboloError(
      .unauthorized, "The server does not accept the token.",
      remedy:
        "Ask the server's owner for a new one (tombolod token create), write it into the token file and sync again; "
        + "nothing was lost.")
  }

  static func mayNotPush(_ error: TomboloError) -> TomboloError {
    TomboloError(
      .forbidden,
      "The token does not permit writing, so this replica's changes stay here; what others wrote was pulled.",
      remedy: "Use a writer's or an owner's token. The server said: \(error.message)", details: error.details)
  }

  static func mayNotCreate(_ store: String) -> TomboloError {
    TomboloError(
      .forbidden, "The server has no store '\(store)' yet, and this token may not create it.",
      remedy: "Let the owner sync first, or use an owner's token.")
  }

  static var notTombolo: TomboloError {
    TomboloError(
      .unexpectedResponse, "What answered does not speak Tombolo's protocol.",
      remedy: "Check the remote's URL, and whether a proxy or a sign-in page stands in between.")
  }

  static func unreadable(_ error: TomboloError) -> TomboloError {
    guard error.code == .malformedMessage else { return error }
    return TomboloError(
      .unexpectedResponse, "The server's answer cannot be read: \(error.message)",
      remedy: "Check that the client and the server are of one version, and what stands in between.")
  }

  static func status(_ status: Int) -> TomboloError {
    switch status {
    case 300...399:
      TomboloError(
        .unexpectedResponse, "The server answered with a redirection (\(status)), which is never followed.",
        remedy: "Give the remote the URL that the server really has.")
    case 401: unauthorized
    case 403: TomboloError(.forbidden, "The server refused the request.", remedy: "Use another token.")
    case 404:
      TomboloError(
        .notFound, "The server has nothing at the remote's URL.", remedy: "Check the URL and the store's name.")
    case 413:
      withRemedy(TomboloError(.requestTooLarge, "The request is larger than the server, or a proxy before it, takes."))
    case 429:
      TomboloError(
        .rateLimited, "The server asks this client to slow down.", remedy: "Try again later.", isRetryable: true)
    case 500...599:
      TomboloError(
        .unavailable, "The server cannot answer now (status \(status)).", remedy: "Try again later.", isRetryable: true)
    default:
      TomboloError(
        .unexpectedResponse, "The server answered with status \(status).", remedy: "Check the remote's URL.")
    }
  }

  /// The error that a body carries, or one for the bare status.
  static func error(in response: TransportResponse) -> TomboloError {
    if let format = response.headers["content-type"].flatMap({ WireFormat(mediaType: $0) }),
      let carried = try? WireError(decoding: response.body, as: format)
    {
      return carried.error.code == .unauthorized ? unauthorized : withRemedy(carried.error)
    }
    return status(response.status)
  }

  /// The server's error with a remedy for those at this end, where it named none of use to them.
  static func withRemedy(_ error: TomboloError) -> TomboloError {
    // What a server says of a request's size is for whoever makes requests: a sync has made them as small as they get.
    guard error.remedy.isEmpty || error.code == .requestTooLarge else { return error }
    var error = error
    switch error.code {
    case .requestTooLarge:
      error.remedy =
        "Raise the limit (tombolod serve --request-bytes and --push-records), or that of a proxy in between, and sync "
        + "again; nothing was lost."
    case .malformedMessage, .unknownMessageKind:
      error.remedy =
        "Check that this program and the server are of one version ('tombolo --version', 'tombolod --version'), and that "
        + "nothing in between changes what is sent."
    case .schemaNotAdditive:
      error.remedy =
        "Keep what is there and add beside it; 'tombolo schema diff OLD NEW' shows each violation. This replica keeps "
        + "working locally and loses nothing."
    case .schemaVersionTaken: error.remedy = "Give the changed schema a new version number."
    case .schemaNotSyncable, .invalidSchema: error.remedy = "Mend the schema; 'tombolo schema lint' names each offence."
    case .forbidden: error.remedy = "Use a token with the role that this needs."
    default: error.remedy = error.isRetryable ? "Try again later." : "Check the server's version and its log."
    }
    return error
  }
}
