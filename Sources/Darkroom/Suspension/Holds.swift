import Model
import Scheduling
import System

/// Work that failed and is tried again: the reason, and the time of the next try. The wait grows with each failure in a row.
struct Holds {
  enum Subject: Hashable {
    /// The planning of a job, by its name.
    case planning(ByteKey)
    /// The index of a run, by its run ID.
    case index(String)
    /// The end of a run: its last rows, its report, the removal of its manifest.
    case ending(Int)
    /// The delivery of a run's results.
    case results(Int)
    /// An entry that the machine has failed.
    case entry(PhotoRecord.ID)
  }

  struct Hold: Equatable {
    var reason: String

    /// How often it has failed in a row.
    var attempts = 1

    /// When it failed first, and when it is tried again, as `Clock.monotonicSeconds`.
    let since: Double
    var due: Double

    /// How many bytes must be free in the state folder's file system before. Default: nil, that does not matter.
    var space: Int?

    /// Whether a manifest that cannot be moved is all that is in the way of a run's end.
    var isOfManifest = false
  }

  /// The most entries that may be held while others start; the same for the results of a run.
  static let entryLimit = 256

  private var holds: [Subject: Hold] = [:]

  /// The number of held entries.
  private var entryCount = 0

  /// The bytes that are free in the state folder's file system, as of the last look.
  var free = Int.max

  var isEmpty: Bool { holds.isEmpty }

  subscript(_ subject: Subject) -> Hold? { holds[subject] }

  /// Holds something that has failed.
  /// - Parameters:
  ///   - space: How many bytes must be free before it is tried again; then no time passes before. Default: nil.
  ///   - isOfManifest: As `Hold.isOfManifest`. Default: no.
  ///   - latest: It is tried then at the latest. Default: no limit.
  /// - Returns: Whether the reason is another one than before.
  @discardableResult
  mutating func hold(
    _ subject: Subject, _ reason: String, space: Int? = nil, isOfManifest: Bool = false, latest: Double = .infinity,
    now: Double
  ) -> Bool {
    if case .index = subject { limitIndexes() }
    let last = holds[subject]
    let attempts = (last?.attempts ?? 0) + 1
    let wait = space == nil ? LocalBackoff.seconds(attempts: attempts) : 0
    let since = last?.isOfManifest == isOfManifest ? last?.since ?? now : now
    set(
      subject,
      Hold(
        reason: reason, attempts: attempts, since: since, due: min(now + wait, max(now, latest)), space: space,
        isOfManifest: isOfManifest))
    return reason != last?.reason
  }

  /// Holds something for as long as another.
  mutating func hold(_ subject: Subject, as other: Subject) { set(subject, holds[other]) }

  mutating func release(_ subject: Subject) { set(subject, nil) }

  private mutating func set(_ subject: Subject, _ hold: Hold?) {
    if case .entry = subject { entryCount += (hold == nil ? 0 : 1) - (holds[subject] == nil ? 0 : 1) }
    holds[subject] = hold
  }

  /// Whether so many entries wait for the machine that no other starts before the first of them is due. Without descriptors every
  /// entry of a large manifest would fail and wait.
  func isFull(now: Double) -> Bool {
    guard entryCount >= Self.entryLimit else { return false }
    return holds.allSatisfy { subject, hold in if case .entry = subject { hold.due > now } else { true } }
  }

  /// Releases the results and entries of a run.
  mutating func releaseEntries(of run: Int) {
    guard !holds.isEmpty else { return }
    holds = holds.filter { subject, _ in
      switch subject {
      case .results(run): false
      case .entry(let id): id.run != run
      case .planning, .index, .ending, .results: true
      }
    }
    entryCount = holds.keys.count { if case .entry = $0 { true } else { false } }
  }

  /// Whether something is not tried now.
  func isHeld(_ subject: Subject, now: Double) -> Bool {
    holds[subject].map { now < $0.due || $0.space.map { $0 > free } == true } ?? false
  }

  /// Why a run waits. Default: nil, nothing is in its way.
  func reason(ofRun run: Int) -> String? {
    if holds.isEmpty { return nil }
    if let hold = holds[.ending(run)] ?? holds[.results(run)] { return hold.reason }
    return holds.lazy.compactMap { subject, hold in
      if case .entry(let id) = subject, id.run == run { hold.reason } else { nil }
    }.min()
  }

  // MARK: Planning

  /// The jobs whose planning is held.
  var planning: [(job: String, hold: Hold)] {
    holds.compactMap { subject, hold in if case .planning(let job) = subject { (job.text, hold) } else { nil } }
  }

  /// Releases the planning of all jobs but these.
  mutating func keepPlanning(of jobs: Set<ByteKey>) {
    holds = holds.filter { subject, _ in if case .planning(let job) = subject { jobs.contains(job) } else { true } }
  }

  /// Forgets the attempts of indexes once there are many.
  private mutating func limitIndexes() {
    let isIndex = { (subject: Subject) in if case .index = subject { true } else { false } }
    if holds.keys.count(where: isIndex) >= 1000 { holds = holds.filter { !isIndex($0.key) } }
  }

  // MARK: The machine

  /// Why something waits for the machine, and not for room or for a manifest. Default: nil, nothing does.
  var machineTrouble: String? {
    holds.lazy.filter { subject, hold in
      if case .index = subject { return false }
      return hold.space == nil && !hold.isOfManifest
    }.map(\.value.reason).min()
  }

  /// The time of the first try of the selected subjects, as `Clock.monotonicSeconds`; nil when none is held.
  func nextDue(where isIncluded: (Subject) -> Bool) -> Double? {
    holds.compactMap { $0.value.space == nil && isIncluded($0.key) ? $0.value.due : nil }.min()
  }
}
