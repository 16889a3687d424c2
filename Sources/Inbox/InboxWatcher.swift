import Model
import Scheduling
import System

/// The inbox as it is watched: when it is scanned, what is settled, what is ignored. Scanning is the truth; notices of the
/// kernel (inotify) only make the next scan come sooner.
package final class InboxWatcher {
  /// What a scan has found.
  package struct View {
    package let locks: [Lock]

    /// The manifests that are wanted.
    package let fresh: [InboxScan.Manifest]

    /// Of these, those that are not being written any more.
    package let settled: [InboxScan.Manifest]

    /// What is ignored and has not been reported.
    package let ignored: [InboxScan.Ignored]

    /// Manifests that somebody has had open for writing for `openLimit`, and of which that was not said.
    package let stillOpen: [FileName]

    /// Manifests that newly cannot be examined.
    package let unexamined: [InboxScan.Ignored]

    /// Whether the inbox was not there at the last scan, and is again.
    package let hasReturned: Bool
  }

  private(set) var inbox: Inbox
  private var watch: FolderWatch
  private var settling: Settling
  private var schedule = ScanSchedule()
  private var interval: Double

  /// Whether the inbox was not there at the last scan.
  private var isLost = false

  /// For how long a manifest may be open for writing before somebody is told, in seconds.
  static let openLimit = 10.0

  /// The manifests that somebody has open for writing, and that were told of.
  private var toldOpen: Set<FileName> = []

  /// What is neither a manifest nor a lock.
  package var ignored: [InboxScan.Ignored] { ignoredFiles.current }
  private var ignoredFiles: IgnoredFiles

  /// Whether files that are ignored are reported only when they do not go soon. Default: no.
  package var isPatient = false

  /// The manifests that cannot be examined now, and are at the next scan.
  package private(set) var unexamined: Set<InboxScan.Ignored> = []

  /// - Parameter ignoredFile: The path of the file that remembers what was reported as ignored. Default: none does.
  package init(inbox: Inbox, configuration: Configuration, ignoredFile: String? = nil) {
    self.inbox = inbox
    ignoredFiles = IgnoredFiles(path: ignoredFile, inbox: inbox.path)
    watch = FolderWatch(folder: inbox.path)
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

  /// Readable when the kernel has noticed something; -1 when it never will.
  package var descriptor: Int32 { watch.descriptor }

  /// When the next scan is due, as `Clock.monotonicSeconds`.
  package var due: Double { schedule.due }

  /// Examines files again that turned out not to be settled.
  package func doubt(_ files: [FileName]) { for file in files { settling.doubt(file) } }

  /// The manifests that somebody has had open for writing for at least so many seconds, as of the last scan.
  package func open(for seconds: Double, now: Double) -> Set<FileName> { settling.open(for: seconds, now: now) }

  /// Saves for later processes what was reported as ignored.
  package func recordIgnored() { ignoredFiles.save() }

  /// Makes the next scan due at once.
  package func scanNow() { schedule.scanNow() }

  /// Handles what the kernel has noticed.
  /// - Returns: Whether a scan is due.
  package func isScanDue(now: Double) -> Bool {
    for notice in watch.notices() {
      settling.note(notice)
      schedule.note(isUrgent: notice.isAboutLock)
    }
    return now >= schedule.due
  }

  /// Scans the inbox.
  /// - Parameter wanted: Picks the manifests that are wanted.
  /// - Throws: `SystemError` when the inbox cannot be read. Nothing follows from that for what is in it.
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
    // The kernel's notices end with a mount.
    if hasReturned {
      watch = FolderWatch(folder: inbox.path)
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
  /// Whether it has the inbox scanned at once.
  var isAboutLock: Bool {
    switch self {
    case .complete(let name), .begun(let name): InboxFile(named: name) == .lock
    // Notices are lost in a flood, which scanning again and again would make worse.
    case .lost: false
    }
  }
}
