import Foundation
import Ledger

/// Writes the documents of a finished job: its failures, its manifest and, last, its report. Rows are streamed from the
/// ledger.
struct ReportFile {
  static let schemaVersion = 1

  let job: Job
  let outcome: JobOutcome
  let ledger: Ledger
  let state: StateFolder

  /// Writes everything. Done again after a crash, it writes the same.
  /// - Throws: `SystemError`, `SQLiteError`.
  func write() throws {
    try deliver(job.folder.failedManifest, mode: 0o600, isWanted: outcome.counts.failed > 0, writeFailures)
    try deliver(job.folder.manifest(extension: job.manifest.fileExtension), mode: 0o600, writeManifest)
    try deliver(job.folder.report, mode: 0o666, writeReport)
  }

  /// Writes a file in staging, brings it to the disk and puts it under its path.
  private func deliver(
    _ path: String, mode: UInt32, isWanted: Bool = true, _ body: (OpenFile) throws -> Void
  ) throws {
    guard isWanted else { return }
    let staged = job.staging.path(job.staging.document("document"))
    try Folder.removeFile(staged)
    let file = try OpenFile(creating: staged, mode: mode)
    try body(file)
    try file.sync()
    try Folder.sync(job.staging.folder)
    try Folder.rename(staged, to: path)
    try Folder.sync(job.folder.path)
  }

  private func writeManifest(_ file: OpenFile) throws {
    let snapshot = state.snapshot(job.runID, extension: job.manifest.fileExtension)
    try OpenFile(reading: snapshot).eachChunk { try file.write($0) }
  }

  private func writeReport(_ file: OpenFile) throws {
    guard case .object(let head) = try self.head() else { return }
    try file.write("{")
    for member in head {
      try file.write("\n\(JSONValue.string(member.key).text):\(member.value.text),")
    }
    try file.write("\n\"entries\":[")
    var separator = "\n"
    try ledger.eachEndedPage(run: job.runID) { rows in
      for row in rows {
        try file.write(separator + row.row)
        separator = ",\n"
      }
    }
    try file.write("\n]}\n")
  }

  private func writeFailures(_ file: OpenFile) throws {
    try ledger.eachEndedPage(run: job.runID) { rows in
      for row in rows {
        let value = try JSONValue(parsing: row.row)
        guard value["state"]?.string == "failed", let entry = try job.index.row(at: row.position) else { continue }
        let metadata = try entry.metadata.map(JSONValue.init(parsing:))
        let (urls, request) = try entry.sources
        let source = JSONValue.Member("url", urls.count == 1 ? .string(urls[0]) : .array(urls.map(JSONValue.string)))
        let rest = JSONValue.object([
          "name": .string(entry.original ?? entry.name),
          "filters": .string(entry.recipe),
          "format": .string(entry.format),
          "quality": .integer(entry.quality),
          "priority": .string(Entry.Priority.allCases[entry.turn].rawValue),
          "checksum": entry.checksum.map(JSONValue.string),
          "metadata": metadata,
          "_error": value["error"],
        ])
        guard case .object(let members) = rest else { continue }
        try file.write(JSONValue.object([source] + request.members + members).text + "\n")
      }
    }
  }

  /// Everything but the rows.
  private func head() throws -> JSONValue {
    let pauses = try ledger.pauses(run: job.runID)
    let started = job.manifest.accepted
    return .object([
      "schema_version": .integer(Self.schemaVersion),
      "job": .string(job.name),
      "run_id": .string(job.runID),
      "state": .string(outcome.state.rawValue),
      "tool": .object(["name": .string("darkroom"), "version": .string(Darkroom.version)]),
      "manifest": .object([
        "file": .string(job.manifest.file), "format": .string(job.manifest.format),
        "sha256": .string(job.manifest.sha256),
      ]),
      "started_at": .time(started),
      "finished_at": .time(outcome.finished),
      "duration_s": .number(Double(outcome.finished - started) / 1000),
      "paused_s": .number(PauseBook.paused(pauses, until: outcome.finished)),
      "pauses": pauses.isEmpty ? nil : .array(pauses.map { $0.row(until: outcome.finished) }),
      "counts": outcome.counts.row,
      "bytes": .object([
        "downloaded": .integer(outcome.bytes.downloaded), "written": .integer(outcome.bytes.written),
      ]),
      "transfers": outcome.transfers.row,
      "errors": outcome.problems.isEmpty ? nil : .array(outcome.problems.map(\.row)),
    ])
  }
}

extension JSONValue {
  /// A time as RFC 3339 in UTC with milliseconds.
  /// - Parameter milliseconds: Since 1970.
  static func time(_ milliseconds: Int) -> JSONValue {
    let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    return .string(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
  }
}

extension LedgerPause {
  fileprivate func row(until now: Int) -> JSONValue {
    .object([
      "cause": .string(cause), "lock": lock.isEmpty ? nil : .string(lock), "reason": reason.map { .string($0) },
      "from": .time(began), "to": .time(max(began, ended ?? now)),
    ])
  }
}

extension JobOutcome.Counts {
  /// The counts as the report has them.
  package var row: JSONValue {
    .object([
      "total": .integer(total), "filtered": .integer(filtered), "failed": .integer(failed),
      "cancelled": .integer(cancelled), "reused": .integer(reused),
    ])
  }
}

extension JobOutcome.Problem {
  fileprivate var row: JSONValue {
    .object(["code": .string(code), "message": .string(message), "where": place.isEmpty ? nil : .string(place)])
  }
}
