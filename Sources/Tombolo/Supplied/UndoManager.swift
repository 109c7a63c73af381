public import Foundation

/// A stack of what can be undone, and one of what can be redone: Foundation's class, which Linux lacks.
///
/// What is registered while nothing is being undone can be undone, in groups; what an undo registers can be redone.
/// Foundation groups by turns of the run loop. Here an *event* lasts until ``undo()`` or ``redo()``, until a context that
/// registers here saves or processes its changes, or until the main actor (the executor of a ``ModelActor``) is free.
///
/// It is used by one task at a time, as a context is.
open class UndoManager {
  private final class Group {
    var actions: [(target: AnyObject, perform: () -> Void)] = []
    var name = ""
    var isDiscardable = false
  }

  private var undoStack: [Group] = []
  private var redoStack: [Group] = []
  /// Groups that were begun and not ended, the outermost first.
  private var open: [Group] = []
  private var isEventOpen = false
  private var disabledCount = 0

  /// An empty stack.
  public init() {}

  // MARK: Registering

  /// Registers what undoes a change. The target is held weakly by nobody: it lives as long as the action.
  ///
  /// - Precondition: a group is open, where ``groupsByEvent`` is false.
  public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
    guard isUndoRegistrationEnabled else { return }
    if open.isEmpty {
      precondition(groupsByEvent, "registerUndo needs a group: call beginUndoGrouping first, or set groupsByEvent.")
      isEventOpen = true
      beginUndoGrouping()
    }
    if !isUndoing, !isRedoing { redoStack = [] }
    open[open.count - 1].actions.append((target, { handler(target) }))
  }

  /// Whether registering has an effect.
  public var isUndoRegistrationEnabled: Bool { disabledCount == 0 }
  /// Has registering no effect until ``enableUndoRegistration()`` was called as often.
  open func disableUndoRegistration() { disabledCount += 1 }
  /// Takes back one ``disableUndoRegistration()``.
  open func enableUndoRegistration() {
    precondition(disabledCount > 0, "enableUndoRegistration was called more often than disableUndoRegistration.")
    disabledCount -= 1
  }

  // MARK: Groups

  /// Whether a group is opened by itself where none is.
  open var groupsByEvent = true
  /// How many groups can be undone at most; 0 for any number.
  open var levelsOfUndo = 0 {
    didSet { trim() }
  }
  /// How many groups are open.
  public var groupingLevel: Int { open.count }

  /// Opens a group: what is registered until its end is undone at once.
  open func beginUndoGrouping() {
    open.append(Group())
    post(.NSUndoManagerDidOpenUndoGroup)
  }

  /// Ends the group that was begun last. An empty one leaves nothing.
  open func endUndoGrouping() {
    guard let group = open.popLast() else {
      preconditionFailure("endUndoGrouping was called without beginUndoGrouping.")
    }
    post(.NSUndoManagerWillCloseUndoGroup)
    if open.isEmpty { isEventOpen = false }
    if !group.actions.isEmpty {
      if let outer = open.last {
        outer.actions += group.actions
        if outer.name.isEmpty { outer.name = group.name }
      } else if isUndoing {
        redoStack.append(group)
      } else {
        undoStack.append(group)
        trim()
      }
    }
    post(.NSUndoManagerDidCloseUndoGroup)
  }

  /// Ends the group that was opened by itself, if that is the only one open.
  func endEvent() { if isEventOpen, open.count == 1, !isUndoing, !isRedoing { endUndoGrouping() } }

  private func trim() {
    if levelsOfUndo > 0, undoStack.count > levelsOfUndo { undoStack.removeFirst(undoStack.count - levelsOfUndo) }
  }

  // MARK: Undoing

  /// Whether there is something to undo.
  open var canUndo: Bool { !undoStack.isEmpty || open.contains { !$0.actions.isEmpty } }
  /// Whether there is something to redo.
  open var canRedo: Bool { !redoStack.isEmpty }
  /// How many groups can be undone.
  open var undoCount: Int { undoStack.count }
  /// How many groups can be redone.
  open var redoCount: Int { redoStack.count }
  /// Whether an undo is running.
  public private(set) var isUndoing = false
  /// Whether a redo is running.
  public private(set) var isRedoing = false

  /// Undoes the last group; nothing where there is none.
  ///
  /// - Precondition: every group that was begun was ended.
  open func undo() {
    endEvent()
    precondition(open.isEmpty, "undo was called inside a group: call endUndoGrouping first.")
    undoNestedGroup()
  }

  /// The same as ``undo()``: groups inside others are undone with them.
  open func undoNestedGroup() {
    guard let group = undoStack.popLast() else { return }
    post(.NSUndoManagerWillUndoChange)
    isUndoing = true
    perform(group)
    isUndoing = false
    post(.NSUndoManagerDidUndoChange)
  }

  /// Does the last undone group again; nothing where there is none.
  ///
  /// - Precondition: every group that was begun was ended.
  open func redo() {
    endEvent()
    precondition(open.isEmpty, "redo was called inside a group: call endUndoGrouping first.")
    guard let group = redoStack.popLast() else { return }
    post(.NSUndoManagerWillRedoChange)
    isRedoing = true
    perform(group)
    isRedoing = false
    post(.NSUndoManagerDidRedoChange)
  }

  /// The last action first; what they register becomes one group of the other stack.
  private func perform(_ group: Group) {
    beginUndoGrouping()
    open[0].name = group.name
    open[0].isDiscardable = group.isDiscardable
    for action in group.actions.reversed() { action.perform() }
    endUndoGrouping()
  }

  // MARK: Forgetting

  /// Forgets everything, open groups included.
  open func removeAllActions() {
    undoStack = []
    redoStack = []
    open = []
    isEventOpen = false
    disabledCount = 0
  }

  /// Forgets what was registered with that target.
  open func removeAllActions(withTarget target: Any) {
    let target = target as AnyObject
    for group in undoStack + redoStack + open { group.actions.removeAll { $0.target === target } }
    undoStack.removeAll { $0.actions.isEmpty }
    redoStack.removeAll { $0.actions.isEmpty }
  }

  // MARK: Names

  /// Names the open group, or the last one.
  open func setActionName(_ actionName: String) { (open.first ?? undoStack.last)?.name = actionName }
  /// The name of what ``undo()`` would undo; empty where it has none.
  open var undoActionName: String { (open.first { !$0.actions.isEmpty } ?? undoStack.last)?.name ?? "" }
  /// The name of what ``redo()`` would do; empty where it has none.
  open var redoActionName: String { redoStack.last?.name ?? "" }
  /// A menu's text for ``undo()``.
  open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
  /// A menu's text for ``redo()``.
  open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }
  /// A menu's text for undoing what has that name.
  open func undoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Undo" : "Undo \(actionName)"
  }
  /// A menu's text for redoing what has that name.
  open func redoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Redo" : "Redo \(actionName)"
  }
  /// Marks the open group, or the last one, as of no consequence to a document.
  open func setActionIsDiscardable(_ discardable: Bool) { (open.first ?? undoStack.last)?.isDiscardable = discardable }
  /// Whether what ``undo()`` would undo is of no consequence to a document.
  open var undoActionIsDiscardable: Bool { undoStack.last?.isDiscardable ?? false }
  /// Whether what ``redo()`` would do is of no consequence to a document.
  open var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

  private func post(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }
}

