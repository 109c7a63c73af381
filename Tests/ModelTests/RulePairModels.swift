import SwiftData

// Every pair of delete rules, for a one-to-one and for a one-to-many: `OneCascadeDeny` cascades to its part, whose
// own rule towards the owner is deny. The conformances stand apart: the compiler resolves macros before them.

enum Rule: String, CaseIterable, Sendable { case cascade, nullify, deny, noAction }

/// An owner with at most one part.
protocol SingleOwner: PersistentModel {
  associatedtype Part: SinglePart where Part.Owner == Self
  var part: Part? { get set }
  init()
}

protocol SinglePart: PersistentModel {
  associatedtype Owner: SingleOwner where Owner.Part == Self
  var owner: Owner? { get set }
  init()
}

/// An owner with any number of parts.
protocol GroupOwner: PersistentModel {
  associatedtype Part: GroupPart where Part.Owner == Self
  var parts: [Part] { get set }
  init()
}

protocol GroupPart: PersistentModel {
  associatedtype Owner: GroupOwner where Owner.Part == Self
  var owner: Owner? { get set }
  init()
}

enum RulePairs {
  static func single(_ owner: Rule, _ part: Rule) -> any SingleOwner.Type {
    switch (owner, part) {
    case (.cascade, .cascade): OneCascadeCascade.self
    case (.cascade, .nullify): OneCascadeNullify.self
    case (.cascade, .deny): OneCascadeDeny.self
    case (.cascade, .noAction): OneCascadeNoAction.self
    case (.nullify, .cascade): OneNullifyCascade.self
    case (.nullify, .nullify): OneNullifyNullify.self
    case (.nullify, .deny): OneNullifyDeny.self
    case (.nullify, .noAction): OneNullifyNoAction.self
    case (.deny, .cascade): OneDenyCascade.self
    case (.deny, .nullify): OneDenyNullify.self
    case (.deny, .deny): OneDenyDeny.self
    case (.deny, .noAction): OneDenyNoAction.self
    case (.noAction, .cascade): OneNoActionCascade.self
    case (.noAction, .nullify): OneNoActionNullify.self
    case (.noAction, .deny): OneNoActionDeny.self
    case (.noAction, .noAction): OneNoActionNoAction.self
    }
  }

  static func group(_ owner: Rule, _ part: Rule) -> any GroupOwner.Type {
    switch (owner, part) {
    case (.cascade, .cascade): ManyCascadeCascade.self
    case (.cascade, .nullify): ManyCascadeNullify.self
    case (.cascade, .deny): ManyCascadeDeny.self
    case (.cascade, .noAction): ManyCascadeNoAction.self
    case (.nullify, .cascade): ManyNullifyCascade.self
    case (.nullify, .nullify): ManyNullifyNullify.self
    case (.nullify, .deny): ManyNullifyDeny.self
    case (.nullify, .noAction): ManyNullifyNoAction.self
    case (.deny, .cascade): ManyDenyCascade.self
    case (.deny, .nullify): ManyDenyNullify.self
    case (.deny, .deny): ManyDenyDeny.self
    case (.deny, .noAction): ManyDenyNoAction.self
    case (.noAction, .cascade): ManyNoActionCascade.self
    case (.noAction, .nullify): ManyNoActionNullify.self
    case (.noAction, .deny): ManyNoActionDeny.self
    case (.noAction, .noAction): ManyNoActionNoAction.self
    }
  }
}

@Model final class OneCascadeCascade {
  @Relationship(deleteRule: .cascade, inverse: \OneCascadeCascadePart.owner) var part: OneCascadeCascadePart?
  init() {}
}
@Model final class OneCascadeCascadePart {
  @Relationship(deleteRule: .cascade) var owner: OneCascadeCascade?
  init() {}
}
extension OneCascadeCascade: SingleOwner { typealias Part = OneCascadeCascadePart }
extension OneCascadeCascadePart: SinglePart { typealias Owner = OneCascadeCascade }

@Model final class OneCascadeNullify {
  @Relationship(deleteRule: .cascade, inverse: \OneCascadeNullifyPart.owner) var part: OneCascadeNullifyPart?
  init() {}
}
@Model final class OneCascadeNullifyPart {
  @Relationship(deleteRule: .nullify) var owner: OneCascadeNullify?
  init() {}
}
extension OneCascadeNullify: SingleOwner { typealias Part = OneCascadeNullifyPart }
extension OneCascadeNullifyPart: SinglePart { typealias Owner = OneCascadeNullify }

