import JSON
import Ledger
import Model

extension ReportHead {
  /// - Parameter pauses: The oldest first.
  package init(
    run: RunContext, manifest: JobManifest, outcome: JobOutcome, pauses: [LedgerPause], warnings: [ReportWarning] = []
  ) {
    let started = manifest.accepted
    let finished = outcome.finished(since: started)
    let head = JSONValue.object([
      "schema_version": .integer(Self.schemaVersion),
      "job": .string(run.job),
      "run_id": .string(run.runID),
      "state": .string(outcome.state.rawValue),
      "tool": .object(["name": .string(Tool.name), "version": .string(Tool.version)]),
      "manifest": .object([
        "file": .string(manifest.file), "format": .string(manifest.format),
        "sha256": manifest.sha256.isEmpty ? nil : .string(manifest.sha256),
        "source": manifest.list?.json,
      ]),
      "started_at": .time(started),
      "finished_at": .time(finished),
      "duration_s": .number(Double(outcome.duration(since: started)) / 1000),
      "paused_s": .number(
        outcome.elapsed.map { Double(min($0.paused, outcome.duration(since: started))) / 1000 }
          ?? pauses.paused(until: finished)),
      "pauses": pauses.isEmpty ? nil : .array(pauses.map { $0.json(until: finished) }),
      "holds": outcome.holds.map { .array($0.map(\.json)) },
      "bounded_by": Bottleneck.json(outcome.bottlenecks),
      "counts": outcome.counts.json,
      "since_last": outcome.sinceLast?.json,
      "bytes": .object([
        "downloaded": .integer(outcome.bytes.downloaded), "written": .integer(outcome.bytes.written),
      ]),
      "transfers": outcome.transfers.json,
      "warnings": warnings.isEmpty ? nil : .array(warnings.map(\.json)),
      "errors": outcome.problems.isEmpty ? nil : .array(outcome.problems.map(\.json)),
    ])
    if case .object(let members) = head { self.init(members: members) } else { self.init(members: []) }
  }
}

extension LedgerPause {
  fileprivate func json(until now: Int) -> JSONValue {
    .object([
      "cause": .string(cause), "lock": lock.isEmpty ? nil : .string(lock), "reason": reason.map { .string($0) },
      "from": .time(began), "to": .time(max(began, ended ?? now)),
    ])
  }
}

extension JobOutcome.Problem {
  fileprivate var json: JSONValue {
    .object([
      "code": .string(code), "message": .string(message), "where": location.isEmpty ? nil : .string(location),
      "error": failure?.json,
    ])
  }
}

extension JobOutcome.SourceFailure {
  fileprivate var json: JSONValue {
    .object([
      "stage": .string(stage), "code": .string(code), "message": .string(message),
      "http_status": httpStatus.map { .integer($0) }, "retryable": .bool(isRetryable),
    ])
  }
}
