import Darkroom
import Foundation
import Model
import System

extension Status {
  /// The status for scripts and for people, a line for each item.
  var lines: [String] {
    var lines = heading
    lines += jobs.map { "job \($0.job): " + (process == nil ? $0.rest : $0.progress) }
    lines += waitLines + unknownLines + queueLines + hostLines + noticeLines
    let notes = queuedNotes
    lines += queued.map { "queued: \($0)" + (notes[ByteKey($0)] ?? "") }
    if queued_total > queued.count { lines.append("queued: \(queued_total - queued.count) more") }
    lines += waitsForDeferred
    lines += pauseLines { $0 } + ignoredLines
    if isIdle { lines.append("nothing to do") }
    let finished = finished ?? []
    lines += finished.map(\.line)
    if let total = finished_total, total > finished.count {
      lines.append("ended: \(total - finished.count) more, see --all")
    }
    return lines.map(\.visible)
  }

  var heading: [String] {
    var lines = ["\(inbox) → \(outbox)"]
    let activity = stopping == true ? "stopping: what runs may finish, the rest is left for the next start" : "running"
    lines.append(process.map { "process \($0) is \(activity)" } ?? "no process is running")
    if let inbox_error { lines.append("the inbox cannot be read: \(inbox_error)") }
    return lines
  }

  var isIdle: Bool {
    jobs.isEmpty && queued.isEmpty && jobs_unknown == nil && inbox_error == nil && notices == nil
  }

  var noticeLines: [String] {
    [
      notices?.exec.map { "the program of --exec has not ended for " + $0.of("job", "jobs") },
      notices?.notify.map { $0.of("notification is not delivered", "notifications are not delivered") },
    ].compactMap { $0 }
  }

  var waitLines: [String] {
    let waits = waits ?? []
    let open = Set(jobs.map { ByteKey($0.job) })
    var lines = waits.map { wait in
      let hasEnded = wait.manifest != nil && !open.contains(ByteKey(wait.job))
      let state = wait.missing_options != nil ? "waits" : hasEnded ? "has ended" : "is in trouble, and tried again"
      return "job \(wait.job) \(state): \(wait.why)"
    }
    if let total = waits_total, total > waits.count {
      lines.append((total - waits.count).of("more job is", "more jobs are") + " in trouble")
    }
    return lines
  }

  var unknownLines: [String] {
    guard let jobs_unknown else { return [] }
    let source = jobs.isEmpty ? "" : " but from the last status"
    return ["jobs that have not ended are not known\(source): \(jobs_unknown)"]
  }

  var queueLines: [String] {
    guard let queues, !jobs.isEmpty else { return [] }
    func progress(_ queue: Status.Queue) -> String {
      "\(queue.running) of \(queue.limit) running, " + (queue.slow.map { "\($0) slow, " } ?? "")
        + "\(queue.waiting) waiting"
    }
    return ["downloads: \(progress(queues.download)); filtrations: \(progress(queues.filtration))"]
  }

  /// Notes about queued manifests, after a comma, by their files.
  var queuedNotes: [ByteKey: String] {
    let behind = Dictionary(
      (queued_behind ?? []).map { (ByteKey($0.file), $0) }, uniquingKeysWith: { first, _ in first })
    let open = Set((queued_open ?? []).map(ByteKey.init))
    let cancelled = Set((queued_cancelled ?? []).map(ByteKey.init))
    let next = Set((queued_next_start ?? []).map(ByteKey.init))
    let notes = queued.map(ByteKey.init).map { file in
      let note =
        (behind[file].map(\.text) ?? "") + (open.contains(file) ? ", which some process has open for writing" : "")
        + (next.contains(file) ? ", waits for the next start" : "")
        + (cancelled.contains(file) ? ", to be cancelled" : "")
      return (file, note)
    }
    return Dictionary(notes, uniquingKeysWith: { first, _ in first })
  }

  /// - Parameter shown: Formats a time.
  func pauseLines(_ shown: (String) -> String) -> [String] {
    var lines = pauses.map { "paused: \($0.description)" + ($0.since.map { " since \(shown($0))" } ?? "") }
    if let total = pauses_total, total > pauses.count { lines.append("paused: \(total - pauses.count) more") }
    return lines
  }