@Model final class OneCascadeDeny {
  @Relationship(deleteRule: .cascade, inverse: \OneCascadeDenyPart.owner) var part: OneCascadeDenyPart?
  init() {}
}
@Model final class OneCascadeDenyPart {
  @Relationship(deleteRule: .deny) var owner: OneCascadeDeny?
  init() {}
}
extension OneCascadeDeny: SingleOwner { typealias Part = OneCascadeDenyPart }
extension OneCascadeDenyPart: SinglePart { typealias Owner = OneCascadeDeny }

@Model final class OneCascadeNoAction {
  @Relationship(deleteRule: .cascade, inverse: \OneCascadeNoActionPart.owner) var part: OneCascadeNoActionPart?
  init() {}
}
@Model final class OneCascadeNoActionPart {
  @Relationship(deleteRule: .noAction) var owner: OneCascadeNoAction?
  init() {}
}
extension OneCascadeNoAction: SingleOwner { typealias Part = OneCascadeNoActionPart }
extension OneCascadeNoActionPart: SinglePart { typealias Owner = OneCascadeNoAction }

@Model final class OneNullifyCascade {
  @Relationship(deleteRule: .nullify, inverse: \OneNullifyCascadePart.owner) var part: OneNullifyCascadePart?
  init() {}
}
@Model final class OneNullifyCascadePart {
  @Relationship(deleteRule: .cascade) var owner: OneNullifyCascade?
  init() {}
}
extension OneNullifyCascade: SingleOwner { typealias Part = OneNullifyCascadePart }
extension OneNullifyCascadePart: SinglePart { typealias Owner = OneNullifyCascade }

@Model final class OneNullifyNullify {
  @Relationship(deleteRule: .nullify, inverse: \OneNullifyNullifyPart.owner) var part: OneNullifyNullifyPart?
  init() {}
}
@Model final class OneNullifyNullifyPart {
  @Relationship(deleteRule: .nullify) var owner: OneNullifyNullify?
  init() {}
}
extension OneNullifyNullify: SingleOwner { typealias Part = OneNullifyNullifyPart }
extension OneNullifyNullifyPart: SinglePart { typealias Owner = OneNullifyNullify }

@Model final class OneNullifyDeny {
  @Relationship(deleteRule: .nullify, inverse: \OneNullifyDenyPart.owner) var part: OneNullifyDenyPart?
  init() {}
}
@Model final class OneNullifyDenyPart {
  @Relationship(deleteRule: .deny) var owner: OneNullifyDeny?
  init() {}
}
extension OneNullifyDeny: SingleOwner { typealias Part = OneNullifyDenyPart }
extension OneNullifyDenyPart: SinglePart { typealias Owner = OneNullifyDeny }

@Model final class OneNullifyNoAction {
  @Relationship(deleteRule: .nullify, inverse: \OneNullifyNoActionPart.owner) var part: OneNullifyNoActionPart?
  init() {}
}
@Model final class OneNullifyNoActionPart {
  @Relationship(deleteRule: .noAction) var owner: OneNullifyNoAction?
  init() {}
}
extension OneNullifyNoAction: SingleOwner { typealias Part = OneNullifyNoActionPart }
extension OneNullifyNoActionPart: SinglePart { typealias Owner = OneNullifyNoAction }

@Model final class OneDenyCascade {
  @Relationship(deleteRule: .deny, inverse: \OneDenyCascadePart.owner) var part: OneDenyCascadePart?
  init() {}
}
@Model final class OneDenyCascadePart {
  @Relationship(deleteRule: .cascade) var owner: OneDenyCascade?
  init() {}
}
extension OneDenyCascade: SingleOwner { typealias Part = OneDenyCascadePart }
extension OneDenyCascadePart: SinglePart { typealias Owner = OneDenyCascade }

