import Delivery
import Manifests
import System

@testable import Darkroom
@testable import JobIndex
@testable import Ledger
@testable import Model

extension JobRun {
  /// A phase, without what it needs.
  enum SamplePhase: CaseIterable {
    case reading, unlisted, list, waiting, works, done, ends, unrecorded, unreported, reports
  }

  /// A run over an empty index in memory, whose plan has two entries.
  /// - Parameters:
  ///   - total: How many entries it has. Default: 2.
  ///   - file: The name of its manifest in the inbox. Default: nil, that lies elsewhere.
  static func sample(
    _ number: Int, _ phase: SamplePhase = .works, name: String = "job", file: String? = nil, since: Double = 0,
    lastStarted: Double = 0, replacing replaced: Int? = nil, total: Int = 2
  ) throws -> JobRun {
    let manifest = try JobManifest.sample(file: file ?? "job.txt", inboxPath: file.map { "/in/" + $0 })
    let job = LedgerJob(runID: "run-\(number)", name: name, details: try manifest.text)
    var run = JobRun(number: number, source: .unfinished(job), now: since)
    run.accepted = (job, manifest)
    run.replaces = replaced
    try run.enter(phase, lastStarted: lastStarted, total: total)
    return run
  }

  /// Enters a phase, with a plan of its own.
  mutating func enter(_ sample: SamplePhase, lastStarted: Double = 0, total: Int = 2) throws {
    guard let (job, manifest) = accepted else { return }
    var plan = Plan(
      job: job, run: .sample, manifest: manifest, index: try JobIndex(creating: .memory), total: total, next: .work,
      sources: SourceCounts(total: total))
    if sample == .unlisted || sample == .list { plan.next = .fetch(try .sample(0, url: "http://h/list")) }
    let entries = RunEntries(plan, activeTime: 0, now: lastStarted)
    let outcome = JobOutcome(JobTally(), .init(), at: 0)
    switch sample {
    case .reading: phase = .planning(.manifest)
    case .unlisted: phase = .planning(.unlisted(plan))
    case .list: phase = .planning(.list(entries))
    case .waiting: phase = .waiting(plan)
    case .works: phase = .running(entries)
    case .done:
      for position in 0..<2 { entries.tally.add(.sample(position, state: .failed)) }
      phase = .running(entries)
    case .ends: phase = .closing(.init(entries: entries, isUnderWay: true))
    case .unrecorded: phase = .closing(.init(entries: entries))
    case .unreported: phase = .reporting(.init(plan: plan, outcome: outcome))
    case .reports: phase = .reporting(.init(plan: plan, outcome: outcome, isUnderWay: true))
    }
  }

  /// Its phase, without what that needs.
  var samplePhase: SamplePhase {
    switch phase {
    case .planning(.manifest): .reading
    case .planning(.unlisted): .unlisted
    case .planning(.list): .list
    case .waiting: .waiting
    case .running(let entries): entries.isDone ? .done : .works
    case .closing(let closing): closing.isUnderWay || closing.entries.undelivered > 0 ? .ends : .unrecorded
    case .reporting(let reporting): reporting.isUnderWay ? .reports : .unreported
    }
  }
}

extension JobLimits {
  init(slots: Int, live: Int) { self.init(slots: slots, live: live, total: live) }
}

extension Plan {
  /// What a run came to of which only the report is left.
  var outcome: JobOutcome? { if case .finish(let outcome) = next { outcome } else { nil } }

  /// The report that an earlier process was delivering.
  var report: ReportDelivery? { if case .deliver(let report) = next { report } else { nil } }
}
