import Inbox
import Model
import Testing

@testable import Darkroom
@testable import Model

@Suite struct MetricsTests {
  private var metrics = Metrics(started: 5)
  private var status = Status(version: "1.2", inbox: "in", outbox: "out")

  init() {
    let queue = Status.Queue(limit: 2, running: 1, waiting: 7)
    status.queues = .init(suspended: false, download: queue, filtration: queue)
  }

  private func text(now: Int = 0, isLast: Bool = false, continuing earlier: [String: Double] = [:]) -> String {
    metrics.families(status, now: now, isLast: isLast).map { $0.text(continuing: earlier) }.joined()
  }

  private func values(now: Int = 0, isLast: Bool = false) -> [String: Double] {
    MetricFamily.values(in: text(now: now, isLast: isLast))
  }

  private static func end(
    _ state: JobOutcome.State, isAccepted: Bool = false, isRejectedReplacement: Bool = false,
    isEmptyFailure: Bool = false
  ) -> Event {
    .jobEnded(
      JobSummary(
        job: "a", state: state, counts: .init(), sinceLast: nil, isAccepted: isAccepted, transfers: Transfers(),
        bottlenecks: [], problems: [], report: "", seconds: 1, isRejectedReplacement: isRejectedReplacement,
        isEmptyFailure: isEmptyFailure))
  }

  private mutating func add(_ event: Event, now: Int = 0, wall: Double = 0) { metrics.add(event, now: now, wall: wall) }

  private mutating func add(_ row: ReportRow) { add(.entryEnded(job: "a", row: row, deferred: 0)) }

  @Test func `every family has its help, its type and its values from the beginning on`() {
    var name = ""
    var names: [String] = []
    var isEmpty = false
    for line in text().split(separator: "\n") {
      if let help = line.wholeMatch(of: /# HELP (darkroom_[a-z_]+) [^\n]+\./) {
        #expect(!isEmpty, "\(name)")
        (name, isEmpty) = (String(help.1), true)
        names.append(name)
      } else if line.hasPrefix("#") {
        #expect(line.wholeMatch(of: /# TYPE ([a-z_]+) (?:counter|gauge|histogram)/)?.1 == name[...], "\(line)")
      } else {
        #expect(line.wholeMatch(of: /([a-z_]+)(?:{[a-z]+="[^"]+"})? [0-9.]+/)?.1.hasPrefix(name) == true, "\(line)")
        isEmpty = false
      }
    }
    #expect(!isEmpty && names.count > 20 && Set(names).count == names.count)
    let code = FailureCode.all.map { values()["darkroom_entry_failures_total{code=\"\($0.text)\"}"] }
    #expect(code.allSatisfy { $0 == 0 } && !code.isEmpty)
  }

  @Test(arguments: JobOutcome.State.allCases)
  mutating func `a run counts in the state in which it has ended`(state: JobOutcome.State) {
    add(Self.end(state), wall: 100)
    let values = values()
    for other in JobOutcome.State.allCases {
      #expect(values["darkroom_jobs_ended_total{state=\"\(other.rawValue)\"}"] == (other == state ? 1 : 0))
    }
    #expect(values["darkroom_job_last_end_timestamp_seconds"] == (state == .superseded ? 0 : 100))
    #expect(values["darkroom_job_last_success_timestamp_seconds"] == (state == .succeeded ? 100 : 0))
  }

  @Test mutating func `a success is what the exit code takes for one`() {
    add(Self.end(.partial, isAccepted: true), wall: 100)
    #expect(metrics.lastSuccess == 100)
    add(Self.end(.succeeded, isEmptyFailure: true), wall: 200)
    add(Self.end(.rejected, isRejectedReplacement: true), wall: 300)
    #expect(metrics.lastSuccess == 100)
    #expect(metrics.lastEnd == 200)
  }

  @Test mutating func `entries count by state and code, and with their bytes`() throws {
    let failure = ReportRow.Failure(EntryFailure(code: .download(.httpStatus), message: "404", httpStatus: 404))
    add(.sample(state: .filtered, output: .sample(bytes: 3), source: .sample(bytes: 10)))
    add(.sample(state: .filtered, output: .sample(bytes: 3), source: .sample(bytes: 20, httpStatus: 304)))
    add(.sample(state: .failed, failure: failure))
    add(.entryCancelled(job: "a", row: .sample(state: .cancelled)))
    let values = values()
    #expect(values["darkroom_entries_ended_total{state=\"filtered\"}"] == 2)
    #expect(values["darkroom_entries_ended_total{state=\"failed\"}"] == 1)
    #expect(values["darkroom_entries_ended_total{state=\"cancelled\"}"] == 1)
    #expect(values["darkroom_entry_failures_total{code=\"http-status\"}"] == 1)
    #expect(values["darkroom_downloaded_bytes_total"] == 10)
    #expect(values["darkroom_written_bytes_total"] == 6)
    #expect(values["darkroom_cache_hits_total"] == 1)
    #expect(values["darkroom_cache_hit_bytes_total"] == 20)
  }

