import TomboloProtocol
import TomboloSQLite

/// Takes a row back to the confirmed state, and lays the pending changes over it again.
struct RecordOverlay {
  let id: RecordID
  let rows: ReplicaRows

  /// Undoes a record's pending changes from the last to the first; each comes to know the values that it wrote.
  ///
  /// - Parameter covered: the confirmed record that a pending create of the same identity hides.
  func unwind(_ shown: RecordImage?, _ chain: [PendingChange], covered: RecordImage?) throws -> RecordImage? {
    var image = shown
    for change in chain.reversed() where change.wasLaid {
      switch change.detail {
      case .create(let detail):
        noteOwn(change, detail, image)
        if image?.incarnation == change.save.stamp { image = covered }
      case .update(let detail): unwind(detail, change, &image)
      case .delete(let detail): if image == nil { image = try self.image(detail, change) }
      case .link: break
      }
    }
    return image
  }

  private func noteOwn(_ change: PendingChange, _ detail: ChangeDetail.CreateDetail, _ image: RecordImage?) {
    for column in change.entity.columns {
      let version = image?.fields[column.property]
      change.own[column.number] = detail.own[column.number] ?? version?.value ?? column.constantDefault
      if let version, !version.stamp.isZero { change.assigned.insert(column.number) }
    }
  }

  private func unwind(_ detail: ChangeDetail.UpdateDetail, _ change: PendingChange, _ image: inout RecordImage?) {
    for field in detail.fields {
      guard let column = change.column(field.column) else { continue }
      change.own[field.column] = field.own ?? image?.fields[column.property]?.value ?? field.under
      guard change.wasLaid(column.property), image?.fields[column.property] != nil else { continue }
      image?.fields[column.property] = FieldMerge.Version(value: field.under, stamp: field.underStamp ?? .zero)
    }
  }

  private func image(_ detail: ChangeDetail.DeleteDetail, _ change: PendingChange) throws -> RecordImage? {
    guard let bytes = detail.stamps else { return nil }
    let stamps = try RowStamps(bytes, rows.replicas)
    let values = change.entity.columns.map { detail.values[$0.number] ?? $0.constantDefault }
    var hidden: [String: FieldMerge.Version] = [:]
    for reference in detail.hidden {
      let stamp = try reference.stamp.map { try Stamp($0, rows.replicas) } ?? .zero
      hidden[reference.attribute] = FieldMerge.Version(value: Value(reference: reference.target), stamp: stamp)
    }
    return rows.image(ReplicaRows.Row(entity: change.entity, values: values, stamps: stamps, hidden: hidden))
  }

  /// Lays the changes that still count over the confirmed state, and notes beneath each what it covers.
  ///
  /// - Returns: what readers see, and the confirmed record that a create hides.
  func lay(_ chain: [PendingChange], over confirmed: RecordImage?) throws -> (
    shown: RecordImage?, covered: RecordImage?
  ) {
    var image = confirmed
    var covered: RecordImage?
    for change in chain {
      let isAlias = change.record != id
      switch change.detail {
      case .create:
        if change.isLaid, !isAlias {
          let laid = Overlay.lay(
            try create(change), stamp: change.save.stamp, over: image, entity: try rows.entity(change.entity))
          if laid?.incarnation == change.save.stamp { covered = image }
          image = laid
        }
        if !change.own.isEmpty { change.rewrite(.create(.init(own: change.own))) }
      case .update(let detail): try lay(detail, change, isAlias: isAlias, &image)
      case .delete(let detail):
        guard change.isLaid else { continue }
        let delete = Change.Delete(
          entity: change.entity.name, id: change.record, incarnation: detail.incarnation ?? .zero,
          cause: DeleteCause(stamp: change.save.stamp, root: detail.root))
        let laid = Overlay.lay(delete, over: image, isAlias: isAlias)
        change.rewrite(.delete(try self.detail(detail, change, hiding: laid == nil ? image : nil)))
        image = laid
      case .link: break
      }
    }
    dropNeedlessValues(chain, shown: image)
    return (image, covered)
  }

  private func lay(
    _ detail: ChangeDetail.UpdateDetail, _ change: PendingChange, isAlias: Bool, _ image: inout RecordImage?
  ) throws {
    var detail = detail
    var update = Change.Update(
      entity: change.entity.name, id: change.record, incarnation: detail.incarnation ?? .zero, writes: [])
    for index in detail.fields.indices {
      let field = detail.fields[index]
      guard let column = change.column(field.column) else { continue }
      if !field.isConsequence { detail.fields[index].own = change.own[field.column] ?? field.own }
      guard change.isLaid, change.isLaid(column.property) else { continue }
      if let version = image?.fields[column.property] {
        detail.fields[index].under = version.value
        detail.fields[index].underStamp = version.stamp
      }
      if field.isConsequence { continue }
      if let delta = field.delta {
        update.additions.append(Change.CounterAddition(name: column.property, delta: delta))
      } else {
        update.writes.append(
          Change.FieldWrite(
            name: column.property, value: detail.fields[index].own ?? .null, base: field.base ?? .zero))
      }
    }
    if change.isLaid {
      image = Overlay.lay(
        update, stamp: change.save.stamp, over: image, isAlias: isAlias, entity: try rows.entity(change.entity))
    }
    change.rewrite(.update(detail))
  }

  /// The create as it was made, with the values that unwinding found.
  private func create(_ change: PendingChange) throws -> Change.Create {
    Change.Create(
      entity: change.entity.name, id: change.record,
      fields: change.entity.columns.map { column in
        Change.InitialField(
          name: column.property, value: change.own[column.number] ?? column.constantDefault,
          isAssigned: change.assigned.contains(column.number))
      })
  }

  private func detail(
    _ detail: ChangeDetail.DeleteDetail, _ change: PendingChange, hiding image: RecordImage?
  ) throws -> ChangeDetail.DeleteDetail {
    var detail = detail
    detail.hidden = []
    detail.values = [:]
    detail.stamps = nil
    guard let image else { return detail }
    var stamps = RowStamps(created: image.incarnation, columnCount: change.entity.tableColumnCount)
    for column in change.entity.columns {
      guard let version = image.fields[column.property] else { continue }
      detail.values[column.number] = version.value
      stamps.set(version.stamp, of: column.number)
    }
    detail.stamps = try stamps.encoded(rows.replicas)
    return detail
  }

  /// A new record alone keeps no copy of its values: the row shows them.
  private func dropNeedlessValues(_ chain: [PendingChange], shown: RecordImage?) {
    guard chain.count == 1, let change = chain.first, change.isLaid, case .create = change.detail, let shown,
      shown.incarnation == change.save.stamp
    else { return }
    let isShown = change.entity.columns.allSatisfy {
      shown.fields[$0.property]?.value == change.own[$0.number]
    }
    if isShown { change.rewrite(.create(.init())) }
  }
}