@Model final class OneDenyNullify {
  @Relationship(deleteRule: .deny, inverse: \OneDenyNullifyPart.owner) var part: OneDenyNullifyPart?
  init() {}
}
@Model final class OneDenyNullifyPart {
  @Relationship(deleteRule: .nullify) var owner: OneDenyNullify?
  init() {}
}
extension OneDenyNullify: SingleOwner { typealias Part = OneDenyNullifyPart }
extension OneDenyNullifyPart: SinglePart { typealias Owner = OneDenyNullify }

@Model final class OneDenyDeny {
  @Relationship(deleteRule: .deny, inverse: \OneDenyDenyPart.owner) var part: OneDenyDenyPart?
  init() {}
}
@Model final class OneDenyDenyPart {
  @Relationship(deleteRule: .deny) var owner: OneDenyDeny?
  init() {}
}
extension OneDenyDeny: SingleOwner { typealias Part = OneDenyDenyPart }
extension OneDenyDenyPart: SinglePart { typealias Owner = OneDenyDeny }

@Model final class OneDenyNoAction {
  @Relationship(deleteRule: .deny, inverse: \OneDenyNoActionPart.owner) var part: OneDenyNoActionPart?
  init() {}
}
@Model final class OneDenyNoActionPart {
  @Relationship(deleteRule: .noAction) var owner: OneDenyNoAction?
  init() {}
}
extension OneDenyNoAction: SingleOwner { typealias Part = OneDenyNoActionPart }
extension OneDenyNoActionPart: SinglePart { typealias Owner = OneDenyNoAction }

@Model final class OneNoActionCascade {
  @Relationship(deleteRule: .noAction, inverse: \OneNoActionCascadePart.owner) var part: OneNoActionCascadePart?
  init() {}
}
@Model final class OneNoActionCascadePart {
  @Relationship(deleteRule: .cascade) var owner: OneNoActionCascade?
  init() {}
}
extension OneNoActionCascade: SingleOwner { typealias Part = OneNoActionCascadePart }
extension OneNoActionCascadePart: SinglePart { typealias Owner = OneNoActionCascade }

@Model final class OneNoActionNullify {
  @Relationship(deleteRule: .noAction, inverse: \OneNoActionNullifyPart.owner) var part: OneNoActionNullifyPart?
  init() {}
}
@Model final class OneNoActionNullifyPart {
  @Relationship(deleteRule: .nullify) var owner: OneNoActionNullify?
  init() {}
}
extension OneNoActionNullify: SingleOwner { typealias Part = OneNoActionNullifyPart }
extension OneNoActionNullifyPart: SinglePart { typealias Owner = OneNoActionNullify }

@Model final class OneNoActionDeny {
  @Relationship(deleteRule: .noAction, inverse: \OneNoActionDenyPart.owner) var part: OneNoActionDenyPart?
  init() {}
}
@Model final class OneNoActionDenyPart {
  @Relationship(deleteRule: .deny) var owner: OneNoActionDeny?
  init() {}
}
extension OneNoActionDeny: SingleOwner { typealias Part = OneNoActionDenyPart }
extension OneNoActionDenyPart: SinglePart { typealias Owner = OneNoActionDeny }

@Model final class OneNoActionNoAction {
  @Relationship(deleteRule: .noAction, inverse: \OneNoActionNoActionPart.owner) var part: OneNoActionNoActionPart?
  init() {}
}
@Model final class OneNoActionNoActionPart {
  @Relationship(deleteRule: .noAction) var owner: OneNoActionNoAction?
  init() {}
}
extension OneNoActionNoAction: SingleOwner { typealias Part = OneNoActionNoActionPart }
extension OneNoActionNoActionPart: SinglePart { typealias Owner = OneNoActionNoAction }

@Model final class ManyCascadeCascade {
  @Relationship(deleteRule: .cascade, inverse: \ManyCascadeCascadePart.owner) var parts: [ManyCascadeCascadePart] = []
  init() {}
}
@Model final class ManyCascadeCascadePart {
  @Relationship(deleteRule: .cascade) var owner: ManyCascadeCascade?
  init() {}
}
extension ManyCascadeCascade: GroupOwner { typealias Part = ManyCascadeCascadePart }
extension ManyCascadeCascadePart: GroupPart { typealias Owner = ManyCascadeCascade }

