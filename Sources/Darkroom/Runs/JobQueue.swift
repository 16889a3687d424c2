import Inbox
import Ledger
import Manifests
import Model
import System

/// The jobs that wait to become live, in their order. A value type without files and threads.
struct JobQueue {
  /// The manifests to process.
  enum Goal: Sendable, Equatable {
    /// Those that are in the inbox at the first scan.
    case inbox
    /// The named files.
    case named([NamedManifest])
    /// All manifests that are dropped, without an end.
    case watch
  }

  let goal: Goal

  /// Unfinished jobs of an earlier process, or that wait to be planned again.
  private(set) var unfinished: [LedgerJob]

  /// The unfinished jobs that were set aside, by run: the name of the manifest in the inbox, and until when others become live
  /// before them, as `Clock.monotonicSeconds`.
  private var aside: [String: (file: FileName?, until: Double)] = [:]

  /// Work that is left for another start.
  struct Left {
    /// Unfinished jobs of other names than the named manifests, and of those that failed.
    var jobs: [LedgerJob] = []

    /// The options with which unfinished jobs were accepted and that are missing now, by their names.
    var missingOptions: [ByteKey: [String]] = [:]

    /// Named manifests whose job cannot begin.
    var named: [NamedManifest] = []
  }
  private(set) var left = Left()

  /// The `order` of jobs that were live before, by run. Others of their name were accepted after the live run.
  private var orders: [String: Int] = [:]

  /// The named manifests that have not been taken out.
  private(set) var named: [NamedManifest] = []

  /// The names of the manifests in the inbox at the first scan, for `Goal.inbox`.
  private var wanted: Set<FileName>?

  /// The manifests of a scan of the inbox.
  private struct Scan {
    /// The manifests that were not handled before the scan, in its order.
    let present: [InboxScan.Manifest]

    /// The files of these that have not been handled since.
    var open: [FileName: FileIdentity]

    /// The settled manifests that have not been taken or moved to `waiting`.
    var settled: ArraySlice<InboxScan.Manifest>

    /// Settled manifests whose jobs were live when they could have been taken.
    var waiting: [InboxScan.Manifest] = []

    /// Settled manifests that may replace a live job's.
    var changed: [InboxScan.Manifest]

    /// Settled manifests whose jobs are to be cancelled.
    var unwanted: [InboxScan.Manifest]

    /// Whether the inbox may contain a manifest that the scan left out.
    var isIncomplete = false
  }

  /// The manifests of the last scan that this process does not take, because it is a `run` that began before, or leaves their
  /// jobs to the next start.
  private var excluded: [InboxScan.Manifest] = []

  /// The last scan; nil before the first.
  private var scan: Scan?

  /// The names of the manifests of live jobs at the last scan.
  var liveFiles: Set<FileName> = []

  /// Why jobs with a run that failed are left for the next start, by name. Later manifests of the name are left too, since
  /// the next start would take them for replacements.
  private(set) var blocked: [ByteKey: String] = [:]

  /// The jobs whose manifests could not be examined at the last scan, and whether one of them is to be processed.
  private var unexamined: (jobs: Set<ByteKey>, isAwaited: Bool) = ([], false)

  /// The keys for requests to cancel unfinished jobs, by run.
  private var cancelKeys: [String: [String]]

  private(set) var handled = HandledManifests()

  /// - Parameter unfinished: Unfinished jobs of an earlier process. Their manifests are not accepted again.
  init(goal: Goal, unfinished: [(job: LedgerJob, manifest: JobManifest)]) {
    self.goal = goal
    let keys = unfinished.map { ($0.job.runID, $0.manifest.cancelKeys(of: $0.job.runID)) }
    cancelKeys = Dictionary(keys, uniquingKeysWith: { first, _ in first })
    var unfinished = unfinished
    if case .named(let files) = goal {
      let jobs = Set(files.map { ByteKey($0.job) })
      left.jobs = unfinished.map(\.job).filter { !jobs.contains($0.key) }
      unfinished.removeAll { !jobs.contains($0.job.key) }
      let resumed = Set(unfinished.map(\.manifest.identity))
      named = files.filter { !resumed.contains($0.identity) }
    }
    self.unfinished = unfinished.map(\.job)
    for manifest in unfinished.map(\.manifest) where manifest.inboxPath != nil {
      handled.insert(FileName(manifest.file), identity: manifest.identity)
    }
  }

