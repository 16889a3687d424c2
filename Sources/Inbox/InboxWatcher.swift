import Model
import Scheduling
import System

/// Watches the inbox: decides when it is scanned, which manifests are settled and which files are ignored. Only scans
/// count; notices of the kernel (inotify) just bring the next scan forward.
package final class InboxWatcher {
  /// The result of a scan.
  package struct View {
    package let locks: [Lock]

    /// The manifests that the caller wants.
    package let fresh: [InboxScan.Manifest]

    /// The wanted manifests that are not being written any more.
    package let settled: [InboxScan.Manifest]

    /// The ignored files that have not been reported.
    package let ignored: [InboxScan.Ignored]

    /// Manifests that have been open for writing for `openLimit` and have not been reported for that.
    package let stillOpen: [FileName]

    /// Manifests that cannot be examined, and could be at the last scan.
    package let unexamined: [InboxScan.Ignored]

    /// Whether the inbox is available again after a scan that failed.
    package let hasReturned: Bool
  }

  private(set) var inbox: Inbox
  /// nil before `beginWatching()`.
  private var watch: FolderWatch?
  /// The folder at the last look at it; nil before the first, and after `beginWatching()`.
  private var seen: FileIdentity?
  private var settling: Settling
  private var schedule = ScanSchedule()
  private var interval: Double

  /// Whether the last scan failed.
  private var isLost = false

  /// How long a manifest may be open for writing before that is reported, in seconds.
  static let openLimit = 10.0

  /// The manifests that are open for writing and were reported for that.
  private var toldOpen: Set<FileName> = []

  /// The files that are neither manifests nor locks.
  package var ignored: [InboxScan.Ignored] { ignoredFiles.current }
  private var ignoredFiles: IgnoredFiles

  /// Whether ignored files are reported only if they still exist a little later. Default: no.
  package var isPatient = false

  /// The manifests that could not be examined in the last scan.
  package private(set) var unexamined: Set<InboxScan.Ignored> = []

  /// - Parameter ignoredFile: The path of the record of reported files. Default: nil, none.
  package init(inbox: Inbox, configuration: Configuration, ignoredFile: String? = nil) {
    self.inbox = inbox
    ignoredFiles = IgnoredFiles(path: ignoredFile, inbox: inbox.path)
    settling = Settling(time: configuration.settle)
    settling.isOnNetwork = inbox.folder.isOnNetwork
    interval = configuration.pollInterval
  }

  /// How long a file must be unchanged, in seconds.
  package var settleTime: Double { settling.effectiveTime }

  package func configure(_ configuration: Configuration) {
    inbox.extraLock = configuration.lockFile
    settling.time = configuration.settle
    interval = configuration.pollInterval
    scanNow()
  }

  /// Begins to receive the kernel's notices, once. What has changed before is found by a scan, which is then due at once.
  ///
  /// A process that ends soon should not call it: the kernel takes 10 to 20 ms to close an inotify descriptor. Until then
  /// `isScanDue` looks whether names in the folder have changed.
  package func beginWatching() {
    guard watch == nil else { return }
    seen = nil
    watch = FolderWatch(folder: inbox.path)
    scanNow()
  }

  /// Readable when the kernel has sent notices; -1 before `beginWatching()`, and when notices are not available.
  package var descriptor: Int32 { watch?.descriptor ?? -1 }

  /// When the next scan is due, as `Clock.monotonicSeconds`.
  package var due: Double { schedule.due }

  /// Marks files as not settled after all, so that they are examined again.
  package func recheck(_ files: [FileName]) { for file in files { settling.recheck(file) } }

  /// The manifests that had been open for writing for at least `seconds` at the last scan.
  package func open(for seconds: Double, now: Double) -> Set<FileName> { settling.open(for: seconds, now: now) }

  /// Saves for later processes which ignored files were reported.
  package func recordIgnored() { ignoredFiles.save() }

  /// Makes the next scan due at once.
  package func scanNow() { schedule.scanNow() }

  /// Makes the next scan due at a time, as `Clock.monotonicSeconds`, unless it is due sooner.
  package func scan(by time: Double) { schedule.scan(by: time) }

  /// Handles the kernel's notices, or looks at the folder.
  /// - Returns: Whether a scan is due.
  package func isScanDue(now: Double) -> Bool {
    if let watch {
      for notice in watch.notices() {
        settling.note(notice)
        schedule.note(isUrgent: notice.isAboutLock)
      }
    } else if let found = try? inbox.folder.status().identity {
      if let seen, seen != found { schedule.note(isUrgent: false) }
      seen = found
    }
    return now >= schedule.due
  }

  /// Scans the inbox.
  /// - Parameter wanted: Selects the manifests that the caller wants.
  /// - Throws: `SystemError` when the inbox cannot be read. Nothing is then known about its contents.
  package func scan(now: Double, wanted: (InboxScan) -> [InboxScan.Manifest]) throws(SystemError) -> View {
    defer {
      let recheck = min(settling.recheck(now: now) ?? interval, ignoredFiles.due.map { max(0, $0 - now) } ?? interval)
      schedule.scanned(from: now, to: Clock.monotonicSeconds, interval: min(interval, recheck))
    }
    let scan: InboxScan
    do {
      scan = try inbox.scan()
    } catch {
      isLost = true
      throw error
    }
    let hasReturned = isLost
    // A watch ends when the file system is unmounted.
    if hasReturned {
      if watch != nil { watch = FolderWatch(folder: inbox.path) }
      settling.note(.lost)
      settling.isOnNetwork = inbox.folder.isOnNetwork
    }
    isLost = false
    InboxLeftovers.remove(scan.leftovers, from: inbox.folder)
    let before = unexamined
    unexamined = Set(scan.unexamined)
    let fresh = wanted(scan)
    let files = fresh.map { (name: $0.key, identity: $0.identity) }
    let settled = settling.settled(files, now: now, wallClock: Clock.wallSeconds) { inbox.writers(of: fresh[$0]) }
      .map { fresh[$0] }
    let stillOpen = settling.open(for: Self.openLimit, now: now)
    defer { toldOpen = stillOpen }
    return View(
      locks: scan.locks, fresh: fresh, settled: settled,
      ignored: ignoredFiles.update(scan.ignored, now: now, isPatient: isPatient),
      stillOpen: stillOpen.subtracting(toldOpen).sorted { $0.description < $1.description },
      unexamined: scan.unexamined.filter { !before.contains($0) },
      hasReturned: hasReturned)
  }
}

extension FolderNotice {
  /// Whether it concerns a lock, so that the inbox is scanned at once.
  var isAboutLock: Bool {
    switch self {
    case .complete(let name), .begun(let name): InboxFile(named: name) == .lock
    // Notices are lost when there are too many. Scanning at once each time would add to the load.
    case .lost: false
    }
  }
}
