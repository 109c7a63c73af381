public import Foundation

/// Who is editing: a context, and the author that its saves name.
public struct EditingState: Hashable, Identifiable, Sendable {
  /// The context's own, as long as it lives.
  public let id: UUID
  /// What ``ModelContext/author`` is.
  public var author: String?
}

extension ModelContext {
  /// Who is editing.
  public var editingState: EditingState { EditingState(id: UUID(identity), author: author) }
}