@Model final class ManyCascadeNullify {
  @Relationship(deleteRule: .cascade, inverse: \ManyCascadeNullifyPart.owner) var parts: [ManyCascadeNullifyPart] = []
  init() {}
}
@Model final class ManyCascadeNullifyPart {
  @Relationship(deleteRule: .nullify) var owner: ManyCascadeNullify?
  init() {}
}
extension ManyCascadeNullify: GroupOwner { typealias Part = ManyCascadeNullifyPart }
extension ManyCascadeNullifyPart: GroupPart { typealias Owner = ManyCascadeNullify }

@Model final class ManyCascadeDeny {
  @Relationship(deleteRule: .cascade, inverse: \ManyCascadeDenyPart.owner) var parts: [ManyCascadeDenyPart] = []
  init() {}
}
@Model final class ManyCascadeDenyPart {
  @Relationship(deleteRule: .deny) var owner: ManyCascadeDeny?
  init() {}
}
extension ManyCascadeDeny: GroupOwner { typealias Part = ManyCascadeDenyPart }
extension ManyCascadeDenyPart: GroupPart { typealias Owner = ManyCascadeDeny }

@Model final class ManyCascadeNoAction {
  @Relationship(deleteRule: .cascade, inverse: \ManyCascadeNoActionPart.owner) var parts: [ManyCascadeNoActionPart] = []
  init() {}
}
@Model final class ManyCascadeNoActionPart {
  @Relationship(deleteRule: .noAction) var owner: ManyCascadeNoAction?
  init() {}
}
extension ManyCascadeNoAction: GroupOwner { typealias Part = ManyCascadeNoActionPart }
extension ManyCascadeNoActionPart: GroupPart { typealias Owner = ManyCascadeNoAction }

@Model final class ManyNullifyCascade {
  @Relationship(deleteRule: .nullify, inverse: \ManyNullifyCascadePart.owner) var parts: [ManyNullifyCascadePart] = []
  init() {}
}
@Model final class ManyNullifyCascadePart {
  @Relationship(deleteRule: .cascade) var owner: ManyNullifyCascade?
  init() {}
}
extension ManyNullifyCascade: GroupOwner { typealias Part = ManyNullifyCascadePart }
extension ManyNullifyCascadePart: GroupPart { typealias Owner = ManyNullifyCascade }

@Model final class ManyNullifyNullify {
  @Relationship(deleteRule: .nullify, inverse: \ManyNullifyNullifyPart.owner) var parts: [ManyNullifyNullifyPart] = []
  init() {}
}
@Model final class ManyNullifyNullifyPart {
  @Relationship(deleteRule: .nullify) var owner: ManyNullifyNullify?
  init() {}
}
extension ManyNullifyNullify: GroupOwner { typealias Part = ManyNullifyNullifyPart }
extension ManyNullifyNullifyPart: GroupPart { typealias Owner = ManyNullifyNullify }

@Model final class ManyNullifyDeny {
  @Relationship(deleteRule: .nullify, inverse: \ManyNullifyDenyPart.owner) var parts: [ManyNullifyDenyPart] = []
  init() {}
}
@Model final class ManyNullifyDenyPart {
  @Relationship(deleteRule: .deny) var owner: ManyNullifyDeny?
  init() {}
}
extension ManyNullifyDeny: GroupOwner { typealias Part = ManyNullifyDenyPart }
extension ManyNullifyDenyPart: GroupPart { typealias Owner = ManyNullifyDeny }

@Model final class ManyNullifyNoAction {
  @Relationship(deleteRule: .nullify, inverse: \ManyNullifyNoActionPart.owner) var parts: [ManyNullifyNoActionPart] = []
  init() {}
}
@Model final class ManyNullifyNoActionPart {
  @Relationship(deleteRule: .noAction) var owner: ManyNullifyNoAction?
  init() {}
}
extension ManyNullifyNoAction: GroupOwner { typealias Part = ManyNullifyNoActionPart }
extension ManyNullifyNoActionPart: GroupPart { typealias Owner = ManyNullifyNoAction }

@Model final class ManyDenyCascade {
  @Relationship(deleteRule: .deny, inverse: \ManyDenyCascadePart.owner) var parts: [ManyDenyCascadePart] = []
  init() {}
}
@Model final class ManyDenyCascadePart {
  @Relationship(deleteRule: .cascade) var owner: ManyDenyCascade?
  init() {}
}
extension ManyDenyCascade: GroupOwner { typealias Part = ManyDenyCascadePart }
extension ManyDenyCascadePart: GroupPart { typealias Owner = ManyDenyCascade }

