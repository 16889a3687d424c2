import Foundation

/// `status.json`: what the program is doing, for `darkroom status` and for scripts.
extension Darkroom {
  /// Writes the status if it has changed, at most once a second, unless it is urgent.
  func writeStatus(isUrgent: Bool = false) {
    let now = Clock.seconds
    guard isUrgent || now >= nextStatus else { return }
    nextStatus = now + 1
    let status = status
    guard status != lastStatus else { return }
    lastStatus = status
    var dated = status
    dated.updated_at = JSONValue.time(Clock.milliseconds).string
    // A status that cannot be written is no reason to stop working.
    try? Self.replace(state.status, with: dated.text + "\n")
  }

  /// Writes that a job is finishing: at once when the status does not list the job yet, so that who waits for it finds it
  /// there while its report is being written.
  func writeFinishingStatus(of job: Job) {
    let isListed = lastStatus?.jobs.contains { $0.run_id == job.runID } ?? false
    writeStatus(isUrgent: !isListed)
  }

  private static func replace(_ path: String, with text: String) throws {
    let written = path + ".new"
    try Folder.removeFile(written)
    try OpenFile(creating: written, mode: 0o600).write(text)
    try Folder.rename(written, to: path)
  }

  private var status: Status {
    var status = Status(version: Darkroom.version, inbox: inbox.path, outbox: outbox.path)
    status.running = true
    status.process = Int(getpid())
    if let preparing {
      status.jobs.append(Status.Job(job: preparing.job.name, run_id: preparing.job.runID, state: "planning"))
    }
    if let current { status.jobs.append(statusOf(current.job, began: current.began)) }
    if let (job, outcome) = finishing {
      status.jobs.append(
        Status.Job(
          job: job.name, run_id: job.runID, state: "finishing", total: outcome.counts.total,
          filtered: outcome.counts.filtered, failed: outcome.counts.failed, cancelled: outcome.counts.cancelled,
          transfers: outcome.transfers))
    }
    status.jobs += choice.unfinished.map { Status.Job(job: $0.name, run_id: $0.runID, state: "waiting") }
    (status.queued, status.queued_total) = choice.queued(limit: Status.listLimit)
    status.queues = pending.status
    status.pauses = pauses.open(since: 0).map {
      Status.Pause(
        cause: $0.cause, lock: $0.lock.isEmpty ? nil : $0.lock, reason: $0.reason,
        since: JSONValue.time($0.began).string)
    }
    status.ignored = ignored.prefix(Status.listLimit).map { Status.Foreign($0) }.sorted { $0.file < $1.file }
    status.ignored_total = ignored.count
    return status
  }

  private func statusOf(_ job: Job, began: (seconds: Double, ended: Int)) -> Status.Job {
    let counts = job.tally.counts
    var status = Status.Job(
      job: job.name, run_id: job.runID, state: "running", total: job.total, filtered: counts.filtered,
      failed: counts.failed, cancelled: counts.cancelled, retrying: job.waitingRetries,
      transfers: job.transfers)
    if let held = try? job.heldHosts(limit: Status.hostLimit), held.total > 0 {
      status.held_hosts = held.hosts.map {
        // To the second, so that the same wait is the same text.
        let until = (Double(Clock.milliseconds) / 1000 + $0.seconds).rounded(.up)
        return Status.HeldHost(host: $0.name, until: JSONValue.time(Int(until) * 1000).string ?? "")
      }
      status.held_hosts_total = held.total
    }
    let rate = Double(counts.total - began.ended) / max(0.001, Clock.seconds - began.seconds)
    if rate > 0 {
      status.rate = (rate * 10).rounded() / 10
      status.seconds_left = (Double(job.total - counts.total) / rate).rounded()
    }
    return status
  }
}
