import Foundation
import JSON
import Model
import System

/// When a shard that is not complete began, and when its last result ended: RFC 3339, UTC, with milliseconds.
struct ShardTimes {
  let started: String
  let finished: String

  /// - Returns: nil for a shard that nobody has begun, or whose records cannot be read.
  init?(of number: Int, in shards: ShardFolder) {
    let records = shards.records(of: number)
    let job = records.job(shards.job)
    // The report of a shard that was cancelled.
    if let file = try? job.open(file: "report.json"), let head = try? ReportHead(of: file),
      let started = head["started_at"]?.string, let finished = head["finished_at"]?.string
    {
      (self.started, self.finished) = (started, finished)
      return
    }
    guard let log = try? job.status(of: "entries.jsonl") else { return nil }
    let ended = log.identity.modified.sinceEpoch
    let began = Self.start(of: shards.job, in: records) ?? ended
    guard let started = Self.text(min(began, ended)), let finished = Self.text(ended) else { return nil }
    (self.started, self.finished) = (started, finished)
  }

  /// When the run began that the process that did the shard has written into its status, or, without one, when that process began, in
  /// seconds since 1970; nil when neither is known.
  private static func start(of job: String, in records: OutboxFolder) -> Double? {
    if let data = try? OpenFile(reading: records.hidden + "/" + OutboxFolder.statusName).readAll(),
      let status = try? JSONDecoder().decode(Status.self, from: data),
      let began = status.jobs.first(where: { $0.job == job }).flatMap({ RunID.date(of: $0.run_id) })
    {
      return began.timeIntervalSince1970
    }
    return (try? FileStatus(of: records.hidden + "/" + OutboxFolder.instanceName))?.identity.modified.sinceEpoch
  }

  private static func text(_ seconds: Double) -> String? { JSONValue.time(Int(seconds * 1000)).string }
}
