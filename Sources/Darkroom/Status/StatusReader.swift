import Foundation
import JSON
import Ledger
import System

/// Finds out what an instance is doing or, when none runs, what the last one left to be done.
package struct StatusReader {
  private let configuration: Configuration

  package init(configuration: Configuration) { self.configuration = configuration }

  /// - Throws: `SystemError`, `SQLiteError`, `LedgerError`.
  package func read() throws -> Status {
    let state = StateFolder(path: configuration.state)
    let outbox = OutboxFolder(path: configuration.outbox)
    guard let process = try InstanceLock.holder(file: outbox.instanceFile) else { return try fromLedger(state) }
    // An instance that has just begun has not written its status yet.
    guard let data = try? OpenFile(reading: outbox.status).readAll(),
      var status = try? JSONDecoder().decode(Status.self, from: data), status.process == process
    else {
      var status = empty
      (status.running, status.process) = (true, process)
      return status
    }
    status.running = true
    return status
  }

  /// The locks that hold whether or not an instance runs.
  /// - Throws: `SystemError`.
  package static func pauses(inbox: String, lockFile: String?) throws -> [Status.Pause] {
    try pauses(Inbox(path: inbox, extraLock: lockFile).scan())
  }

  private static func pauses(_ scan: InboxScan) -> [Status.Pause] {
    scan.locks.map { Status.Pause(cause: "lock", lock: $0.name, reason: $0.reason) }
  }

  private var empty: Status {
    Status(version: Tool.version, inbox: configuration.inbox, outbox: configuration.outbox)
  }

  private func fromLedger(_ state: StateFolder) throws -> Status {
    var status = empty
    let scan = try Inbox(path: configuration.inbox, extraLock: configuration.lockFile).scan()
    status.pauses = Self.pauses(scan)
    status.ignored = scan.ignored.prefix(Status.listLimit).map { Status.Ignored($0) }
    status.ignored_total = scan.ignored.count
    var live: Set<String> = []
    if FileManager.default.fileExists(atPath: state.ledger) {
      switch try LedgerReader.liveJobs(path: state.ledger) {
      case .jobs(let jobs):
        let deferred = (try? LedgerReader.deferred(path: state.ledger)) ?? [:]
        for job in jobs {
          status.jobs.append(Status.Job(waiting: job, deferred: deferred[job.runID]))
          // One that cannot be read is set aside by the next start.
          if let manifest = try? JobManifest(text: job.details) { live.insert(manifest.identity) }
        }
      case .unknown(let why): status.jobs_unknown = why
      }
    }
    let queued = scan.manifests.filter { !live.contains($0.identity.text) }
    status.queued = queued.prefix(Status.listLimit).map(\.file)
    status.queued_total = queued.count
    return status
  }
}

extension Status.Job {
  /// A job that waits for the next start.
  fileprivate init(waiting job: LedgerJob, deferred: (count: Int, due: Int)?) {
    self.init(job: job.name, run_id: job.runID, state: "waiting")
    guard let deferred else { return }
    self.deferred = deferred.count
    if deferred.due > Clock.wallMilliseconds { deferred_until = JSONValue.time(deferred.due).string }
  }
}
