/// The error type under SwiftData's name: ``TomboloError``, which carries its reason and what to do about it.
///
/// SwiftData's members are patterns. A thrown error matches one in a `catch` clause or a `case`, but is not equal to it,
/// since it says more:
///
/// ```swift
/// do {
///   books = try context.fetch(descriptor)
/// } catch SwiftDataError.unsupportedPredicate {
///   books = []
/// } catch let error as SwiftDataError {
///   print(error.message, error.remedy)
/// }
/// ```
public typealias SwiftDataError = TomboloError

extension TomboloError {
  /// A container could not be opened, for any reason.
  public static let loadIssueModelContainer = TomboloError(.databaseFailure, "A container could not be opened.")
  /// A predicate has a construct that SQL cannot answer.
  public static let unsupportedPredicate = TomboloError(.unsupportedPredicate, "A predicate cannot become SQL.")
  /// A sort descriptor names something that SQL cannot order by.
  public static let unsupportedSortDescriptor = TomboloError(.unsupportedSort, "A sort descriptor cannot become SQL.")
  /// A key path leads to no persisted property.
  public static let unsupportedKeyPath = TomboloError(.unknownAttribute, "A key path is no persisted property.")
  /// A value, count, key or reference is not one that the model may have.
  public static let modelValidationFailure = TomboloError(.requiredAttribute, "A model is not valid.")
  /// An object is in no context, or in another one.
  public static let missingModelContext = TomboloError(.otherContext, "An object is not in this context.")
  /// A schema is none that the store knows.
  public static let unknownSchema = TomboloError(.unknownSchema, "A schema is not known.")
  /// The store's schema is newer than the container's.
  public static let backwardMigration = TomboloError(.newerStore, "A store is newer than the schema.")
  /// Two configurations name one store, or one model.
  public static let duplicateConfiguration = TomboloError(.ambiguous, "Two configurations are for the same.")
  /// A configuration has models that the container does not have.
  public static let configurationSchemaNotFoundInContainerSchema = TomboloError(
    .modelNotInSchema, "A configuration has models that the container does not have.")
  /// A configuration's name cannot be a file's.
  public static let configurationFileNameContainsInvalidCharacters = TomboloError(
    .fileUnwritable, "A configuration's name cannot be a file's name.")
  /// A configuration's name is too long for a file's.
  public static let configurationFileNameTooLong = TomboloError(.fileUnwritable, "A configuration's name is too long.")
  /// History that a token refers to was deleted.
  public static let historyTokenExpired = TomboloError(.historyTokenExpired, "A history token has expired.")
  /// History was asked for in a way that it cannot answer.
  public static let invalidTransactionFetchRequest = TomboloError(
    .historyDisabled, "A request for history cannot be answered.")
  /// Kept for source compatibility: batches and pending changes go together here.
  public static let includePendingChangesWithBatchSize = TomboloError(
    .unsupportedFeature, "Batches leave pending changes out.")
  /// Kept for source compatibility: identifiers and pending changes go together here.
  public static let sortingPendingChangesWithIdentifiers = TomboloError(
    .unsupportedFeature, "Identifiers leave pending changes out.")

  /// Whether an error is of the kind that a pattern stands for.
  public static func ~= (pattern: TomboloError, error: any Error) -> Bool {
    guard let error = error as? TomboloError else { return false }
    return (families[pattern] ?? [pattern.code]).contains(error.code)
  }

  /// The codes that a member stands for, where there is more than its own.
  private static let families: [TomboloError: Set<ErrorCode>] = [
    loadIssueModelContainer: [
      .databaseFailure, .invalidSchema, .schemaDiffers, .schemaNotAdditive, .newerStore, .migrationNeeded,
      .migrationFailed, .invalidMigrationPlan, .duplicateValues, .storeMissing, .notADatabase, .foreignDatabase,
      .corruptStore, .diskFull, .diskFailure, .readOnlyStore, .fileUnreadable, .fileUnwritable, .unsupportedFeature,
      .schemaVersionTaken, .ambiguous, .modelNotInSchema,
    ],
    unsupportedPredicate: [.unsupportedPredicate, .predicateFailed],
    unsupportedKeyPath: [.unknownAttribute, .unknownRelationship, .unsupportedSort, .unsupportedPredicate],
    modelValidationFailure: [
      .requiredAttribute, .requiredReference, .uniqueViolation, .deleteDenied, .cyclicReference, .countOutOfRange,
      .notANumber, .integerOutOfRange, .floatOutOfRange, .decimalOutOfRange, .wrongType, .invalidText,
    ],
    missingModelContext: [.otherContext, .deletedModel],
    unknownSchema: [.unknownSchema, .modelNotInSchema, .schemaDiffers],
    backwardMigration: [.newerStore, .migrationNeeded],
  ]
}