  @Test mutating func `ranges of durations hold those below, and the last one all`() {
    for (download, filter) in [(4.0, 5.0), (60.5, 1000), (400_000, 2000)] {
      add(.timed(download: download, filter: filter))
    }
    add(.timed(download: 0, filter: 7, isReused: true))
    let values = values()
    func bucket(_ bound: String, _ name: String = "download") -> Double? {
      values["darkroom_\(name)_duration_seconds_bucket{le=\"\(bound)\"}"]
    }
    #expect(bucket("0.005") == 1 && bucket("0.05") == 1 && bucket("0.1") == 2 && bucket("300") == 2)
    #expect(bucket("+Inf") == 3 && values["darkroom_download_duration_seconds_count"] == 3)
    #expect(values["darkroom_download_duration_seconds_sum"].map { abs($0 - 400.0645) < 1e-9 } == true)
    #expect(bucket("0.005", "filtration") == 1 && bucket("1", "filtration") == 2)
    #expect(bucket("+Inf", "filtration") == 3)
  }

  @Test mutating func `pauses of one kind that overlap count once, and those that hold count until now`() {
    let (one, two) = (PauseCause.disk(reason: "1"), PauseCause.disk(reason: "2"))
    add(.paused(one), now: 1000)
    add(.paused(two), now: 2000)
    add(.causeGone(one, remaining: ""), now: 3000)
    func disk(_ name: String, now: Int) -> Double? { values(now: now)["darkroom_\(name){cause=\"disk\"}"] }
    #expect(disk("pause_causes", now: 4000) == 1 && disk("paused_seconds_total", now: 4500) == 3.5)
    add(.causeGone(two, remaining: ""), now: 5000)
    add(.paused(one), now: 7000)
    add(.causeGone(one, remaining: ""), now: 7500)
    #expect(disk("pause_causes", now: 9000) == 0 && disk("paused_seconds_total", now: 9000) == 4.5)
    #expect(values()["darkroom_paused_seconds_total{cause=\"lock\"}"] == 0)
  }

  @Test mutating func `locks that are reported together are counted each`() {
    add(.paused(.lock(Lock(name: "a.lock", path: "/nowhere"))), now: 1000)
    add(.pausedByLocks(count: 12, names: ""), now: 2000)
    func locks() -> Double? { values(now: 9000)["darkroom_pause_causes{cause=\"lock\"}"] }
    #expect(locks() == 13)
    add(.locksGone(count: 12, names: "", remaining: "a.lock"), now: 3000)
    #expect(locks() == 1)
  }

  @Test mutating func `gauges are those of the status`() {
    status.jobs = ["running", "running", "waiting"].map { .init(job: $0, run_id: "", state: $0) }
    for (job, host) in [(0, "a"), (1, "a"), (2, "b")] {
      status.jobs[job].held_hosts = [.init(host: host, until: "")]
      status.jobs[job].held_hosts_total = 1
    }
    status.workers = .init(running: 3, started: 9, lost: 1, confinement: [])
    (status.closed_hosts_total, status.queued_total) = (4, 1001)
    let values = values()
    #expect(values["darkroom_jobs{state=\"running\"}"] == 2 && values["darkroom_jobs{state=\"waiting\"}"] == 1)
    #expect(values["darkroom_hosts_throttled"] == 2 && values["darkroom_hosts_closed"] == 4)
    #expect(values["darkroom_manifests_queued"] == 1001)
    #expect(values["darkroom_queue_waiting{queue=\"download\"}"] == 7)
    #expect(values["darkroom_workers"] == 3 && values["darkroom_workers_started_total"] == 9)
    #expect(self.values(isLast: true)["darkroom_workers"] == 0)
    #expect(values["darkroom_build_info{version=\"1.2\"}"] == 1)
    #expect(values["darkroom_process_start_time_seconds"] == 5)
  }

  @Test mutating func `counts continue from an earlier file, times are the latest, and gauges are those of now`() {
    add(Self.end(.failed), wall: 50)
    let earlier = MetricFamily.values(
      in: """
        # TYPE darkroom_jobs_ended_total counter
        darkroom_jobs_ended_total{state="failed"} 2
        darkroom_download_duration_seconds_count nonsense
        darkroom_downloaded_bytes_total -4
        darkroom_written_bytes_total 1e3
        darkroom_manifests_queued 8
        darkroom_job_last_end_timestamp_seconds 40
        darkroom_job_last_success_timestamp_seconds 30
        nonsense
        """)
    let values = MetricFamily.values(in: text(continuing: earlier))
    #expect(values["darkroom_jobs_ended_total{state=\"failed\"}"] == 3)
    #expect(values["darkroom_download_duration_seconds_count"] == 0)
    #expect(values["darkroom_downloaded_bytes_total"] == 0 && values["darkroom_written_bytes_total"] == 1000)
    #expect(values["darkroom_manifests_queued"] == 0)
    #expect(values["darkroom_job_last_end_timestamp_seconds"] == 50)
    #expect(values["darkroom_job_last_success_timestamp_seconds"] == 30)
  }

  @Test func `labels are escaped`() {
    let family = MetricFamily(.gauge, "x", "X.", by: "l", [("a\\b\"c\nd", 1)])
    #expect(family.text(continuing: [:]).hasSuffix("darkroom_x{l=\"a\\\\b\\\"c\\nd\"} 1\n"))
  }
}

extension ReportRow {
  fileprivate static func timed(download: Double, filter: Double, isReused: Bool = false) -> ReportRow {
    ReportRow(
      index: 0, name: "", url: "", finalURL: nil, state: .filtered, isReused: isReused, isCoalesced: false,
      priority: "normal", attempts: 1, output: .sample(), source: .sample(), filters: "",
      timings: Timings(download: download, filter: filter), failure: nil, metadata: nil)
  }
}
