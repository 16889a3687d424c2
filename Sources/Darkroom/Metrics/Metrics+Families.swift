import Model

extension Metrics {
  /// What the file for Prometheus contains; `Documentation/operations.md` describes it.
  /// - Parameters:
  ///   - now: Milliseconds of the monotonic clock.
  ///   - isLast: Whether the process ends, and its workers with it.
  func families(_ status: Status, now: Int, isLast: Bool = false) -> [MetricFamily] {
    work(status) + entries + queues(status, now: now) + [
      .init(.gauge, "workers", "Processes that decode pictures.", isLast ? 0 : status.workers?.running ?? 0),
      .init(
        .counter, "workers_started_total", "Processes that were started to decode pictures.",
        status.workers?.started ?? 0),
      .init(
        .counter, "workers_lost_total", "Processes that crashed or were killed while they decoded pictures.",
        status.workers?.lost ?? 0),
      .init(.gauge, "build_info", "The version; the value is always 1.", by: "version", [(status.version, 1)]),
      .init(.gauge, "process_start_time_seconds", "When the process began, in seconds since 1970.", started),
    ]
  }

  private func work(_ status: Status) -> [MetricFamily] {
    let live = Dictionary(grouping: status.jobs, by: \.state)
    return [
      .init(
        .gauge, "jobs", "Jobs that have not ended, by state.", by: "state",
        Status.Job.states.map { ($0, live[$0]?.count ?? 0) }),
      .init(.gauge, "manifests_queued", "Manifests in the inbox that are not jobs yet.", status.queued_total),
      .init(
        .counter, "jobs_ended_total", "Runs of jobs that have ended, by state.", by: "state",
        JobOutcome.State.allCases.map { ($0.rawValue, jobs[$0] ?? 0) }),
      .init(
        .time, "job_last_end_timestamp_seconds", "When a job last ended, in seconds since 1970; 0 for never.", lastEnd),
      .init(
        .time, "job_last_success_timestamp_seconds",
        "When a job last succeeded, in seconds since 1970; 0 for never.", lastSuccess),
      .init(
        .counter, "notifications_total", "Tries to deliver notifications of ended runs, by result.", by: "result",
        NotificationResult.names.map { ($0, notifications[$0] ?? 0) }),
      .init(.gauge, "notifications_waiting", "Notifications that are not delivered.", status.notices?.notify ?? 0),
    ]
  }

  private var entries: [MetricFamily] {
    let counts = rows.counts
    return [
      .init(
        .counter, "entries_ended_total", "Entries that have ended, by state.", by: "state",
        [("filtered", counts.filtered), ("failed", counts.failed), ("cancelled", counts.cancelled)]),
      .init(
        .counter, "entry_failures_total", "Entries that have failed, by error code.", by: "code",
        FailureCode.all.map { ($0.text, failures[$0.text] ?? 0) }),
      .init(
        .counter, "entries_reused_total", "Entries that have ended with the result of an earlier run.", counts.reused),
      .init(.counter, "downloaded_bytes_total", "Bytes of sources that were downloaded.", rows.bytes.downloaded),
      .init(.counter, "written_bytes_total", "Bytes of results that were written.", rows.bytes.written),
      .init(
        .counter, "cache_hits_total", "Sources that were not downloaded, because they had not changed.",
        confirmedSources),
      .init(.counter, "cache_hit_bytes_total", "Bytes of these sources.", confirmedBytes),
      .init("download_duration_seconds", "Times of downloads that succeeded.", downloads),
      .init("filtration_duration_seconds", "Times of filtrations that succeeded.", filtrations),
    ]
  }

  private func queues(_ status: Status, now: Int) -> [MetricFamily] {
    let queues = status.queues.map { [("download", $0.download), ("filtration", $0.filtration)] } ?? []
    return [
      .init(
        .gauge, "queue_waiting", "Entries that wait for the operation of a queue.", by: "queue",
        queues.map { ($0, $1.waiting) }),
      .init(
        .gauge, "queue_running", "Entries whose operation of a queue runs.", by: "queue",
        queues.map { ($0, $1.running) }),
      .init(
        .gauge, "queue_limit", "Operations of a queue that may run at once.", by: "queue",
        queues.map { ($0, $1.limit) }),
      .init(
        .gauge, "pause_causes", "What suspends the queues now, by kind.", by: "cause",
        PauseCause.kinds.map { ($0, pauses[$0]?.causes ?? 0) }),
      .init(
        .counter, "paused_seconds_total", "How long the queues were suspended, by kind of cause.", by: "cause",
        PauseCause.kinds.map { ($0, pauses[$0]?.seconds(now: now) ?? 0) }),
      .init(.gauge, "hosts_closed", "Hosts that are failing, whose entries wait.", status.closed_hosts_total ?? 0),
      .init(.gauge, "hosts_throttled", "Hosts that have asked to wait with requests.", status.throttledHosts),
    ]
  }
}

extension Status {
  /// The number of hosts on hold; of each job `hostLimit` at most are compared with those of others.
  fileprivate var throttledHosts: Int {
    let names = Set(jobs.flatMap { $0.held_hosts ?? [] }.map(\.host))
    return max(names.count, jobs.compactMap(\.held_hosts_total).max() ?? 0)
  }
}