  /// Records that a manifest whose job has ended cannot be moved out of the inbox.
  mutating func keep(_ file: String, _ manifest: HandledManifests.Stuck) { handled.insert(FileName(file), manifest) }

  /// Forgets a manifest that was moved out of the inbox. If the inbox was another folder just then, the next scan finds it, and it is
  /// moved as one that is done. One that is too large to be copied would not be known as done.
  mutating func removed(_ manifest: JobManifest) {
    guard manifest.inboxPath != nil, manifest.tooLarge == nil else { return }
    handled.remove(FileName(manifest.file), identity: manifest.identity)
  }

  // MARK: Scans

  /// The manifests of a scan that are not handled and may be taken. Drops records of files that are gone.
  /// - Parameter unexamined: The names of manifests that could not be examined, which are not gone. Default: none.
  mutating func fresh(
    of manifests: [InboxScan.Manifest], unexamined: Set<FileName> = []
  ) -> [InboxScan.Manifest] {
    let fresh = handled.unhandled(manifests, unexamined: unexamined)
    if wanted == nil, case .inbox = goal { wanted = Set(fresh.map(\.key)).union(unexamined) }
    self.unexamined = (
      Set(unexamined.compactMap { $0.text.flatMap { ManifestFileName($0)?.job } }.map(ByteKey.init)),
      !(wanted ?? []).isDisjoint(with: unexamined)
    )
    excluded = []
    guard let wanted else { return fresh }
    excluded = fresh.filter { !wanted.contains($0.key) }
    return excluded.isEmpty ? fresh : fresh.filter { wanted.contains($0.key) }
  }

  /// Records a scan of the inbox.
  /// - Parameter settled: The manifests that are not being written any more.
  mutating func update(_ fresh: [InboxScan.Manifest], settled: [InboxScan.Manifest]) {
    let held = goal == .watch ? [] : Set(left.missingOptions.keys)
    let left = held.union(blocked.keys)
    if !left.isEmpty { excluded += fresh.filter { left.contains(ByteKey($0.job)) } }
    let fresh = left.isEmpty ? fresh : fresh.filter { !left.contains(ByteKey($0.job)) }
    scan = Scan(
      present: fresh, open: Dictionary(fresh.map { ($0.key, $0.identity) }, uniquingKeysWith: { first, _ in first }),
      settled: settled[...], changed: liveFiles.isEmpty ? [] : settled.filter { liveFiles.contains($0.key) },
      unwanted: cancelled.isEmpty ? [] : settled.filter { cancelled.contains($0.cancelKey) })
  }

  /// Ignores this version of the file.
  mutating func ignore(_ file: String, identity: String) {
    let key = FileName(file)
    handled.insert(key, identity: identity)
    // Another file may have the name now.
    if scan?.open[key]?.text == identity { scan?.open[key] = nil }
  }

  /// Examines handled files again, after the inbox was unavailable and files could not be removed from it.
  mutating func inboxReturned() { handled.removeAll() }

  /// Settled files that turned out not to be settled when they were accepted.
  private var unsettled: [FileName] = []

  /// Records that a file is not settled after all.
  mutating func recheck(_ manifest: InboxScan.Manifest) { unsettled.append(manifest.key) }

  /// Removes and returns the files that must be examined again.
  mutating func takeUnsettled() -> [FileName] {
    defer { unsettled = [] }
    return unsettled
  }

  /// The keys of the requests to cancel at the last scan, see `CancelRequest`: runs, and manifests without one.
  var cancelled: Set<String> = []

  // MARK: Taking jobs

  /// Whether cancelling an unfinished job was requested.
  func isCancelled(_ job: LedgerJob) -> Bool {
    !cancelled.isEmpty && !cancelled.isDisjoint(with: cancelKeys[job.runID] ?? [job.runID])
  }

  private func isCancelled(_ file: NamedManifest) -> Bool { !cancelled.isDisjoint(with: file.cancelKeys) }

  /// Removes and returns a job that becomes live only to be cancelled; nil when there is none.
  /// - Parameter isLive: Whether the job of a name is live or held.
  mutating func nextCancelled(isLive: (String) -> Bool) -> JobPlanning.Source? {
    guard !cancelled.isEmpty, scan != nil else { return nil }
    if let index = unfinished.firstIndex(where: { isCancelled($0) && !isLive($0.name) }) {
      return takeUnfinished(at: index)
    }
    let file = cancelled.isEmpty ? nil : named.firstIndex { isCancelled($0) && mayStart($0, isLive) }
    if let file { return .named(named.remove(at: file)) }
    if case .named = goal { return nil }
    let index = scan?.unwanted.firstIndex { mayStart($0, isLive) }
    return index.flatMap { scan?.unwanted.remove(at: $0) }.map { .dropped($0) }
  }

