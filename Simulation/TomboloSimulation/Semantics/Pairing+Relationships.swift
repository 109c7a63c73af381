import Tombolo
import TomboloProtocol

/// References, and what becomes of a record whose target is deleted.
extension Pairing {
  static func references(of entity: EntityPlan, in schema: StoreSchema) -> [Pairing] {
    entity.columns.flatMap { column -> [Pairing] in
      guard case .reference(let reference) = column.kind, let target = schema.entity(reference.destination) else {
        return []
      }
      let pair = ReferencePair(holder: entity, name: column.property, reference: reference, target: target.name)
      return pair.moves + pair.claims + pair.deaths
    }
  }
}

private struct ReferencePair {
  let holder: EntityPlan
  let name: String
  let reference: ResolvedReference
  let target: String

  private var entity: String { holder.name }

  private func to(_ record: String) -> (SemanticsStage) throws -> [String: Value] {
    { [name] stage in [name: try stage.reference(record)] }
  }

  private func pairing(
    _ code: String, _ firstDid: String, _ secondDid: String, prepare: @escaping (SemanticsStage) throws -> Void,
    first: @escaping (SemanticsStage) throws -> Void, second: @escaping (SemanticsStage) throws -> Void,
    observe: @escaping (SemanticsStage) throws -> String
  ) -> Pairing {
    Pairing(
      code: code, entity: entity, property: name, firstDid: firstDid, secondDid: secondDid, prepare: prepare,
      first: first, second: second, observe: observe)
  }

  // MARK: Moves

  var moves: [Pairing] {
    let (entity, name, target) = (entity, name, target)
    var pairings = [
      pairing(
        "move_move", "gives it one \(target)", "gives it another, later",
        prepare: { stage in
          try stage.make("it", entity)
          try stage.make("one", target)
          try stage.make("other", target)
        }, first: { try $0.set("it", entity, try to("one")($0)) },
        second: { try $0.set("it", entity, try to("other")($0)) },
        observe: { stage in
          let stands = try stage.value("it", entity, name).reference
          if stands == (try stage.id("other")) { return "The later move stands." }
          return stands == (try stage.id("one")) ? "The earlier move stands." : "Neither move stands."
        })
    ]
    guard reference.isAcyclic, target == entity else { return pairings }
    pairings.append(
      pairing(
        "move_cycle", "puts one below the other", "puts the other below the one, later",
        prepare: { stage in
          try stage.make("one", entity)
          try stage.make("other", entity)
        }, first: { try $0.set("one", entity, try to("other")($0)) },
        second: { try $0.set("other", entity, try to("one")($0)) },
        observe: { stage in
          let stands = (
            try stage.value("one", entity, name).reference != nil,
            try stage.value("other", entity, name).reference != nil
          )
          switch stands {
          case (true, true): return "Both moves stand, in a circle."
          case (true, false): return "The earlier move stands; the later one is undone."
          case (false, true): return "The later move stands; the earlier one is undone."
          case (false, false): return "Both moves are undone."
          }
        }))
    return pairings
  }

  /// Two claims on one partner.
  var claims: [Pairing] {
    guard reference.isOneToOne else { return [] }
    let (entity, name, target) = (entity, name, target)
    return [
      pairing(
        "claim_claim", "takes a free \(target)", "takes the same one for another \(entity), later",
        prepare: { stage in
          try stage.make("one", entity)
          try stage.make("other", entity)
          try stage.make("partner", target)
        }, first: { try $0.set("one", entity, try to("partner")($0)) },
        second: { try $0.set("other", entity, try to("partner")($0)) },
        observe: { stage in
          let partner = try stage.id("partner")
          func fate(_ record: String) throws -> String {
            if try !stage.has(record, entity) { return "is deleted" }
            return try stage.value(record, entity, name).reference == partner ? "has it" : "is without"
          }
          return "The later claim \(try fate("other")), the earlier one \(try fate("one"))."
        })
    ]
  }

  // MARK: The target dies

