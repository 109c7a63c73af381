// The catalogue of error codes: the documentation of each is its comment. Codes are only ever added.

// MARK: - Messages and requests

extension ErrorCode {
  /// A body, header, query or cursor does not have the form that the specification gives it.
  public static let malformedMessage = ErrorCode(rawValue: "malformed_message")
  /// A message, change or feed item is of a kind that this version does not know; nothing of it was applied.
  public static let unknownMessageKind = ErrorCode(rawValue: "unknown_message_kind")
  /// The path names nothing, or a store or schema version that does not exist.
  public static let notFound = ErrorCode(rawValue: "not_found")
  /// The path exists, and does not take this method.
  public static let methodNotAllowed = ErrorCode(rawValue: "method_not_allowed")
  /// The body is neither `application/cbor` nor `application/json`, or is compressed with something else than zstd.
  public static let unsupportedMediaType = ErrorCode(rawValue: "unsupported_media_type")
  /// The request has more bytes or more records than the server takes; the limit is in the details.
  public static let requestTooLarge = ErrorCode(rawValue: "request_too_large")
  /// One record has more bytes than a record may have; splitting the request does not help.
  public static let recordTooLarge = ErrorCode(rawValue: "record_too_large")
  /// Too many requests with this token; `Retry-After` says when to go on.
  public static let rateLimited = ErrorCode(rawValue: "rate_limited")
  /// The server is starting, stopping, or has no room for another request.
  public static let unavailable = ErrorCode(rawValue: "unavailable")
  /// Something that should not happen did; the server's log has it under the request id.
  public static let internalFault = ErrorCode(rawValue: "internal")
}

// MARK: - Who may do what

extension ErrorCode {
  /// There is no token, or one that the server does not know.
  public static let unauthorized = ErrorCode(rawValue: "unauthorized")
  /// The token is known, and its role or store does not permit this.
  public static let forbidden = ErrorCode(rawValue: "forbidden")
}

// MARK: - Synchronising

extension ErrorCode {
  /// The store was created without a schema version, and only versioned stores sync.
  public static let storeUnversioned = ErrorCode(rawValue: "store_unversioned")
  /// The store's or the client's schema is none of those that are known here.
  public static let unknownSchema = ErrorCode(rawValue: "unknown_schema")
  /// A schema version is not an additive successor of the one before; every violation is in the details.
  public static let schemaNotAdditive = ErrorCode(rawValue: "schema_not_additive")
  /// The version is registered with another document; the differences are in the details.
  public static let schemaVersionTaken = ErrorCode(rawValue: "schema_version_taken")
  /// The schema breaks a rule that sync demands; every offence is in the details.
  public static let schemaNotSyncable = ErrorCode(rawValue: "schema_not_syncable")
  /// A stamp is too far ahead of the server's clock, or not above its base.
  public static let clockSkew = ErrorCode(rawValue: "clock_skew")
  /// A save does not follow the last one that the server took from this replica.
  public static let saveGap = ErrorCode(rawValue: "save_gap")
  /// A replica wants to upload what an earlier life of the store had, and the server has all of it.
  public static let reuploadNeedless = ErrorCode(rawValue: "reupload_needless")
  /// Another process syncs the store's file at the moment.
  public static let syncUnderWay = ErrorCode(rawValue: "sync_under_way")
  /// Two copies of one replica's file are pushing under one identity.
  public static let copiedReplica = ErrorCode(rawValue: "copied_replica")
  /// The cursor is older than the history that the server keeps; the replica starts from a snapshot.
  public static let cursorExpired = ErrorCode(rawValue: "cursor_expired")
  /// The server was restored, replaced or wiped since this replica last spoke with it.
  public static let otherEpoch = ErrorCode(rawValue: "other_epoch")
  /// Replica and server do not hold the same data at the same position.
  public static let checksumMismatch = ErrorCode(rawValue: "checksum_mismatch")
  /// Replica and server are not at the same position: something is unsent, or not received so far.
  public static let nothingToCompare = ErrorCode(rawValue: "nothing_to_compare")
  /// The store was opened without recording its history, so there is nothing to send.
  public static let historyDisabled = ErrorCode(rawValue: "history_disabled")
  /// The saves that follow a history token were deleted from the store's history.
  public static let historyTokenExpired = ErrorCode(rawValue: "history_token_expired")
  /// The store has no remote to sync with.
  public static let noRemote = ErrorCode(rawValue: "no_remote")
  /// The store has a remote already.
  public static let remoteExists = ErrorCode(rawValue: "remote_exists")
  /// No connection to the server could be made, or it broke off.
  public static let serverUnreachable = ErrorCode(rawValue: "server_unreachable")
  /// The server did not answer in time.
  public static let serverTimeout = ErrorCode(rawValue: "server_timeout")
  /// The server's certificate could not be verified.
  public static let tlsFailure = ErrorCode(rawValue: "tls_failure")
  /// What answered does not speak this protocol.
  public static let unexpectedResponse = ErrorCode(rawValue: "unexpected_response")
  /// The server can be reached and the queue does not get shorter.
  public static let syncStalled = ErrorCode(rawValue: "sync_stalled")
  /// A save was refused for good; it is kept aside with its reason.
  public static let saveParked = ErrorCode(rawValue: "save_parked")
}

