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

  /// What lay in the inbox at the last look and has not been dealt with; nil before the first.
  private var present: [InboxScan.Manifest]?
  private var settled: [InboxScan.Manifest] = []

  /// Files that were dealt with, as they were then.
  private var passed: [FileName: String] = [:]

  init(goal: Goal, unfinished: ArraySlice<LedgerJob>) {
    self.goal = goal
    self.unfinished = unfinished
    resumed = unfinished.map(\.details)
    if case .named(let files) = goal { named = files[...] }
  }

  /// What of a scan has not been dealt with.
  func fresh(_ manifests: [InboxScan.Manifest]) -> [InboxScan.Manifest] {
    manifests.filter { passed[$0.key] != $0.identity.text }
  }

  /// Takes in a look at the inbox.
  /// - Parameter settled: The manifests that are not being written any more.
  mutating func see(_ manifests: [InboxScan.Manifest], settled: [InboxScan.Manifest]) {
    let names = Set(manifests.map(\.key))
    passed = passed.filter { names.contains($0.key) }
    let fresh = fresh(manifests)
    present = fresh
    if wanted == nil, case .inbox = goal { wanted = Set(fresh.map(\.key)) }
    self.settled = settled
  }

  /// A file, as it is, needs no further look.
  mutating func pass(_ file: String, identity: String) {
    let key = FileName(file)
    passed[key] = identity
    present?.removeAll { $0.key == key && $0.identity.text == identity }
  }

  /// A file that was passed is to be looked at after all.
  mutating func forget(_ file: String) {
    let key = FileName(file)
    passed[key] = nil
    settled.removeAll { $0.key == key }
  }

  /// A job is to be tried again.
  mutating func retry(_ job: LedgerJob) { unfinished.insert(job, at: unfinished.startIndex) }

  /// A named file is to be tried again.
  mutating func retry(named file: String) { named.insert(file, at: named.startIndex) }

  /// Whether a job of an earlier process was about the file, as it is.
  func hasResumed(_ identity: String) -> Bool { resumed.contains { $0.contains("\"identity\":\"\(identity)\"") } }

  /// Takes out what is to be done next. A manifest of the inbox stays until it was passed.
  mutating func next() -> Next {
    guard present != nil else { return .nothing }
    if let job = unfinished.popFirst() { return .resume(job) }
    if let file = named.popFirst() { return .named(file) }
    return choice.map(Next.dropped) ?? .nothing
  }

  private var choice: InboxScan.Manifest? {
    if case .named = goal { return nil }
    return fresh(settled).first { wanted?.contains($0.key) ?? true }
  }

  /// Whether all that the goal asks for has been done, unless a job is being worked on.
  var isOver: Bool {
    guard let present, unfinished.isEmpty, named.isEmpty else { return false }
    switch goal {
    case .watch: return false
    case .named: return true
    case .inbox: return !present.contains { wanted?.contains($0.key) ?? false }
    }
  }

  /// What waits for its turn, settled or not.
  var queued: [String] { Array(named) + (present ?? []).map(\.file) }
}
