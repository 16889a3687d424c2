/// What keeps a run from being faster.
package struct Bound: Hashable, Sendable, Codable {
  /// The kinds of it, as reports name them.
  package enum Cause: String, Sendable, Codable, CaseIterable {
    /// The queues are suspended.
    case pause
    /// Its manifest is being read, and nothing can start before.
    case planning
    /// The places belong to other jobs.
    case otherJobs = "other-jobs"
    /// All filtrations that `--filtrations` allows run, and more wait.
    case filtrations
    /// Pictures are processed on all processors, or nothing else is left to do.
    case processors
    /// All places for downloads are taken, and more wait.
    case downloads
    /// Only hosts have something left to start that have as many downloads as they may have.
    case host
    /// Only hosts have something left to start that have asked for a hold.
    case hostHold = "host-hold"
    /// A rate holds the downloads back.
    case rate
    /// Downloads run, fewer than every limit.
    case servers
    /// What is left waits to be tried again.
    case retry
    /// What is left is tried again later.
    case deferred
    /// What is left comes after entries that have not ended.
    case after
    /// Files are read, or results recorded and synced.
    case disk
  }

  package let cause: Cause

  /// Where: a host if it is a single one, or what pauses, the name of a lock, `disk`, `memory` or `network`; nil otherwise.
  package var name: String?

  /// What would change it: an option, or a key of the configuration file; nil where nothing would.
  package var option: String?

  /// The number that limits, in the option's unit; nil where there is none.
  package var limit: Int?

  package init(_ cause: Cause, name: String? = nil, option: String? = nil, limit: Int? = nil) {
    (self.cause, self.name, self.option, self.limit) = (cause, name, option, limit)
  }

  /// The key of the configuration file that has the rules for hosts.
  static let hostRules = "hosts"

  /// Whether another one differs in nothing but its limit, which may change as the program finds it.
  func isSame(as other: Bound) -> Bool { (cause, name, option) == (other.cause, other.name, other.option) }
}