// MARK: - Refusals of a save by the server

extension ErrorCode {
  /// A change or a command names an entity that the schema does not have.
  public static let unknownEntity = ErrorCode(rawValue: "unknown_entity")
  /// A change or a command names an attribute that the entity does not have.
  public static let unknownAttribute = ErrorCode(rawValue: "unknown_attribute")
  /// A change or a command names a relationship that the entity does not have.
  public static let unknownRelationship = ErrorCode(rawValue: "unknown_relationship")
  /// There is no record with this identity.
  public static let unknownRecord = ErrorCode(rawValue: "unknown_record")
  /// A record with this identity exists already.
  public static let recordExists = ErrorCode(rawValue: "record_exists")
  /// A save touches a record whose creating save was refused.
  public static let dependsOnRefused = ErrorCode(rawValue: "depends_on_refused")
  /// Another record has this value, and the constraint is declared to reject.
  public static let uniqueViolation = ErrorCode(rawValue: "unique_violation")
  /// A record that others refer to cannot be deleted: the delete rule is `deny`.
  public static let deleteDenied = ErrorCode(rawValue: "delete_denied")
  /// A required reference would be nil.
  public static let requiredReference = ErrorCode(rawValue: "required_reference")
  /// A required attribute has no value.
  public static let requiredAttribute = ErrorCode(rawValue: "required_attribute")
  /// A record would become its own ancestor in a tree declared acyclic.
  public static let cyclicReference = ErrorCode(rawValue: "cyclic_reference")
  /// A to-many relationship has fewer or more members than it is declared to have.
  public static let countOutOfRange = ErrorCode(rawValue: "count_out_of_range")
}

// MARK: - Values

extension ErrorCode {
  /// A floating-point value is NaN, which has no place in a store.
  public static let notANumber = ErrorCode(rawValue: "not_a_number")
  /// An integer does not fit the width of its attribute, or of a signed 64-bit column.
  public static let integerOutOfRange = ErrorCode(rawValue: "integer_out_of_range")
  /// A number is beyond what a float, or a double, can hold.
  public static let floatOutOfRange = ErrorCode(rawValue: "float_out_of_range")
  /// A decimal has more digits than can be kept exactly.
  public static let decimalOutOfRange = ErrorCode(rawValue: "decimal_out_of_range")
  /// A value is not of its attribute's type.
  public static let wrongType = ErrorCode(rawValue: "wrong_type")
  /// A stored value cannot be read as the Swift type of its property.
  public static let undecodableValue = ErrorCode(rawValue: "undecodable_value")
  /// Text is not valid UTF-8, or cannot be read as its attribute's type.
  public static let invalidText = ErrorCode(rawValue: "invalid_text")
}

// MARK: - Schemas

extension ErrorCode {
  /// A schema document has mistakes; each one is in the details with what to write.
  public static let invalidSchema = ErrorCode(rawValue: "invalid_schema")
  /// The store was made with another schema under the same version; the differences are in the details.
  public static let schemaDiffers = ErrorCode(rawValue: "schema_differs")
  /// The store was written by a newer version of the schema or of Tombolo.
  public static let newerStore = ErrorCode(rawValue: "newer_store")
  /// The store has an older schema, and no migration was asked for.
  public static let migrationNeeded = ErrorCode(rawValue: "migration_needed")
  /// A migration could not be carried out; the store is as it was.
  public static let migrationFailed = ErrorCode(rawValue: "migration_failed")
  /// A migration plan has gaps, versions out of order, or stages that do not fit.
  public static let invalidMigrationPlan = ErrorCode(rawValue: "invalid_migration_plan")
  /// A uniqueness constraint cannot be added: records with the same value exist.
  public static let duplicateValues = ErrorCode(rawValue: "duplicate_values")
}

// MARK: - The store's file

