import Inbox
import Ledger
import Model
import Scheduling
import System

/// Finds runs to cancel, because their manifests were removed from the inbox or on request.
extension LiveJobs {
  /// How long a manifest must be missing on a network file system, in seconds.
  private static let networkTime = 60.0

  /// Finds the runs to cancel in a scan of the inbox.
  /// - Parameter settleTime: How long a file must be unchanged, in seconds.
  func findUnwanted(_ scan: InboxScan, in inbox: Inbox, settleTime: Double, now: Double) {
    guard !flow.gate.isStopping else { return }
    table.queue.liveFiles = Set(runs.values.compactMap(\.file))
    takeRequests(scan, inbox)
    table.queue.endAside(unlessIn: scan)
    let removed = missing.update(missingManifests(scan, inbox), now: now, time: Self.time(settleTime, inbox, missing))
    for number in removed { table.runs[number]?.known.unwanted = .removed }
  }

  private static func time(_ settleTime: Double, _ inbox: Inbox, _ missing: MissingFiles) -> Double {
    !missing.isEmpty && inbox.folder.isOnNetwork ? max(settleTime, networkTime) : settleTime
  }

  /// The numbers of the runs whose manifests are missing.
  private func missingManifests(_ scan: InboxScan, _ inbox: Inbox) -> Set<Int> {
    var files: [FileName: [Int]] = [:]
    for run in runs.values where run.known.unwanted == nil && run.isUnfinished {
      guard let (job, manifest) = run.accepted, manifest.lies(in: inbox.path), !table.unknownRuns.contains(job.runID)
      else {
        continue
      }
      if let file = run.file { files[file, default: []].append(run.number) }
    }
    for manifest in scan.manifests {
      if files.isEmpty { return [] }
      files[manifest.key] = nil
    }
    for other in scan.ignored + scan.unexamined { files[other.file] = nil }
    guard !files.isEmpty, inbox.hasInstanceFile else { return [] }
    return Set(files.values.joined())
  }

  /// Reads the requests to cancel, and removes those whose runs have ended.
  private func takeRequests(_ scan: InboxScan, _ inbox: Inbox) {
    table.queue.cancelled = []
    guard !scan.cancelled.isEmpty else { return }
    // The names of the manifests by key; nil for manifests outside the inbox.
    var known: [String: String?] = [:]
    // Those that become live keep their requests until they are planned.
    let resuming = runs.values.compactMap { if case .unfinished(let job) = $0.source { job } else { nil } }
    for job in table.queue.unfinished + table.queue.left.jobs + resuming {
      // A file that has replaced the manifest does not take the request with it.
      for key in job.cancelKeys { known[key] = .some(try? JobManifest(text: job.details).file) }
    }
    for run in runs.values {
      for key in run.cancelKeys { known[key] = .some(run.accepted?.manifest.inboxPath.map { Folder.name(of: $0) }) }
    }
    // They are not for the owner of one of the manifests.
    for file in table.queue.named + runs.values.compactMap(\.source.named) {
      for key in file.sharedCancelKeys { known[key] = .some(nil) }
    }
    for manifest in scan.manifests {
      known[manifest.cancelKey] = .some(manifest.file)
    }
    for key in scan.cancelled {
      if let manifest = known[key] {
        if CancelRequest.isAllowed(key, manifest: manifest, in: inbox.folder) { table.queue.cancelled.insert(key) }
      } else if scan.unexamined.isEmpty {
        try? inbox.folder.remove(CancelRequest.name(key))
      }
    }
    for run in runs.values {
      table.findRequest(for: run)
      keepRequest(for: run.number)
    }
  }

  /// Leaves a request by the name of a run that was cancelled by a key that another process does not know.
  func keepRequest(for number: Int) {
    guard let run = runs[number], run.known.unwanted == .requested, run.source.named != nil,
      let runID = run.accepted?.job.runID, !table.queue.cancelled.contains(runID)
    else { return }
    _ = try? planner.inbox.folder.create(file: CancelRequest.name(runID), mode: 0o600)
  }

  /// Removes the requests to cancel an ended run. If that fails, the next scan removes them.
  func removeRequests(for run: JobRun) {
    // There may also be a request for its manifest that no scan has found yet.
    for key in run.cancelKeys where run.known.unwanted == .requested || table.queue.cancelled.contains(key) {
      // Others that were named may wait for the same request.
      if table.queue.named.contains(where: { $0.cancelKeys.contains(key) }) { continue }
      if runs.values.contains(where: { $0.number != run.number && $0.cancelKeys.contains(key) }) { continue }
      try? planner.inbox.folder.remove(CancelRequest.name(key))
    }
  }
}