  var ignoredLines: [String] {
    var lines = ignored.map { "ignored: \($0.file): \($0.why)" }
    if ignored_total > ignored.count { lines.append("ignored: \(ignored_total - ignored.count) more") }
    return lines
  }

  /// Notes about hosts: each once, however many jobs have entries there.
  var hostLines: [String] {
    var until: [String: String] = [:]
    for host in jobs.flatMap({ $0.held_hosts ?? [] }) { until[host.host] = max(until[host.host] ?? "", host.until) }
    let held = until.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
    var lines = held.map { "\($0.key) is on hold until \($0.value)" }
    // The unnamed hosts of one job may be those of another.
    let unnamed = jobs.map { ($0.held_hosts_total ?? 0) - ($0.held_hosts ?? []).count }.max() ?? 0
    if unnamed > 0 { lines.append("\(unnamed.of("more host is", "more hosts are")) on hold") }
    let closed = closed_hosts ?? []
    lines += closed.map {
      $0.host == HostHold.thisMachine
        ? "this machine cannot ask new hosts since \($0.since) (\($0.cause)): their entries wait"
        : "\($0.host) is failing since \($0.since) (\($0.cause)): its entries wait"
    }
    if let total = closed_hosts_total, total > closed.count {
      lines.append("\((total - closed.count).of("more host is", "more hosts are")) failing")
    }
    let ruled = ruled_hosts ?? []
    lines += ruled.map { "\($0.host) has the rule \($0.rules.joined(separator: ", "))" }
    if let total = ruled_hosts_total, total > ruled.count {
      lines.append("\((total - ruled.count).of("more host has a rule", "more hosts have rules"))")
    }
    return lines
  }
}

extension Status.QueuedBehind {
  /// The thing that it waits for, after a comma.
  fileprivate var text: String {
    replaces == true
      ? ", replaces the manifest of job \(job) when it is planned" : ", after the other manifest of job \(job)"
  }
}

extension Status.Job {
  /// The deferred entries, after a comma; empty without any.
  private var deferral: String {
    deferred.map { ", \($0) deferred" + (deferred_until.map { " until \($0)" } ?? "") } ?? ""
  }

  /// The progress of the job; nil when it is not known.
  private var count: String? {
    guard let ended, let failed else { return total.map { "0 of \($0)" } }
    let failures = failed > 0 ? ", \(failed)" + (total == nil ? " of them" : "") + " failed" : ""
    return "\(ended)" + (total.map { " of \($0)" } ?? " done") + failures
  }

  /// The job while no process works on it.
  fileprivate var rest: String {
    let what = state == "cancelling" ? "to be cancelled by the next start" : "\(state) for the next start"
    return what + (count.map { ", " + $0 } ?? "") + deferral
  }

  /// The job while a process works on it.
  fileprivate var progress: String {
    guard let count, filtered != nil, total != nil else { return state + deferral }
    return count + (retrying.map { $0 > 0 ? ", \($0) to be retried" : "" } ?? "")
      + (waiting_for_others.map { ", \($0) waiting for others" } ?? "") + deferral
      + (rate.map { ", \($0.formatted(.number.precision(.fractionLength(0...1))))/s" } ?? "")
      + (seconds_left.map { ", \(Int($0)) s left" } ?? "")
      + (Self.endings[state] ?? "")
  }

  /// The activity of a job that starts nothing more.
  private static let endings = [
    "finishing": ", the report is being written", "replaced": " (replaced)", "cancelling": " (being cancelled)",
  ]
}

extension Status.Finished {
  fileprivate var line: String {
    let counts =
      state == "rejected"
      ? nil
      : filtered.map { filtered in
        ", \(filtered) of \(total ?? filtered) filtered" + (failed.map { $0 > 0 ? ", \($0) failed" : "" } ?? "")
          + (cancelled.map { $0 > 0 ? ", \($0) cancelled" : "" } ?? "")
      }
    return "ended: \(job): \(state)" + (counts ?? "") + (finished_at.map { ", " + $0 } ?? "")
  }
}
