import Model
import System

/// Does shards one after another, each with a claim, until none is left that nobody else does.
package struct ShardWorker {
  /// What became of the shards.
  package struct Outcome: Sendable {
    /// Those that this process has completed, or found complete.
    package var completed = 0

    /// Those that it has begun, and that are not complete: why, by the summary of the run.
    package var unfinished: [Int: Darkroom.Summary] = [:]

    /// Those that other processes do.
    package var others: [Int: ShardClaim.Held] = [:]

    /// Whether the work was ended before all shards were looked at.
    package var isStopped = false
  }

  /// Called by each iteration of a run's loop, as `Darkroom.keepAlive`, with what stops the run.
  package typealias KeepAlive = (_ now: Double, _ stop: () -> Void) -> Double?

  private let shards: ShardFolder
  private let configuration: Configuration
  private let state: String?
  private let timeout: Double

  /// How often a claim that somebody else has is looked at, and how often it is looked whether all shards were cancelled, in seconds.
  private static let interval = 1.0

  /// - Parameters:
  ///   - configuration: As in `ShardRun`, and so is `state`.
  ///   - timeout: After how many seconds without a renewal a claim is given up.
  package init(
    _ shards: ShardFolder, _ configuration: Configuration, state: String?, timeout: Double
  ) {
    (self.shards, self.configuration, self.state) = (shards, configuration, state)
    self.timeout = timeout
  }

  /// - Parameters:
  ///   - number: The only shard to do. Default: nil, all, the largest first.
  ///   - perform: Runs a shard's manifest.
  ///   - wait: Waits for a number of seconds, and returns whether to go on.
  ///   - note: Called with what a person may want to know.
  /// - Throws: `StopError`, `SystemError` and the errors of `perform`.
  package func work(
    on number: Int?, perform: (ShardRun, @escaping KeepAlive) throws -> Darkroom.Summary, wait: (Double) -> Bool,
    note: (String) -> Void
  ) throws -> Outcome {
    try ShardedJobs(outbox: configuration.outbox).add(shards)
    var outcome = Outcome()
    var open = number.map { [$0] } ?? shards.plan.largestFirst
    // The claims of others, as they were when this process first saw them.
    var seen: [Int: ShardClaim.Held] = [:]
    let began = Clock.monotonicSeconds
    while !open.isEmpty {
      var left: [Int] = []
      var hasDone = false
      for (index, shard) in open.enumerated() {
        if shards.isCancelled || !wait(0) || isOutOfTime(since: began) {
          outcome.isStopped = true
          return outcome
        }
        if try shards.report(of: shard) != nil {
          outcome.completed += 1
          continue
        }
        switch try ShardClaim.take(shards.shard(shard), timeout: timeout) {
        case .held(let held):
          // A holder that lives renews its claim.
          if let first = seen[shard], first != held { outcome.others[shard] = held } else { left.append(shard) }
          if seen[shard] == nil {
            seen[shard] = held
            if number != nil { note("shard \(shard) is claimed by \(held.holder): waiting for a sign of life") }
          }
        case .taken(let claim):
          defer { claim.release() }
          let run = try ShardRun(shard, of: shards, remaining(since: began), state: state)
          do {
            let summary = try perform(run, keepAlive(claim, run))
            hasDone = true
            if try shards.report(of: shard) != nil {
              run.removeState()
              outcome.completed += 1
            } else {
              outcome.unfinished[shard] = summary
              outcome.isStopped = index < open.count - 1 || !left.isEmpty
              return outcome
            }
          } catch let error as StopError where error.isBusy(run.configuration.outbox) {
            outcome.others[shard] = ShardClaim.Held(number: 0, renewed: 0, holder: "another process")
          }
        }
      }
      open = left
      if !open.isEmpty, !hasDone, !wait(Self.interval) {
        outcome.isStopped = true
        return outcome
      }
    }
    return outcome
  }

  private func isOutOfTime(since began: Double) -> Bool {
    configuration.maxDuration.map { Clock.monotonicSeconds - began >= $0 } ?? false
  }

  /// The configuration with the time that is left.
  private func remaining(since began: Double) -> Configuration {
    var configuration = configuration
    configuration.maxDuration = configuration.maxDuration.map { max(0.001, $0 - (Clock.monotonicSeconds - began)) }
    return configuration
  }

  /// Renews a claim, and passes on that all shards were cancelled.
  private func keepAlive(_ claim: ShardClaim, _ run: ShardRun) -> KeepAlive {
    var renewal = Clock.monotonicSeconds + timeout / 6
    var look = 0.0
    return { now, stop in
      if now >= look {
        run.passOnCancelling()
        look = now + Self.interval
      }
      if now >= renewal {
        if !claim.renew(timeout: timeout) { stop() }
        renewal = now + timeout / 6
      }
      return min(look, renewal)
    }
  }
}

extension ShardPlan {
  /// The numbers of the shards, those with the most results first, so that the last ones to end are small.
  fileprivate var largestFirst: [Int] {
    shards.indices.sorted { (shards[$1].rows, $0) < (shards[$0].rows, $1) }
  }
}