  /// What the holder is to whoever looks, after the target was deleted.
  private func fate(_ stage: SemanticsStage, of record: String) throws -> String {
    let isThere = try stage.has(record, entity)
    let hasTarget = try stage.has("target", target)
    switch (hasTarget, isThere) {
    case (true, true):
      let isHeld = try stage.value(record, entity, name).reference == (try stage.id("target"))
      return isHeld
        ? "The deletion is undone: both are there." : "The deletion is undone, and the \(entity) is without it."
    case (true, false): return "The \(target) is there, the \(entity) is not."
    case (false, false): return "Both are deleted."
    case (false, true):
      let other = try stage.value(record, entity, name).reference
      return other == nil
        ? "The \(target) is deleted; the \(entity) stays, without one."
        : other == (try? stage.id("other"))
          ? "The \(target) is deleted; the \(entity) stays, with the other."
          : "The \(entity) stays, and names what is gone."
    }
  }

  var deaths: [Pairing] {
    // A record that is its own kind of target would be in its own way.
    var pairings = [added(isLater: true), added(isLater: false)]
    // Where the rule forbids to delete what somebody holds, or to empty what is required, nobody can do it by himself.
    let mayDelete = reference.rule != .deny && (reference.isOptional || reference.rule == .cascade)
    guard mayDelete else { return pairings }
    let (entity, target) = (entity, target)
    let prepare: (SemanticsStage) throws -> Void = { stage in
      try stage.make("target", target)
      try stage.make("other", target)
      try stage.make("it", entity, try to("target")(stage))
    }
    if let attribute = Pairing.plainAttribute(of: holder) {
      let edit = [attribute.name: SemanticsValues.value(of: attribute, .second)]
      pairings.append(
        pairing(
          "delete_target_edit", "deletes its \(target)", "edits it, later", prepare: prepare,
          first: { try $0.delete("target", target) }, second: { try $0.set("it", entity, edit) },
          observe: { try fate($0, of: "it") }))
    }
    pairings.append(
      pairing(
        "delete_target_move", "deletes its \(target)", "gives it to another, later", prepare: prepare,
        first: { try $0.delete("target", target) }, second: { try $0.set("it", entity, try to("other")($0)) },
        observe: { try fate($0, of: "it") }))
    return pairings
  }

  /// One deletes the target, the other gives it a new holder.
  private func added(isLater: Bool) -> Pairing {
    let (entity, target) = (entity, target)
    let add: (SemanticsStage) throws -> Void = { try $0.make("new", entity, try to("target")($0)) }
    let delete: (SemanticsStage) throws -> Void = { try $0.delete("target", target) }
    return pairing(
      isLater ? "delete_target_add" : "add_delete_target",
      isLater ? "deletes \(target.withArticle)" : "adds one to \(target.withArticle)",
      isLater ? "adds one to it, later" : "deletes the \(target), later",
      prepare: { try $0.make("target", target) }, first: isLater ? delete : add, second: isLater ? add : delete,
      observe: { try fate($0, of: "new") })
  }
}

/// Pairs of many-to-many relationships.
extension Pairing {
  static func links(of entity: EntityPlan) -> [Pairing] {
    entity.links.filter { $0.isSource && $0.link.source == entity.name }.flatMap { plan -> [Pairing] in
      let (own, other) = (plan.link.source, plan.link.target)
      func pairing(
        _ code: String, _ firstDid: String, _ secondDid: String, isLinked: Bool,
        first: @escaping (SemanticsStage) throws -> Void, second: @escaping (SemanticsStage) throws -> Void
      ) -> Pairing {
        Pairing(
          code: code, entity: own, property: plan.property, firstDid: firstDid, secondDid: secondDid,
          prepare: { stage in
            try stage.make("it", own)
            try stage.make("other", other)
            if isLinked { try stage.link(plan, "it", "other") }
          }, first: first, second: second,
          observe: { stage in
            if try !stage.has("other", other) { return "The \(other) is deleted, and the link with it." }
            return try stage.isLinked(plan, "it", "other") ? "They are linked, once." : "They are not linked."
          })
      }
      return [
        pairing(
          "link_link", "links two", "links the same two, later", isLinked: false,
          first: { try $0.link(plan, "it", "other") }, second: { try $0.link(plan, "it", "other") }),
        pairing(
          "unlink_unlink", "parts two", "parts them too, later", isLinked: true,
          first: { try $0.link(plan, "it", "other", isPresent: false) },
          second: { try $0.link(plan, "it", "other", isPresent: false) }),
        pairing(
          "link_delete", "links two", "deletes the \(other), later", isLinked: false,
          first: { try $0.link(plan, "it", "other") }, second: { try $0.delete("other", other) }),
      ]
    }
  }
}