  /// Whether there may be a replacement for a live job's manifest.
  var mayReplace: Bool {
    scan?.changed.isEmpty == false || unfinished.contains { isCovered($0) && aside[$0.runID] == nil }
  }

  /// Removes and returns a settled manifest, or an unfinished job, whose file replaces that of a live job; nil when
  /// there is none.
  /// - Parameters:
  ///   - files: The live jobs that may be replaced, by file.
  ///   - isLive: Whether the job of a name is live.
  ///   - isHeld: Whether the job of a name is held. Default: none is.
  mutating func nextReplacement(
    of files: [FileName: JobRun], isLive: (String) -> Bool, isHeld: (String) -> Bool = { _ in false }
  ) -> (source: JobPlanning.Source, file: FileName)? {
    guard scan != nil else { return nil }
    for (index, job) in unfinished.enumerated() where isLive(job.name) && isCovered(job) {
      guard let file = job.replacedFile, let old = files[file], !isHeld(job.name), isLater(job, than: old)
      else { continue }
      return (takeUnfinished(at: index), file)
    }
    if case .named = goal { return nil }
    let index = scan?.changed.firstIndex { manifest in
      files[manifest.key] != nil && scan?.open[manifest.key] == manifest.identity
        && !isHeld(manifest.job)
        && !unfinished.contains {
          $0.name.isIdentical(to: manifest.job) && isLater($0, than: files[manifest.key])
            && $0.replacedFile == manifest.key
        }
    }
    return index.flatMap { scan?.changed.remove(at: $0) }.map { (.dropped($0), $0.key) }
  }

  /// Removes and returns the next job to become live. A manifest of the inbox that is not passed after that is found
  /// again by the next scan.
  /// - Parameters:
  ///   - isLive: Whether the job of a name is live or held. Other jobs of the name then wait.
  ///   - now: As `Clock.monotonicSeconds`. Default: 0.
  ///   - withAside: Whether jobs that were set aside may follow all others. Default: yes.
  mutating func next(
    isLive: (String) -> Bool, now: Double = 0, withAside: Bool = true
  ) -> JobPlanning.Source? {
    guard scan != nil else { return nil }
    if let index = unfinished.firstIndex(where: { !isLive($0.name) && isCovered($0) && !isAside($0, now) }) {
      return takeUnfinished(at: index)
    }
    if let next = nextManifest(isLive) { return next }
    guard withAside else { return nil }
    return unfinished.firstIndex { !isLive($0.name) && isCovered($0) }.map { takeUnfinished(at: $0) }
  }

  private mutating func nextManifest(_ isLive: (String) -> Bool) -> JobPlanning.Source? {
    if let index = named.firstIndex(where: { mayStart($0, isLive) }) {
      return .named(named.remove(at: index))
    }
    if case .named = goal { return nil }
    let index = scan?.waiting.firstIndex { mayStart($0, isLive) }
    if let manifest = index.flatMap({ scan?.waiting.remove(at: $0) }) { return .dropped(manifest) }
    while let manifest = scan?.settled.popFirst() {
      if mayStart(manifest, isLive) { return .dropped(manifest) }
      if scan?.open[manifest.key] == nil { continue }
      scan?.waiting.append(manifest)
      endAside(of: manifest.job)
    }
    return nil
  }

  /// Whether a job that was set aside lets others become live before it.
  private func isAside(_ job: LedgerJob, _ now: Double) -> Bool { aside[job.runID].map { now < $0.until } ?? false }

  /// Lets a job that was set aside become live like others, since a later manifest waits for it.
  private mutating func endAside(of job: String) {
    if aside.isEmpty { return }
    for unfinished in unfinished where unfinished.name.isIdentical(to: job) { aside[unfinished.runID] = nil }
  }

  private func mayStart(_ manifest: InboxScan.Manifest, _ isLive: (String) -> Bool) -> Bool {
    scan?.open[manifest.key] == manifest.identity && !isLive(manifest.job) && !hasUnfinished(manifest.job)
  }