@Model final class ManyDenyNullify {
  @Relationship(deleteRule: .deny, inverse: \ManyDenyNullifyPart.owner) var parts: [ManyDenyNullifyPart] = []
  init() {}
}
@Model final class ManyDenyNullifyPart {
  @Relationship(deleteRule: .nullify) var owner: ManyDenyNullify?
  init() {}
}
extension ManyDenyNullify: GroupOwner { typealias Part = ManyDenyNullifyPart }
extension ManyDenyNullifyPart: GroupPart { typealias Owner = ManyDenyNullify }

@Model final class ManyDenyDeny {
  @Relationship(deleteRule: .deny, inverse: \ManyDenyDenyPart.owner) var parts: [ManyDenyDenyPart] = []
  init() {}
}
@Model final class ManyDenyDenyPart {
  @Relationship(deleteRule: .deny) var owner: ManyDenyDeny?
  init() {}
}
extension ManyDenyDeny: GroupOwner { typealias Part = ManyDenyDenyPart }
extension ManyDenyDenyPart: GroupPart { typealias Owner = ManyDenyDeny }

@Model final class ManyDenyNoAction {
  @Relationship(deleteRule: .deny, inverse: \ManyDenyNoActionPart.owner) var parts: [ManyDenyNoActionPart] = []
  init() {}
}
@Model final class ManyDenyNoActionPart {
  @Relationship(deleteRule: .noAction) var owner: ManyDenyNoAction?
  init() {}
}
extension ManyDenyNoAction: GroupOwner { typealias Part = ManyDenyNoActionPart }
extension ManyDenyNoActionPart: GroupPart { typealias Owner = ManyDenyNoAction }

@Model final class ManyNoActionCascade {
  @Relationship(deleteRule: .noAction, inverse: \ManyNoActionCascadePart.owner) var parts: [ManyNoActionCascadePart] =
    []
  init() {}
}
@Model final class ManyNoActionCascadePart {
  @Relationship(deleteRule: .cascade) var owner: ManyNoActionCascade?
  init() {}
}
extension ManyNoActionCascade: GroupOwner { typealias Part = ManyNoActionCascadePart }
extension ManyNoActionCascadePart: GroupPart { typealias Owner = ManyNoActionCascade }

@Model final class ManyNoActionNullify {
  @Relationship(deleteRule: .noAction, inverse: \ManyNoActionNullifyPart.owner) var parts: [ManyNoActionNullifyPart] =
    []
  init() {}
}
@Model final class ManyNoActionNullifyPart {
  @Relationship(deleteRule: .nullify) var owner: ManyNoActionNullify?
  init() {}
}
extension ManyNoActionNullify: GroupOwner { typealias Part = ManyNoActionNullifyPart }
extension ManyNoActionNullifyPart: GroupPart { typealias Owner = ManyNoActionNullify }

@Model final class ManyNoActionDeny {
  @Relationship(deleteRule: .noAction, inverse: \ManyNoActionDenyPart.owner) var parts: [ManyNoActionDenyPart] = []
  init() {}
}
@Model final class ManyNoActionDenyPart {
  @Relationship(deleteRule: .deny) var owner: ManyNoActionDeny?
  init() {}
}
extension ManyNoActionDeny: GroupOwner { typealias Part = ManyNoActionDenyPart }
extension ManyNoActionDenyPart: GroupPart { typealias Owner = ManyNoActionDeny }

@Model final class ManyNoActionNoAction {
  @Relationship(deleteRule: .noAction, inverse: \ManyNoActionNoActionPart.owner) var parts: [ManyNoActionNoActionPart] =
    []
  init() {}
}
@Model final class ManyNoActionNoActionPart {
  @Relationship(deleteRule: .noAction) var owner: ManyNoActionNoAction?
  init() {}
}
extension ManyNoActionNoAction: GroupOwner { typealias Part = ManyNoActionNoActionPart }
extension ManyNoActionNoActionPart: GroupPart { typealias Owner = ManyNoActionNoAction }
