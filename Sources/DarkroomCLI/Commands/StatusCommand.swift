import Darkroom
import Foundation

/// Prints the status, whether or not an instance is running.
struct StatusCommand: Command {
  let name = "status"
  let operands = ""
  let summary = "print jobs, queues, rate, time left, pauses"
  let details = "Works whether or not an instance is running, and changes nothing. With --json, one object."
  let examples = [
    "darkroom status",
    "darkroom status --json | jq -r '.jobs[] | .job'",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard invocation.operands.isEmpty else {
      throw UsageError("status takes no operands, such as \"\(invocation.operands[0])\"")
    }
    let status = try StatusReader(configuration: invocation.settings.resolved(isReading: true)).read()
    try invocation.output.print(invocation.settings.isJSON ? status.text : status.lines.joined(separator: "\n"))
    return .success
  }
}

extension Status {
  /// The status for a person.
  fileprivate var lines: [String] {
    var lines = ["\(inbox) → \(outbox)"]
    lines.append(process.map { "process \($0) is running" } ?? "no process is running")
    lines += jobs.map { job in
      "job \(job.job): " + (process == nil ? "\(job.state) for the next start\(job.deferral)" : job.progress)
    }
    let waits = waits ?? []
    lines += waits.map { "job \($0.job) is in trouble, and tried again: \($0.why)" }
    if let total = waits_total, total > waits.count { lines.append("\(total - waits.count) more jobs are in trouble") }
    if let jobs_unknown { lines.append("jobs that have not ended are not known: \(jobs_unknown)") }
    if let queues, !jobs.isEmpty {
      lines.append("downloads: \(queues.download.progress); filtrations: \(queues.filtration.progress)")
    }
    for job in jobs {
      let held = job.held_hosts ?? []
      lines += held.map { "\($0.host) is on hold until \($0.until)" }
      if let total = job.held_hosts_total, total > held.count {
        lines.append("\((total - held.count).of("more host is", "more hosts are")) on hold")
      }
    }
    let ruled = ruled_hosts ?? []
    lines += ruled.map { "\($0.host) has the rule \($0.rules.joined(separator: ", "))" }
    if let total = ruled_hosts_total, total > ruled.count {
      lines.append("\((total - ruled.count).of("more host has a rule", "more hosts have rules"))")
    }
    lines += queued.map { "queued: \($0)" }
    if queued_total > queued.count { lines.append("queued: \(queued_total - queued.count) more") }
    lines += waitsForDeferred
    lines += pauses.map { pause in
      "paused: \(pause.description)" + (pause.since.map { " since \($0)" } ?? "")
    }
    lines += ignored.map { "ignored: \($0.file): \($0.why)" }
    if ignored_total > ignored.count { lines.append("ignored: \(ignored_total - ignored.count) more") }
    if jobs.isEmpty, queued.isEmpty, jobs_unknown == nil { lines.append("nothing to do") }
    return lines
  }
}

extension Status.Job {
  /// What is tried again later, after a comma; empty when nothing is.
  fileprivate var deferral: String {
    deferred.map { ", \($0) deferred" + (deferred_until.map { " until \($0)" } ?? "") } ?? ""
  }

  fileprivate var progress: String {
    guard let total, let filtered, let failed, let cancelled else { return state }
    let ended = filtered + failed + cancelled
    return "\(ended) of \(total)" + (failed > 0 ? ", \(failed) failed" : "")
      + (retrying.map { $0 > 0 ? ", \($0) to be retried" : "" } ?? "")
      + deferral
      + (rate.map { ", \($0.formatted(.number.precision(.fractionLength(0...1))))/s" } ?? "")
      + (seconds_left.map { ", \(Int($0)) s left" } ?? "")
      + (state == "finishing" ? ", the report is being written" : "")
  }
}

extension Status.Queue {
  fileprivate var progress: String {
    "\(running) of \(limit) running, " + (slow.map { "\($0) slow, " } ?? "") + "\(waiting) waiting"
  }
}