  private func mayStart(_ file: NamedManifest, _ isLive: (String) -> Bool) -> Bool {
    !isLive(file.job) && !hasUnfinished(file.job)
  }

  private mutating func takeUnfinished(at index: Int) -> JobPlanning.Source {
    let job = unfinished.remove(at: index)
    orders[job.runID] = nil
    aside[job.runID] = nil
    if !hasUnfinished(job.name), left.missingOptions.removeValue(forKey: job.key) != nil {
      // The scan left out manifests of its name.
      scan?.isIncomplete = true
    }
    return .unfinished(job)
  }

  /// Whether a job's manifest was accepted after that of a live run of its name.
  private func isLater(_ job: LedgerJob, than old: JobRun?) -> Bool {
    old.map { $0.order < orders[job.runID] ?? .max } == true
  }

  /// The runs of a job that were live before, wait to be planned again, and have earlier manifests than a run of that
  /// order.
  func earlierRuns(than order: Int, of job: String) -> [LedgerJob] {
    orders.isEmpty ? [] : unfinished.filter { $0.name.isIdentical(to: job) && orders[$0.runID] ?? .max < order }
  }

  private func hasUnfinished(_ job: String) -> Bool { unfinished.contains { $0.name.isIdentical(to: job) } }

  /// Examines the manifest of a run again that was set aside.
  mutating func forget(_ manifest: JobManifest) {
    guard manifest.inboxPath != nil else { return }
    let key = FileName(manifest.file)
    handled.remove(key)
    wanted?.insert(key)
    scan?.isIncomplete = true
  }

  /// Leaves manifests that are not settled for the next start of `run`.
  /// - Returns: The manifests among them that would have been processed.
  mutating func leaveToNextStart(_ files: Set<FileName>) -> Set<FileName> {
    guard case .inbox = goal, let left = wanted?.intersection(files), !left.isEmpty else { return [] }
    wanted?.subtract(left)
    for key in left { scan?.open[key] = nil }
    return left
  }

  /// Leaves all manifests of a job for the next start.
  mutating func block(_ job: String, why: String) {
    let key = ByteKey(job)
    blocked[key] = why
    leaveNamed { $0 == key }
    for unfinished in unfinished where unfinished.key == key {
      orders[unfinished.runID] = nil
      aside[unfinished.runID] = nil
    }
    left.jobs += unfinished.filter { $0.key == key }
    unfinished.removeAll { $0.key == key }
    for manifest in scan?.present ?? [] where ByteKey(manifest.job) == key { scan?.open[manifest.key] = nil }
  }

  /// Lets unfinished jobs wait that the options do not cover. `run` leaves them, and other manifests of theirs, to another
  /// start.
  /// - Parameter missing: The options that a job was accepted with and that are missing now.
  mutating func holdUncovered(_ missing: (LedgerJob) -> [String]) {
    // The runs of a job are worked on in their order. One of which only the report is left needs nothing.
    left.missingOptions = Dictionary(
      unfinished.map { ($0.key, $0.state == .finishing ? [] : missing($0)) }.filter { !$0.1.isEmpty },
      uniquingKeysWith: { $0 + $1.filter(Set($1).subtracting($0).contains) })
    let held = Set(left.missingOptions.keys)
    if goal != .watch { leaveNamed(held.contains) }
  }

  private mutating func leaveNamed(_ isLeft: (ByteKey) -> Bool) {
    let files = named.filter { isLeft(ByteKey($0.job)) }
    named.removeAll { file in files.contains { $0 == file } }
    left.named += files
  }

  /// Whether the options with which a job was accepted are set.
  private func isCovered(_ job: LedgerJob) -> Bool { left.missingOptions[job.key] == nil }

  /// Whether unfinished jobs wait for options.
  var hasHeld: Bool { !left.missingOptions.isEmpty }

  /// Puts a job back, to be tried again.
  /// - Parameter order: Its `order`, when it was accepted. Default: nil.
  mutating func retry(_ source: JobPlanning.Source, order: Int? = nil) {
    switch source {
    case .unfinished(let job):
      unfinished.insert(job, at: 0)
      orders[job.runID] = order
      cancelKeys[job.runID] = job.cancelKeys
    case .named(let file): named.insert(file, at: 0)
    // The next scan finds the manifest again.
    case .dropped: break
    }
  }

