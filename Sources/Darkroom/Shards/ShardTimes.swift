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
    let ended = log.identity.modified.milliseconds
    let began = Self.start(of: shards.job, in: records) ?? ended
    guard let started = Self.text(min(began, ended)), let finished = Self.text(ended) else { return nil }
    (self.started, self.finished) = (started, finished)
  }

  /// When the run began that the process that did the shard has written into its status, or, without one, when that process began, in
  /// milliseconds since 1970; nil when neither is known.
  private static func start(of job: String, in records: OutboxFolder) -> Int? {
    if let data = try? OpenFile(reading: records.hidden + "/" + OutboxFolder.statusName).readAll(),
      let status = try? JSONDecoder().decode(Status.self, from: data),
      let began = status.jobs.first(where: { $0.job == job }).flatMap({ RunID.date(of: $0.run_id) })
    {
      return Int(began.timeIntervalSince1970 * 1000)
    }
    return (try? FileStatus(of: records.hidden + "/" + OutboxFolder.instanceName))?.identity.modified.milliseconds
  }

  /// The file in a shard's records with the time at which a process first began with it.
  private static let beginning = "began"

  /// Records that a process begins with a shard, unless another one has before.
  /// - Parameter hidden: The folder of files that users do not see.
  static func begin(in hidden: OpenFolder) throws(SystemError) {
    guard try hidden.status(of: beginning) == nil else { return }
    guard let now = text(Clock.wallMilliseconds) else { return }
    try hidden.replace(beginning, with: now + "\n", mode: 0o644)
  }

  /// When a process first began with a shard: RFC 3339, UTC, with milliseconds; nil when that is not known.
  static func begun(_ number: Int, in shards: ShardFolder) -> String? {
    let path = shards.records(of: number).hidden + "/" + beginning
    guard let content = try? OpenFile(reading: path).readStart(256) else { return nil }
    let text = String(decoding: content.dropLast(), as: UTF8.self)
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return (try? format.parse(text)).flatMap { Self.text(Int($0.timeIntervalSince1970 * 1000)) }
  }

  /// - Parameter time: Milliseconds since 1970.
  private static func text(_ time: Int) -> String? { JSONValue.time(time).string }
}
