import Glibc
import Inbox
import Manifests
import Model
import System

/// Requests that jobs are cancelled. An instance does that at its next scan, or the next instance that starts.
package struct JobCancel {
  private let configuration: Configuration

  package init(configuration: Configuration) { self.configuration = configuration }

  /// The requested cancellations.
  package struct Asked {
    /// The names of the jobs, as they were given; sorted for all jobs.
    package let jobs: [String]

    package let isRunning: Bool
  }

  /// Requests cancelling all open runs of jobs, and manifests of them that are queued.
  /// - Throws: `StopError.missing` when a job is not open, after requesting the others; `SystemError`.
  package func cancel(_ jobs: [String]) throws -> Asked {
    let open = try OpenRuns(configuration)
    let names = jobs.map { ByteKey(PortableName.job($0)) }
    let others = try ask(names.flatMap { open.keys(of: $0) ?? [] })
    let inShards = try cancelShards { names.contains($0) }
    let unknown = names.filter { open.keys(of: $0) == nil && !inShards.contains($0) }
    if !unknown.isEmpty {
      let names = unknown.map { "\"\($0.text)\"" }.joined(separator: ", ")
      let others = jobs.filter { !unknown.contains(ByteKey(PortableName.job($0))) }
      let rest = others.isEmpty ? "" : "; the cancelling of \(others.joined(separator: ", ")) was requested"
      let ignored = unknown.compactMap { open.ignored[$0] }
      let why =
        ignored.isEmpty ? "no manifest in the inbox, and no run that has not ended" : ignored.joined(separator: ", ")
      throw StopError.missing((open.obstacle ?? "there is no open job \(names): \(why)") + rest)
    }
    try check(others)
    return Asked(jobs: jobs, isRunning: open.isRunning || !inShards.isEmpty)
  }

  /// Requests cancelling all open runs.
  /// - Throws: `StopError.missing` when some open runs may be unknown, after requesting the known ones; `SystemError`.
  package func cancelAll() throws -> Asked {
    let open = try OpenRuns(configuration)
    let others = try ask(open.keys.values.flatMap { $0 } + (open.allNamed.map { [$0] } ?? []))
    let inShards = try cancelShards { _ in true }
    if let obstacle = open.obstacle { throw StopError.missing(obstacle) }
    try check(others)
    return Asked(
      jobs: inShards.union(open.keys.keys).sorted().map(\.text), isRunning: open.isRunning || !inShards.isEmpty)
  }

  /// Cancels jobs that are done in shards, and not complete.
  /// - Returns: Their names.
  private func cancelShards(where isIncluded: (ByteKey) -> Bool) throws(SystemError) -> Set<ByteKey> {
    let open = SharedOutbox(configuration.outbox).open.filter { isIncluded(ByteKey($0.job)) }
    for shards in open { try shards.cancel() }
    return Set(open.map { ByteKey($0.job) })
  }

  /// The runs that have not ended, and the manifests that were not accepted yet: those in the inbox, and those named to the instance.
  private struct OpenRuns {
    /// The keys for requests, by job.
    private(set) var keys: [ByteKey: [String]] = [:]
    let isRunning: Bool

    /// When the instance was started; nil when none runs.
    private let start: String?

    /// As `Status.hasUnlistedNames`.
    private let hasUnlisted: Bool

    /// The key of all manifests that were named to the instance; nil when all are listed.
    var allNamed: String? { hasUnlisted ? start.map { CancelRequest.key(ofNamed: nil, startedAt: $0) } : nil }

    /// The keys of a job; nil when it is not open. Of one that may be among the manifests that are not listed: as if it were.
    func keys(of job: ByteKey) -> [String]? {
      keys[job] ?? (hasUnlisted ? start.map { [CancelRequest.key(ofNamed: job.text, startedAt: $0)] } : nil)
    }

    /// Why the instance takes no manifest of a job, by job.
    private(set) var ignored: [ByteKey: String] = [:]

    /// Why some open runs may be unknown; nil when all are known.
    let obstacle: String?

    init(_ configuration: Configuration) throws {
      // A manifest that is accepted in between appears in both.
      let scan = try Self.scan(configuration.inbox)
      let status = try StatusReader(configuration: configuration).read(countsRows: false)
      start = status.running ? status.process_start ?? "" : nil
      hasUnlisted = status.hasUnlistedNames
      for job in status.jobs { keys[ByteKey(job.job), default: []].append(job.run_id) }
      for manifest in scan?.manifests ?? [] {
        // The instance may be another user's.
        if let why = status.whyIgnored(file: manifest.file) {
          ignored[ByteKey(manifest.job)] = why
        } else {
          keys[ByteKey(manifest.job), default: []].append(manifest.cancelKey)
        }
      }
      let inInbox = Set(scan?.manifests.map(\.key) ?? [])
      for file in status.queued where status.queued_named != nil && !inInbox.contains(FileName(file)) {
        guard let start, let job = ManifestFileName(Folder.name(of: file))?.job else { continue }
        keys[ByteKey(job), default: []].append(CancelRequest.key(ofNamed: job, startedAt: start))
      }
      isRunning = status.running
      let unexamined = scan?.unexamined.first.map { "\($0.file) in the inbox cannot be examined: \($0.why)" }
      let unknown = status.jobs_unknown ?? unexamined
      obstacle = unknown.map { "which jobs are open cannot be told: \($0)" }
    }

    /// Scans the inbox; nil when it is missing, as it may be while jobs are done in shards.
    private static func scan(_ inbox: String) throws(SystemError) -> InboxScan? {
      do throws(SystemError) {
        return try Inbox(path: inbox, extraLock: nil).scan()
      } catch  where error.cause == .missing {
        return nil
      }
    }
  }

  /// - Returns: The names of requests of other users, which may not count.
  private func ask(_ keys: [String]) throws -> [String] {
    if keys.isEmpty { return [] }
    let inbox = try OpenFolder(configuration.inbox)
    var others: [String] = []
    for key in keys.map(CancelRequest.name) where try !create(key, in: inbox) && isOfOther(key, in: inbox) {
      others.append(key)
    }
    try inbox.sync()
    return others
  }

  /// - Returns: false when there is such a request.
  private func create(_ name: String, in inbox: OpenFolder) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try inbox.create(file: name, mode: 0o644)
      return true
    } catch  where error.code == EEXIST {
      return false
    }
  }

  /// Whether a request that exists may not count: in a folder with the sticky bit, that of a user who may not cancel the run, as far as
  /// that can be told here. Nobody else can remove it.
  private func isOfOther(_ name: String, in inbox: OpenFolder) throws -> Bool {
    let folder = try inbox.status()
    guard folder.mode & Int(S_ISVTX) != 0, let request = try inbox.status(of: name) else { return false }
    // The outbox may belong to the instance's user.
    let outbox = try? FileStatus(of: configuration.outbox).owner
    if [geteuid(), 0, folder.owner, outbox].contains(request.owner) { return false }
    let files = try inbox.names().compactMap(\.text).filter { ManifestFileName($0) != nil }
    return try !files.contains { try inbox.status(of: $0)?.owner == request.owner }
  }

  /// - Parameter others: The names of requests of other users, which may not count.
  private func check(_ others: [String]) throws {
    guard let first = others.first else { return }
    let more = others.count > 1 ? " and \(others.count - 1) more" : ""
    throw StopError.missing(
      "\(configuration.inbox)/\(first)\(more): another user has made the request, and it may not count: remove it, and cancel again"
    )
  }
}
