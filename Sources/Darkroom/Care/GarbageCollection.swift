import Delivery
import Foundation
import Ledger
import Model
import Operations
import System

/// Removes what retention would remove in the course of later runs, for `darkroom gc`: earlier runs beyond
/// `--keep-history`, sources beyond `--cache-size`, records that no run needs, and files that a killed process left.
/// Results, reports of last runs and files of others are never removed.
package struct GarbageCollection {
  /// What is removed of a kind.
  package struct Removed: Sendable, Equatable {
    /// `history`, `cache`, `leftovers`, `records` or `ledger`.
    package let kind: String

    /// The number of runs, files or records.
    package let count: Int

    /// 0 where the size is not known.
    package let bytes: Int
  }

  private let configuration: Configuration
  private let isDryRun: Bool

  /// - Parameters:
  ///   - configuration: Its folders must exist.
  ///   - isDryRun: Whether things are only counted.
  package init(configuration: Configuration, isDryRun: Bool) {
    (self.configuration, self.isDryRun) = (configuration, isDryRun)
  }

  /// Owns the folders meanwhile.
  /// - Parameter warn: Called with what could not be put in order.
  /// - Throws: `StopError.busy` while an instance runs; the errors of a start.
  package func collect(warn: (String) -> Void) throws -> [Removed] {
    let folders = try OwnedFolders(configuration)
    let opening = LedgerOpening(state: folders.state, outbox: folders.outbox, wasUsed: folders.stagingFolder.wasThere)
    if isDryRun { return try count(folders, opening, warn) }
    let (ledger, notice) = try opening.open()
    if let notice { warn(notice) }
    let leftovers = try leftovers(folders, ledger)
    let earlier = try EarlierWork(folders, ledger)
    for trouble in [earlier.notice].compactMap({ $0 }) + earlier.troubles { warn(trouble) }
    earlier.journal?.close()
    let removed =
      [try history(folders.outbox, warn), try cache(folders, ledger), leftovers] + (try records(folders, ledger))
    opening.close()
    return removed
  }

  /// Counts what would be removed. A damaged ledger stays as it is, and nothing that it must tell is counted.
  private func count(_ folders: OwnedFolders, _ opening: LedgerOpening, _ warn: (String) -> Void) throws -> [Removed] {
    let kept = [try history(folders.outbox, warn), try cache(folders, nil)]
    do {
      guard let ledger = try opening.examined() else { return kept }
      return kept + [try leftovers(folders, ledger)] + (try records(folders, ledger))
    } catch  where error.isDamageOfLedger {
      warn("the ledger is damaged, and what only it can tell is not counted: \(error)")
      return kept
    }
  }

  private func history(_ outbox: OutboxFolder, _ warn: (String) -> Void) throws -> Removed {
    var (count, bytes) = (0, 0)
    for name in try outbox.open().names().compactMap(\.text).sorted() where !name.begins(with: ".") {
      let folder = outbox.job(name)
      let (history, keepHistory) = (History(folder: folder), configuration.keepHistory)
      do {
        let keepsLastGood = configuration.gallery == .on && isRejected(folder)
        let runs = try history.prunable(keeping: keepHistory, keepsLastGood: keepsLastGood)
        if !isDryRun, !runs.isEmpty {
          // A call removes a limited number.
          for _ in 0...runs.count / History.mostRemoved {
            try history.prune(keeping: keepHistory, keepsLastGood: keepsLastGood)
          }
        }
        count += runs.count
        bytes += runs.reduce(0) { $0 + $1.bytes }
      } catch {
        warn("the history of job \(name) stays: \(error)")
      }
    }
    return Removed(kind: "history", count: count, bytes: bytes)
  }

  /// Whether the last manifest of a job was rejected. Its page then shows an earlier run.
  private func isRejected(_ job: JobFolder) -> Bool {
    (try? ReportHead(of: job.open(file: Folder.name(of: job.report))))?.state == .rejected
  }

  /// The sources in the cache beyond its size.
  /// - Parameter ledger: nil for a dry run.
  private func cache(_ folders: OwnedFolders, _ ledger: Ledger?) throws -> Removed {
    let before = size(ofCache: folders.state.cache)
    var excess = before.bytes - configuration.cacheSize
    guard excess > 0 else { return Removed(kind: "cache", count: 0, bytes: 0) }
    guard let ledger else {
      let average = max(1, before.bytes / max(1, before.count))
      return Removed(kind: "cache", count: (excess + average - 1) / average, bytes: excess)
    }
    let unfinished = Set(try ledger.liveJobs().map(\.runID))
    let cache = DownloadCache(folder: folders.state.cache, limit: configuration.cacheSize, unfinished: unfinished)
    cache.resize(to: configuration.cacheSize)
    cache.drain()
    cache.commit()
    let after = size(ofCache: folders.state.cache)
    excess = before.bytes - after.bytes
    return Removed(kind: "cache", count: before.count - after.count, bytes: excess)
  }

  /// The sources: files in folders of two hexadecimal digits.
  private func size(ofCache path: String) -> (count: Int, bytes: Int) {
    var (count, bytes) = (0, 0)
    guard let cache = try? OpenFolder(path), let parts = try? cache.names() else { return (0, 0) }
    for part in parts.compactMap(\.text) where part.utf8.count == 2 {
      guard let folder = try? cache.folder(part), let names = try? folder.names() else { continue }
      for name in names.compactMap(\.text) {
        guard let status = try? folder.status(of: name), status.kind == .file else { continue }
        count += 1
        bytes += status.identity.size
      }
    }
    return (count, bytes)
  }

  /// Files of a killed process, which each start removes.
  private func leftovers(_ folders: OwnedFolders, _ ledger: Ledger) throws -> Removed {
    let cleanup = OrphanCleanup(staging: folders.staging, state: folders.state)
    let orphans = try cleanup.orphans(keeping: ledger.liveJobs(), ledger: ledger)
    var (count, bytes) = (0, 0)
    for (folder, names) in orphans {
      count += names.count
      for name in names { bytes += ((try? folder.status(of: name)) ?? nil)?.identity.size ?? 0 }
    }
    return Removed(kind: "leftovers", count: count, bytes: bytes)
  }

  private func records(_ folders: OwnedFolders, _ ledger: Ledger) throws -> [Removed] {
    guard let outbox = folders.outbox.handle else { return [] }
    let sweep = LedgerSweep(ledger: ledger, outbox: outbox, inbox: folders.inbox)
    let found = try sweep.collect(isDryRun: isDryRun)
    return [
      Removed(kind: "records", count: found.results + found.lastRuns + found.endedRuns, bytes: 0),
      Removed(kind: "ledger", count: found.pages.free, bytes: found.pages.free * found.pages.bytes),
    ]
  }
}
