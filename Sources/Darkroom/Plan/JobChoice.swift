import Ledger

/// Decides which job comes next, and when there is none left. It knows values only: no files, no threads.
struct JobChoice {
  /// Which manifests are to be processed.
  enum Goal: Sendable {
    /// Those that lie in the inbox at the first look, then no more.
    case inbox
    /// These files, then no more.
    case named([String])
    /// All that will ever be dropped.
    case watch
  }

  /// What is to be done next.
  enum Next: Equatable {
    /// A job that an earlier process left.
    case resume(LedgerJob)
    /// A file that was named.
    case named(String)
    /// A manifest of the inbox that is settled.
    case dropped(InboxScan.Manifest)
    /// Nothing now.
    case nothing
  }

  let goal: Goal

  /// Jobs of an earlier process that have not ended.
  private(set) var unfinished: ArraySlice<LedgerJob>
  private var named: ArraySlice<String> = []

  /// The details of the jobs that an earlier process left.
  private let resumed: [String]

  /// The names that lay in the inbox at the first look, for `Goal.inbox`.
  private var wanted: Set<FileName>?

  /// What lay in the inbox at the last look, may be taken and has not been dealt with, in its order; nil before the
  /// first look.
  private var present: [InboxScan.Manifest]?
  private var open: Set<FileName> = []
  private var settled: ArraySlice<InboxScan.Manifest> = []

  /// Files that were dealt with, as they were then.
  private var passed: [FileName: String] = [:]

  init(goal: Goal, unfinished: ArraySlice<LedgerJob>) {
    self.goal = goal
    self.unfinished = unfinished
    resumed = unfinished.map(\.details)
    if case .named(let files) = goal { named = files[...] }
  }

  /// What of a scan has not been dealt with and may be taken. What is no longer there is forgotten.
  mutating func fresh(of manifests: [InboxScan.Manifest]) -> [InboxScan.Manifest] {
    if !passed.isEmpty {
      let names = Set(manifests.map(\.key))
      passed = passed.filter { names.contains($0.key) }
    }
    let fresh = manifests.filter { passed[$0.key] != $0.identity.text }
    if wanted == nil, case .inbox = goal { wanted = Set(fresh.map(\.key)) }
    return wanted.map { wanted in fresh.filter { wanted.contains($0.key) } } ?? fresh
  }

  /// Takes in a look at the inbox.
  /// - Parameter settled: The manifests that are not being written any more.
  mutating func see(_ fresh: [InboxScan.Manifest], settled: [InboxScan.Manifest]) {
    present = fresh
    open = Set(fresh.map(\.key))
    self.settled = settled[...]
  }

  /// A file, as it is, needs no further look.
  mutating func pass(_ file: String, identity: String) {
    let key = FileName(file)
    passed[key] = identity
    open.remove(key)
  }

  /// A job is to be tried again.
  mutating func retry(_ job: LedgerJob) { unfinished.insert(job, at: unfinished.startIndex) }

  /// A named file is to be tried again.
  mutating func retry(named file: String) { named.insert(file, at: named.startIndex) }

  /// Whether a job of an earlier process was about the file, as it is.
  func hasResumed(_ identity: String) -> Bool { resumed.contains { $0.contains("\"identity\":\"\(identity)\"") } }

  /// Takes out what is to be done next. A manifest of the inbox that is not passed then is seen again at the next look.
  mutating func next() -> Next {
    guard present != nil else { return .nothing }
    if let job = unfinished.popFirst() { return .resume(job) }
    if let file = named.popFirst() { return .named(file) }
    if case .named = goal { return .nothing }
    while let manifest = settled.popFirst() {
      if open.contains(manifest.key) { return .dropped(manifest) }
    }
    return .nothing
  }

  /// Whether all that the goal asks for has been done, unless a job is being worked on.
  var isOver: Bool {
    guard present != nil, unfinished.isEmpty, named.isEmpty else { return false }
    switch goal {
    case .watch: return false
    case .named: return true
    case .inbox: return open.isEmpty
    }
  }

  /// What waits for its turn, settled or not: the first so many, and how many there are.
  func queued(limit: Int) -> (files: [String], total: Int) {
    let inInbox = (present ?? []).lazy.filter { open.contains($0.key) }.map(\.file)
    return (Array(named.prefix(limit)) + inInbox.prefix(max(0, limit - named.count)), named.count + open.count)
  }
}
