import Ledger
import Model
import System

/// When the program ends, and what it leaves to the next start.
extension Darkroom {
  func beginToStop(_ now: Double, _ reason: Gate.Stop) {
    guard ending == nil else { return }
    ending = Ending(reason: reason, deadline: now + configuration.grace)
    observe(.stopping(isOutOfTime: reason == .outOfTime))
    jobs.stop(reason)
  }

  func isOver(_ now: Double) -> Bool {
    guard let ending else { return jobs.runs.isEmpty && jobs.table.queue.isOver }
    let isBusy = jobs.table.isPlanning || !jobs.pending.inProgress.isEmpty
    return ending.isOver(isBusy: isBusy, isDelivered: jobs.isDelivered, now: now)
  }

  /// Ends the wait for closed hosts while no host answers: `run` leaves the rest to the next start, `watch` gives the
  /// hosts up.
  func watchHosts(_ now: Double) {
    jobs.flow.reportHosts()
    let limit = configuration.outageWait ?? (jobs.table.queue.goal == .watch ? 86_400 : 600)
    guard jobs.isCutOff(for: limit) else { return }
    if jobs.table.queue.goal == .watch { return jobs.flow.giveUpHosts(after: limit) }
    jobs.table.summary.hasLeftOpen = true
    observe(.warning("no host has answered for \(limit.formatted()) s; what is not done stays for the next start"))
    beginToStop(now, .asked)
  }

  /// Waits for notifications and programs of `--exec`, up to a limit.
  func awaitNotices() throws {
    let began = Clock.monotonicSeconds
    var isReported = false
    while notices.isAwaited(since: began, deadline: ending?.deadline, now: Clock.monotonicSeconds) {
      notices.isActive = true
      let now = Clock.monotonicSeconds
      jobs.flow.gate = gate(now)
      writeStatus(now)
      if !isReported, now - began >= Notices.quietTime { observe(.awaitingNotices(notices.awaited)) }
      isReported = now - began >= Notices.quietTime
      mailbox.wait(seconds: 0.2)
      for message in mailbox.collect() { try handle(message, now: Clock.monotonicSeconds) }
    }
    // The threads post their results before they have nothing left to do.
    for message in mailbox.collect() { try handle(message, now: Clock.monotonicSeconds) }
    if let left = notices.left { observe(.warning(left)) }
  }

  /// Reports what this process leaves: jobs that the next start goes on with, and named manifests that it does not know.
  func reportLeft() {
    for left in jobs.table.left { observe(.jobLeft(job: left.job, ended: left.ended, total: left.total)) }
    for file in jobs.table.notAccepted {
      observe(.warning("\(file) was NOT accepted, and the next start does not know it: name it again"))
    }
  }

  /// Lets the jobs of earlier processes wait that need options which are missing now.
  func holdUncovered() {
    jobs.table.queue.holdUncovered { [configuration] job in
      (try? JobManifest(text: job.details)).map(AcceptedOptions.init)?.missing(in: configuration) ?? []
    }
    mustReportUncovered = true
  }

  /// Warns of the jobs that wait for options, after the first look at the inbox: some may have been cancelled meanwhile.
  func reportUncovered() {
    guard mustReportUncovered else { return }
    mustReportUncovered = false
    for wait in jobs.table.waits(Holds()) where wait.missing_options != nil {
      let text = "job \(wait.job) waits: \(wait.why); start with that, or cancel it"
      observe(.warning(text, isKnown: waitLimits.known.covers(wait)))
    }
  }

  /// The outcome of the jobs so far.
  var summary: Summary {
    let table = jobs.table
    let isDone = table.runs.isEmpty && table.queue.isOver && table.stopped.isEmpty
    let isHeld = table.queue.goal != .watch && table.queue.hasHeld
    return Summary(
      states: table.summary.states, hadTrouble: table.summary.hadTrouble, isMissing: table.summary.isMissing,
      isUnfinished: ending?.reason == .outOfTime && !isDone || table.summary.hasLeftOpen || isHeld,
      ignored: watcher.ignored.count { !$0.isFolder })
  }

  /// Whether another start can repair the cause of an error: a damaged ledger, while the program is not stopping.
  func mayRepair(after error: any Error) -> Bool {
    error.isDamageOfLedger && error.isOfLedger(folders.state) && ending == nil
  }
}