extension Notification.Name {
  /// Posted when an ``UndoManager`` opens a group.
  public static let NSUndoManagerDidOpenUndoGroup = Notification.Name("NSUndoManagerDidOpenUndoGroup")
  /// Posted before an ``UndoManager`` takes a group onto its stack.
  public static let NSUndoManagerWillCloseUndoGroup = Notification.Name("NSUndoManagerWillCloseUndoGroup")
  /// Posted after an ``UndoManager`` has taken a group onto its stack.
  public static let NSUndoManagerDidCloseUndoGroup = Notification.Name("NSUndoManagerDidCloseUndoGroup")
  /// Posted before an ``UndoManager`` undoes.
  public static let NSUndoManagerWillUndoChange = Notification.Name("NSUndoManagerWillUndoChange")
  /// Posted after an ``UndoManager`` has undone.
  public static let NSUndoManagerDidUndoChange = Notification.Name("NSUndoManagerDidUndoChange")
  /// Posted before an ``UndoManager`` redoes.
  public static let NSUndoManagerWillRedoChange = Notification.Name("NSUndoManagerWillRedoChange")
  /// Posted after an ``UndoManager`` has redone.
  public static let NSUndoManagerDidRedoChange = Notification.Name("NSUndoManagerDidRedoChange")
}
