import Inbox
import Model
import System

/// Looks at the inbox: manifests, locks, and files that are being written.
extension Darkroom {
  func scan(_ now: Double) throws {
    jobs.suspension.failures.outboxTrouble = try services.checkFolders()
    if let missing = jobs.suspension.failures.outboxTrouble { jobs.suspension.failures.suspect(missing) }
    if !jobs.flow.holds.isEmpty { jobs.flow.holds.free = jobs.suspension.space.freeForState }
    watcher.recheck(jobs.table.queue.takeUnsettled())
    var locks: [Lock]?
    do throws(SystemError) {
      let view = try watcher.scan(now: now) { scan in
        jobs.findUnwanted(scan, in: folders.inbox, settleTime: watcher.settleTime, now: now)
        return jobs.table.queue.fresh(of: scan.manifests, unexamined: Set(scan.unexamined.map(\.file)))
      }
      inboxErrors = (nil, [])
      // A manifest counts as removed by a second scan.
      if let due = jobs.missing.due, due > now { watcher.scan(by: due) }
      if view.hasReturned {
        observe(.watching(inbox: folders.inbox.path, outbox: folders.outbox.path, .inboxReturned))
        jobs.table.inboxReturned()
        watcher.scanNow()
      }
      locks = view.locks
      for ignored in view.ignored { observe(.fileIgnored(name: ignored.file.description, why: ignored.why)) }
      watcher.recordIgnored()
      for file in view.unexamined {
        observe(.warning("\(file.file) in the inbox cannot be examined now, and is tried again: \(file.why)"))
      }
      for file in view.stillOpen {
        observe(.warning("\(file) in the inbox is not read yet: some process has it open for writing"))
      }
      jobs.table.queue.update(view.fresh, settled: view.settled)
      // Holds of other manifests are dropped: those are gone or cannot be read.
      if !jobs.flow.holds.isEmpty {
        jobs.flow.holds.keepPlanning(of: jobs.table.queue.jobs.union(jobs.runs.values.map(\.key)))
      }
    } catch {
      jobs.missing.scanFailed()
      let mayPass = error.cause.isOfMachine && error.cause != .permission
      guard jobs.table.queue.goal == .watch || mayPass else {
        throw StopError.missing("the inbox cannot be read: \(error)")
      }
      if inboxErrors.reported.insert(error.code).inserted { observe(.inboxUnreadable(error.description)) }
      inboxErrors.current = error
    }
    suspendOrResume(locks, now)
  }

  /// Leaves files that are open for writing for too long to the next start of `run`, when nothing else is to be done.
  /// With `--lock-wait`, that option limits the time instead.
  func leaveOpenFiles(_ now: Double) {
    guard ending == nil, jobs.runs.isEmpty, configuration.lockWait == nil else { return }
    let files = watcher.open(for: WaitLimits.openLimit, now: now)
    if files.isEmpty { return }
    for file in jobs.table.queue.leaveToNextStart(files).sorted(by: { $0.description < $1.description }) {
      jobs.table.summary.hasLeftOpen = true
      let seconds = WaitLimits.openLimit.formatted()
      observe(
        .warning("\(file) is left for the next start: some process has had it open for writing for \(seconds) s"))
    }
  }

  /// A description of why the inbox, or a file in it, cannot be read now; nil when all can.
  var inboxTrouble: String? {
    inboxErrors.current != nil ? "the inbox cannot be read" : watcher.unexamined.map { "the inbox: \($0.why)" }.min()
  }

  /// Suspends both queues while there is a cause. They run while the program is stopping, when no operation starts,
  /// since cancelled operations only finish in a running queue.
  func suspendOrResume(_ locks: [Lock]?, _ now: Double) {
    let before = jobs.suspension.pauses.open(since: 0)
    let change = jobs.suspension.update(locks: locks, now: now)
    if gate(now).suspendsQueues { jobs.pending.suspendAll() } else { jobs.pending.resumeAll() }
    if change.began.contains(where: { if case .disk = $0 { true } else { false } }) { jobs.scheduler.dropPartials() }
    // Whether the cause is still there is looked at in scans.
    if jobs.suspension.pauses.isPaused(by: .disk(reason: "")) { watcher.scan(by: now + MachineFailures.pause) }
    for event in change.events(in: jobs.suspension.pauses) { observe(event) }
    jobs.record(change, before: before)
  }
}
