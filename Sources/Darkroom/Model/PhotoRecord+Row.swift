import Ledger
import Transfer

extension PhotoRecord {
  /// The file that the record delivers; nil without a new result.
  var delivery: Delivery? {
    let live = snapshot
    guard let result = live.result else { return nil }
    let provenance = live.source?.picture.map { source in
      var provenance = Provenance(key: result.key, source: source, output: result.picture)
      provenance.quality = result.quality
      provenance.answer = live.source?.answer?.text
      provenance.isAdopted = result.occupant?.kind == .equal
      provenance.preview = result.preview.map { Provenance.Preview(bytes: $0.bytes, sha256: $0.sha256) }
      return provenance.text
    }
    return Delivery(
      staged: result.staged, target: target(of: result), bytes: result.bytes, sha256: result.sha256,
      origin: provenance)
  }

  /// The source that the record delivers; nil when it is not kept, or there already.
  var originalDelivery: Delivery? {
    let live = snapshot
    guard let original = live.original, original.isStaged, let source = live.source else { return nil }
    return Delivery(
      staged: run.staging.original(entry.position), target: original.target, bytes: source.bytes, sha256: source.sha256,
      origin: Delivery.originalOrigin)
  }

  /// The preview that the record delivers; nil when its result has none.
  var previewDelivery: Delivery? {
    snapshot.result?.preview.map { preview in
      Delivery(
        staged: run.staging.preview(entry.position), target: JobFolder.preview(entry.name), bytes: preview.bytes,
        sha256: preview.sha256, origin: Delivery.previewOrigin)
    }
  }

  /// The path of a result beneath the job's folder.
  func target(of result: Result) -> String {
    JobFolder.image(entry.name, extension: result.picture.format.fileExtension)
  }

  /// What the ledger keeps of the record.
  /// - Parameter row: What `row()` gives.
  func ledgerEntry(_ row: ReportRow) -> LedgerEntry {
    let refreshed = snapshot.reused.flatMap { reused in
      LedgerEntry.Refreshed(target: reused.target, identity: reused.newIdentity, origin: reused.newOrigin)
    }
    return LedgerEntry(
      position: entry.position, delivery: delivery ?? originalDelivery, refreshed: refreshed,
      failure: row.ledgerFailure(name: entry.name),
      row: row.json.text)
  }

  func row() -> ReportRow {
    let live = snapshot
    let url = SourceLocation.redacted(url)
    let hasRecovered = live.state == .filtered && lastFailure != nil
    let isChanged = live.state == .filtered && !hasRecovered ? live.isSourceChanged : nil
    let finalURL = live.source?.finalURL ?? live.failure?.finalURL
    var failure = live.failure.map { ReportRow.Failure($0, after: lastFailure, since: firstTried) }
    if entry.urls.count > 1, let last = live.failure, last.code.stage != .plan {
      failure?.mirrors = earlierMirrors + [ReportRow.MirrorFailure(last, of: url)]
    }
    return ReportRow(
      index: entry.line ?? entry.position, name: entry.shownName, variant: entry.variant, url: url,
      finalURL: finalURL == url ? nil : finalURL, state: live.state.inReport,
      isReused: live.reused != nil, isCoalesced: live.source?.isCoalesced == true, isRecovered: hasRecovered,
      priority: entry.priority.rawValue,
      attempts: live.attempts, output: output(live),
      preview: live.result?.preview.map { _ in JobFolder.preview(entry.name) } ?? live.reused?.preview,
      source: live.source.map {
        ReportRow.Source(
          picture: $0.picture, bytes: $0.bytes, sha256: $0.sha256, httpStatus: $0.httpStatus, isChanged: isChanged,
          file: live.state == .filtered ? live.original?.target : nil)
      },
      filters: entry.recipe.description, timings: live.timings,
      failure: failure, warnings: live.result?.warnings ?? [],
      metadata: entry.metadata)
  }

  private func output(_ live: Live) -> ReportRow.Output? {
    if let reused = live.reused {
      return .init(
        file: reused.target, picture: reused.picture, bytes: reused.bytes, sha256: reused.sha256,
        quality: reused.quality, metadata: reused.metadata)
    }
    return live.result.map {
      .init(
        file: target(of: $0), picture: $0.picture, bytes: $0.bytes, sha256: $0.sha256, quality: $0.quality,
        metadata: $0.key.metadata)
    }
  }
}

extension PhotoRecord.State {
  /// What a report says of a record in this state.
  fileprivate var inReport: ReportRow.State {
    switch self {
    case .filtered: .filtered
    case .failed: .failed
    // A record that is not terminal is reported when the program stops only.
    case .new, .downloaded, .cancelled: .cancelled
    }
  }
}
