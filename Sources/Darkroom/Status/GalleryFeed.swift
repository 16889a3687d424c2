import Delivery
import Gallery
import JSON
import Ledger
import Model
import System

/// Passes the contents of the pages to `GalleryWriter`. Used on the thread of `Darkroom`.
final class GalleryFeed {
  /// How long a job must run before it gets a page, in seconds.
  static let minAge = 2.0

  private let inbox: String
  private let make: () -> GalleryWriter

  /// nil while no pages are written.
  private(set) var writer: GalleryWriter?

  /// When pages may be written again, as `Clock.monotonicSeconds`.
  private var next: Double
  private var last: OutboxPage?

  /// - Parameters:
  ///   - inbox: The inbox's path.
  ///   - make: Creates the writer when it is first needed.
  init(inbox: String, now: Double, make: @escaping () -> GalleryWriter) {
    self.inbox = inbox
    self.make = make
    next = now + GalleryPages.spacing
  }

  /// Turns the writing of pages on or off.
  func configure(_ gallery: Gallery) {
    guard (writer != nil) != (gallery == .on) else { return }
    writer = gallery == .on ? make() : nil
    last = nil
  }

  /// When `update` must be called if nothing else happens, as `Clock.monotonicSeconds`; nil when it need not be.
  func due(_ jobs: LiveJobs) -> Double? {
    guard let writer, !jobs.runs.isEmpty || writer.isBehind else { return nil }
    return next
  }

  /// Writes the pages that have changed.
  /// - Parameter status: The status that was written last.
  func update(_ jobs: LiveJobs, _ status: Status?, now: Double) {
    guard let writer, let status, now >= next else { return }
    guard !writer.isBusy else {
      next = now + GalleryPages.spacing / 10
      return
    }
    let page = page(jobs, status)
    let live = jobs.table.inOrder.filter { now - $0.since >= Self.minAge }.compactMap { job($0, jobs, page.paused) }
    guard page != last || page.hasRuns || writer.isBehind else {
      next = now + GalleryPages.spacing / 10
      return
    }
    (last, next) = (page, now + GalleryPages.spacing)
    writer.write(.init(page: page, jobs: live))
  }

  /// Writes the pages for the time while no process runs.
  func close(_ jobs: LiveJobs, _ status: Status?, now: Double) {
    guard let writer, let status else { return }
    var page = page(jobs, status)
    (page.isRunning, page.hasRuns, page.paused) = (false, false, nil)
    for index in page.live.indices {
      page.live[index].state = "waiting"
      (page.live[index].rate, page.live[index].remaining) = (nil, nil)
    }
    let live = jobs.table.inOrder.filter { now - $0.since >= Self.minAge }
      .compactMap { job($0, jobs, page.paused, isLast: true) }
    writer.close(.init(page: page, jobs: live, isLast: true))
  }

  private func page(_ jobs: LiveJobs, _ status: Status) -> OutboxPage {
    var page = OutboxPage()
    page.hasRuns = !jobs.runs.isEmpty
    page.paused = status.pauses.isEmpty ? nil : status.pausedText
    let started = Dictionary(
      jobs.runs.values.compactMap { run in run.accepted.map { ($0.job.runID, $0.manifest.accepted) } },
      uniquingKeysWith: { first, _ in first })
    page.live = status.jobs.prefix(OutboxPage.limit).map { job in
      OutboxPage.Job(
        name: job.job, runID: job.run_id, state: job.state,
        started: started[job.run_id].flatMap { JSONValue.time($0).string },
        ended: job.ended, total: job.total, failed: job.failed, rate: job.rate,
        remaining: job.seconds_left)
    }
    page.ignored = status.ignored.map { .init(file: $0.file, why: $0.why) }
    (page.inbox, page.inboxError) = (inbox, status.inbox_error)
    return page
  }

  /// The contents of a live job's page; nil for a run without a page, such as one that a later run of its job replaces.
  private func job(_ run: JobRun, _ jobs: LiveJobs, _ paused: String?, isLast: Bool = false) -> GalleryWriter.LiveJob? {
    let running: RunEntries
    switch run.phase {
    case .running(let live): running = live
    case .closing(let closing) where !closing.isSuperseded && !closing.entries.isSource: running = closing.entries
    default: return nil
    }
    let plan = running.plan
    let outcome = JobOutcome(
      running.tally, jobs.scheduler.transfers(run: run.number), at: Clock.wallMilliseconds,
      taking: run.elapsed(jobs.context),
      isFirst: plan.earlier.isNone)
    let (context, manifest, warnings, pauses) = (plan.run, plan.manifest, plan.findings.warnings, run.pauses)
    var live = JobPage.Live(ended: outcome.counts.total, total: plan.total, paused: paused, isLast: isLast)
    if !isLast {
      live.operations = jobs.pending.running(run: run.number).prefix(Status.operationLimit).map(JobPage.Operation.init)
    }
    return GalleryWriter.LiveJob(run: context, live: live) {
      ReportHead(
        run: context, manifest: manifest, outcome: outcome, pauses: pauses, warnings: warnings.map(ReportWarning.init)
      ).live
    }
  }
}

extension JobPage.Operation {
  fileprivate init(_ operation: RunningOperation) {
    let (record, entry) = (operation.record, operation.record.entry)
    // A browser keeps pictures unpacked: of many large ones the page only has the names.
    let original = record.original.flatMap {
      $0.isDelivered && $0.delivery.bytes <= JobPage.Operation.mostBytes ? $0.delivery.target : nil
    }
    self.init(
      index: entry.line ?? entry.position, name: entry.shownName, variant: entry.variant,
      state: operation.state.rawValue,
      since: operation.since, filters: entry.recipe.description, original: original)
  }
}

extension ReportHead {
  /// The head of a run that has not ended.
  fileprivate var live: ReportHead {
    ReportHead(
      members: members.compactMap { member in
        switch member.key {
        case "finished_at": nil
        case "state": JSONValue.Member(member.key, .string("running"))
        default: member
        }
      })
  }
}
