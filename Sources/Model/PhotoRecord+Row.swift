import Ledger
import Transfer

extension PhotoRecord {
  /// The files that the record delivers.
  package var artifacts: [Artifact] {
    let live = snapshot
    var artifacts = live.artifacts.filter {
      !$0.isPlaced && !($0.kind == .original && live.original?.isDelivered == true)
    }
    guard let result = live.result, let source = live.source, let picture = source.picture,
      let index = artifacts.firstIndex(where: { $0.kind == .result })
    else { return artifacts }
    var provenance = Provenance(key: result.key, source: picture, output: result.picture)
    provenance.quality = result.quality
    provenance.answer = source.answer?.text
    provenance.isAdopted = artifacts[index].existingFile?.kind == .equal
    provenance.derived = artifacts.derived { Provenance.DerivedFile(bytes: $0.bytes, sha256: $0.sha256) }
    artifacts[index].delivery.origin = provenance.text
    return artifacts
  }

  /// The record's entry for the ledger, without its files.
  /// - Parameter row: The result of `row()`.
  package func ledgerEntry(_ row: ReportRow) -> LedgerEntry {
    let refreshed = snapshot.reused.flatMap { reused in
      LedgerEntry.Refreshed(target: reused.target, identity: reused.newIdentity, origin: reused.newOrigin)
    }
    return LedgerEntry(
      position: entry.position, delivery: nil, refreshed: refreshed, failure: row.ledgerFailure(name: entry.name),
      row: row.json.text)
  }

  package func row() -> ReportRow {
    let live = snapshot
    let url = SourceLocation.redacted(url)
    let hasRecovered = live.state == .filtered && lastFailure != nil
    let isChanged = live.state == .filtered && !hasRecovered ? live.isSourceChanged : nil
    let finalURL = live.source?.finalURL ?? live.failure?.finalURL
    let validators = live.state == .filtered ? live.source?.answer?.shownValidators : nil
    var failure = live.failure.map { ReportRow.Failure($0, after: lastFailure, since: firstTried) }
    if entry.urls.count > 1, let last = live.failure, last.code.stage != .plan {
      failure?.mirrors = earlierMirrors + [ReportRow.MirrorFailure(last, of: url)]
    }
    return ReportRow(
      index: entry.line ?? entry.position, name: entry.shownName, variant: entry.variant, url: url,
      finalURL: finalURL == url ? nil : finalURL, state: live.state.inReport,
      isReused: live.reused != nil, isCoalesced: live.source?.isCoalesced == true, isRecovered: hasRecovered,
      priority: entry.priority.rawValue, attempts: live.attempts, output: output(live),
      derived: live.reused?.derived ?? live.artifacts.derived(\.target),
      source: live.source.map {
        ReportRow.Source(
          picture: $0.picture, bytes: $0.bytes, sha256: $0.sha256, httpStatus: $0.httpStatus, isChanged: isChanged,
          file: live.originalFile, etag: validators?.etag, lastModified: validators?.lastModified)
      },
      filters: entry.recipe.description, timings: live.timings, failure: failure, warnings: live.result?.warnings ?? [],
      metadata: entry.metadata)
  }

  private func output(_ live: Live) -> ReportRow.Output? {
    if let reused = live.reused {
      return .init(
        file: reused.target, picture: reused.picture, bytes: reused.bytes, sha256: reused.sha256,
        quality: reused.quality, metadata: reused.metadata, settings: reused.settings)
    }
    guard let result = live.result, let file = live.artifacts[.result]?.delivery else { return nil }
    return .init(
      file: file.target, picture: result.picture, bytes: file.bytes, sha256: file.sha256, quality: result.quality,
      metadata: result.key.metadata, settings: result.key.settings)
  }
}

extension PhotoRecord.Live {
  /// The path of the source in the job's folder; nil when it is not there.
  fileprivate var originalFile: String? {
    if state == .filtered, let artifact = artifacts[.original] { return artifact.delivery.target }
    return state != .cancelled && original?.isDelivered == true ? original?.delivery.target : nil
  }
}

extension PhotoRecord.State {
  /// The state that a report shows for a record in this state.
  fileprivate var inReport: ReportRow.State {
    switch self {
    case .filtered: .filtered
    case .failed: .failed
    // A record that is not terminal is reported only when the program stops.
    case .new, .downloaded, .cancelled: .cancelled
    }
  }
}
