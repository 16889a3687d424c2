import Imaging
import Ledger
import Transfer

extension PhotoRecord {
  /// The file that the record delivers; nil without a new result.
  var delivery: Delivery? {
    let live = snapshot
    guard let result = live.result else { return nil }
    let origin = live.source?.picture.map { Origin(product: result.product, source: $0, output: result.picture).text }
    return Delivery(
      staged: result.staged, target: target(of: result), bytes: result.bytes, sha256: result.sha256, origin: origin)
  }

  /// The path of a result beneath the job's folder.
  func target(of result: Result) -> String {
    JobFolder.image(entry.name, extension: result.picture.format.fileExtension)
  }

  /// What the ledger keeps of the record.
  /// - Parameter row: What `row()` gives.
  func ledgerEntry(_ row: JSONValue) -> LedgerEntry {
    let recognised = snapshot.reused.flatMap { reused in
      reused.newIdentity.map { LedgerEntry.Recognised(target: reused.target, identity: $0) }
    }
    return LedgerEntry(position: entry.position, delivery: delivery, recognised: recognised, row: row.text)
  }

  /// The record as a row of the report.
  func row() -> JSONValue {
    let live = snapshot
    let url = SourceLocation.redacted(entry.url)
    return .object([
      "index": .integer(entry.position),
      "name": .string(entry.originalName ?? entry.name),
      "url": .string(url),
      "final_url": live.source.flatMap { $0.finalURL == url ? nil : .string($0.finalURL) },
      "state": .string(live.state.rawValue),
      "reused": live.reused == nil ? nil : .bool(true),
      "coalesced": live.source?.isCoalesced == true ? .bool(true) : nil,
      "priority": .string(entry.priority.rawValue),
      "attempts": .integer(live.attempts),
      "output": output(live),
      "source": source(live),
      "filters": .string(entry.recipe.description),
      "timings_ms": timings(live.timings),
      "error": live.failure.map(\.row),
      "metadata": entry.metadata,
    ])
  }

  private func output(_ live: Live) -> JSONValue? {
    if let reused = live.reused { return output(reused.target, reused.picture, reused.bytes, reused.sha256) }
    guard let result = live.result else { return nil }
    return output(target(of: result), result.picture, result.bytes, result.sha256)
  }

  private func output(_ target: String, _ picture: ImageInfo, _ bytes: Int, _ sha256: String) -> JSONValue {
    .object([
      "file": .string(target),
      "format": .string(picture.format.rawValue),
      "width": .integer(picture.width),
      "height": .integer(picture.height),
      "bytes": .integer(bytes),
      "sha256": .string(sha256),
    ])
  }

  private func source(_ live: Live) -> JSONValue? {
    guard let source = live.source else { return nil }
    return .object([
      "format": source.picture.map { .string($0.format.rawValue) },
      "width": source.picture.map { .integer($0.width) },
      "height": source.picture.map { .integer($0.height) },
      "frames": source.picture.flatMap { $0.frames > 1 ? .integer($0.frames) : nil },
      "bytes": .integer(source.bytes),
      "sha256": .string(source.sha256),
      "http_status": source.httpStatus.map { .integer($0) },
    ])
  }

  private func timings(_ timings: Timings) -> JSONValue? {
    guard timings != Timings() else { return nil }
    return .object([
      "queued": timings.queued.map { .number($0) },
      "download": timings.download.map { .number($0) },
      "filter": timings.filter.map { .number($0) },
    ])
  }
}

extension EntryFailure {
  /// The failure as the `error` of a row.
  var row: JSONValue {
    .object([
      "stage": .string(stage.rawValue),
      "code": .string(code),
      "message": .string(message),
      "http_status": httpStatus.map { .integer($0) },
      "retryable": .bool(isRetryable),
    ])
  }
}