extension ErrorCode {
  /// There is a file at the path already.
  public static let storeExists = ErrorCode(rawValue: "store_exists")
  /// There is no store at the path.
  public static let storeMissing = ErrorCode(rawValue: "store_missing")
  /// The file is not an SQLite database.
  public static let notADatabase = ErrorCode(rawValue: "not_a_database")
  /// The file is an SQLite database that belongs to another application.
  public static let foreignDatabase = ErrorCode(rawValue: "foreign_database")
  /// The file is damaged.
  public static let corruptStore = ErrorCode(rawValue: "corrupt_store")
  /// The disk is full; nothing of the transaction was kept.
  public static let diskFull = ErrorCode(rawValue: "disk_full")
  /// The operating system reported a failure to read or write.
  public static let diskFailure = ErrorCode(rawValue: "disk_failure")
  /// The store cannot be written: its file or folder is read-only, or it was opened so.
  public static let readOnlyStore = ErrorCode(rawValue: "read_only_store")
  /// Another connection holds the store longer than the time limit.
  public static let busy = ErrorCode(rawValue: "busy")
  /// SQLite reported an error that has no code of its own here.
  public static let databaseFailure = ErrorCode(rawValue: "database_failure")
  /// The store was closed before this call.
  public static let storeClosed = ErrorCode(rawValue: "store_closed")
}

// MARK: - Models and queries

extension ErrorCode {
  /// A predicate contains a construct that cannot be translated; the message names it.
  public static let unsupportedPredicate = ErrorCode(rawValue: "unsupported_predicate")
  /// A sort order contains a key that cannot be translated.
  public static let unsupportedSort = ErrorCode(rawValue: "unsupported_sort")
  /// A predicate failed while it ran over the records: an overflow, a division by zero, `!` on nil.
  public static let predicateFailed = ErrorCode(rawValue: "predicate_failed")
  /// An SQL expression given to a command is not valid, or does more than read.
  public static let invalidQuery = ErrorCode(rawValue: "invalid_query")
  /// A model type is not part of the container's schema.
  public static let modelNotInSchema = ErrorCode(rawValue: "model_not_in_schema")
  /// A model object was used after its record was deleted.
  public static let deletedModel = ErrorCode(rawValue: "deleted_model")
  /// A model object of one context was given to another.
  public static let otherContext = ErrorCode(rawValue: "other_context")
  /// A part of the API that exists for source compatibility does nothing here.
  public static let unsupportedFeature = ErrorCode(rawValue: "unsupported_feature")
}

// MARK: - Commands and files

extension ErrorCode {
  /// A command was called with arguments that it does not take.
  public static let usage = ErrorCode(rawValue: "usage")
  /// A file cannot be opened or read.
  public static let fileUnreadable = ErrorCode(rawValue: "file_unreadable")
  /// A file cannot be created or written.
  public static let fileUnwritable = ErrorCode(rawValue: "file_unwritable")
  /// A line of an imported file cannot be taken; file, line and column are named.
  public static let badLine = ErrorCode(rawValue: "bad_line")
  /// A name or key fits more than one record.
  public static let ambiguous = ErrorCode(rawValue: "ambiguous")
  /// The work was cancelled before its end; nothing of it was kept.
  public static let cancelled = ErrorCode(rawValue: "cancelled")
  /// Something is larger, deeper or more numerous than its documented limit.
  public static let limitExceeded = ErrorCode(rawValue: "limit_exceeded")
  /// A simulation found a state that must never exist.
  public static let invariantViolated = ErrorCode(rawValue: "invariant_violated")
  /// A file of `tombolo doctor --bundle` is damaged, cut short, or of a later version.
  public static let damagedBundle = ErrorCode(rawValue: "damaged_bundle")
}

// MARK: - The client's own

extension ErrorCode {
  /// A remote's URL is not `http(s)://HOST:PORT/v1/stores/NAME`.
  public static let remoteInvalid = ErrorCode(rawValue: "remote_invalid")
  /// A token is empty, or holds characters that cannot stand in a header.
  public static let tokenInvalid = ErrorCode(rawValue: "token_invalid")
}

// MARK: - The server's own

extension ErrorCode {
  /// The server has no store of this name; an owner's first sync creates it.
  public static let unknownStore = ErrorCode(rawValue: "unknown_store")
  /// A store's name has other characters than letters, digits, `-` and `_`, or is too long.
  public static let invalidStoreName = ErrorCode(rawValue: "invalid_store_name")
  /// The server's data directory cannot be made, read or written.
  public static let dataDirectoryUnusable = ErrorCode(rawValue: "data_directory_unusable")
  /// Another process serves the data directory.
  public static let dataDirectoryLocked = ErrorCode(rawValue: "data_directory_locked")
  /// The address to listen on is taken, or is not one.
  public static let cannotListen = ErrorCode(rawValue: "cannot_listen")
}