  /// Puts a job back that others are to become live before.
  /// - Parameters:
  ///   - order: Its `order`.
  ///   - file: The name of its manifest in the inbox; nil when it is elsewhere.
  ///   - time: Until when, as `Clock.monotonicSeconds`.
  mutating func setAside(_ job: LedgerJob, order: Int, file: FileName?, until time: Double) {
    unfinished.append(job)
    orders[job.runID] = order
    cancelKeys[job.runID] = job.cancelKeys
    aside[job.runID] = (file, time)
  }

  /// Lets jobs that were set aside become live like others, to be cancelled, when their manifests are missing in a scan.
  mutating func endAside(unlessIn scan: InboxScan) {
    if aside.isEmpty { return }
    let files = Set(scan.manifests.map(\.key) + (scan.ignored + scan.unexamined).map(\.file))
    aside = aside.filter { $1.file.map(files.contains) ?? true }
  }

  // MARK: Queries

  /// When the next of the jobs that were set aside becomes live like others, as `Clock.monotonicSeconds`; nil without one.
  func asideEnd(after now: Double) -> Double? { aside.values.lazy.map(\.until).filter { $0 > now }.min() }

  /// The names of the waiting jobs, including those whose manifests could not be examined.
  var jobs: Set<ByteKey> {
    unexamined.jobs.union(((scan?.present ?? []).map(\.job) + named.map(\.job)).map(ByteKey.init))
      .union(unfinished.map(\.key))
  }

  /// Whether all jobs of the goal have been taken, except for those that wait for options.
  var isOver: Bool {
    guard let scan, !unfinished.contains(where: isCovered), named.isEmpty else { return false }
    switch goal {
    case .watch: return false
    case .named: return true
    case .inbox: return scan.open.isEmpty && !scan.isIncomplete && !unexamined.isAwaited
    }
  }

  /// Whether there is something to take out, now or when it is settled.
  var isEmpty: Bool { !unfinished.contains(where: isCovered) && named.isEmpty && scan?.open.isEmpty != false }

  /// The manifests that wait to become live only to be cancelled, at most `limit` of them; nil when there are none.
  func queuedCancelled(limit: Int) -> [String]? {
    guard !cancelled.isEmpty else { return nil }
    let files = Array(named.lazy.filter { !$0.isInInbox && isCancelled($0) }.prefix(limit)).map(\.description)
    let inInbox = (openInInbox + excluded).filter { cancelled.contains($0.cancelKey) }.map(\.file)
    return files.isEmpty && inInbox.isEmpty ? nil : Array((files + inInbox).prefix(limit))
  }

  /// The manifests of the last scan that have not been handled since.
  private var openInInbox: LazyFilterSequence<[InboxScan.Manifest]> {
    (scan?.present ?? []).lazy.filter { scan?.open[$0.key] != nil }
  }

  private var takesInbox: Bool { if case .named = goal { false } else { true } }

  /// The manifests that wait to become live or are being accepted, settled or not, at most `limit` of them, and their total
  /// number.
  /// - Parameter beginning: The sources of the runs that are not in the ledger yet. Their manifests count also when the last
  ///   scan did not find them any more. Default: none.
  func queued(beginning: [JobPlanning.Source] = [], limit: Int) -> (files: [String], total: Int) {
    let begun = beginning.filter(isTaken).map(\.description)
    let names = begun + named.prefix(limit).map(\.description)
    let total = begun.count + named.count
    guard takesInbox else { return (Array(names.prefix(limit)), total) }
    let files = names + openInInbox.prefix(limit).map(\.file)
    return (Array(files.prefix(limit)), total + (scan?.open.count ?? 0))
  }

  /// Whether a manifest was taken out, and is not among those of the last scan. Unfinished jobs are no manifests.
  private func isTaken(_ source: JobPlanning.Source) -> Bool {
    switch source {
    case .unfinished: false
    case .named: true
    case .dropped(let manifest): scan?.open[manifest.key] == nil
    }
  }

  /// The manifests in the inbox that wait for the next start, at most `limit` of them, and their total number.
  func queuedForNextStart(limit: Int) -> (files: [String], total: Int) {
    let others = takesInbox ? [] : openInInbox.prefix(limit).map(\.file)
    let total = (takesInbox ? 0 : scan?.open.count ?? 0) + excluded.count
    return (others + excluded.prefix(max(0, limit - others.count)).map(\.file), total)
  }
}

extension LedgerJob {
  var key: ByteKey { ByteKey(name) }
}
