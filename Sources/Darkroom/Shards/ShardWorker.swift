import Glibc
import Model
import System

/// Does shards one after another, each with a claim, until none is left that nobody else does.
package struct ShardWorker {
  /// What became of the shards.
  package struct Outcome: Sendable {
    /// Those that this process has completed, or found complete.
    package var completed = 0

    /// The failed results of these.
    package var failed = 0

    /// Shards that were started and not completed, with the summaries of their runs.
    package var unfinished: [Int: Darkroom.Summary] = [:]

    /// Why shards cannot be started.
    package var broken: [Int: String] = [:]

    /// Those that other processes do, with what is known of these.
    package var others: [Int: String] = [:]

    /// Those that are left for a later start: a file system fails, or a process that gives no sign of life has the lock. Why.
    package var postponed: [Int: String] = [:]

    /// Whether the work was ended before all shards were looked at.
    package var isStopped = false

    fileprivate mutating func add(_ head: ReportHead) {
      completed += 1
      failed += head.counts?.failed ?? 0
    }
  }

  /// Called by each iteration of a run's loop, as `Darkroom.keepAlive`, with what stops the run.
  package typealias KeepAlive = (_ now: Double, _ stop: () -> Void) -> Double?

  /// Runs a shard's manifest.
  package typealias Perform = (ShardRun, @escaping KeepAlive) throws -> Darkroom.Summary

  private let shards: ShardFolder
  private let configuration: Configuration
  private let state: String?
  private let timeout: Double
  private let began = Clock.monotonicSeconds

  /// How long to wait before what others do is looked at again, in seconds: longer each time, so that the end of a short shard is seen
  /// at once, and a file server is not asked too often about long ones.
  private static let shortestPause = 0.1
  private static let longestPause = 5.0

  /// How often it is looked whether all shards were cancelled, in seconds.
  private static let cancelCheckInterval = 1.0

  /// - Parameters:
  ///   - configuration: As in `ShardRun`, and so is `state`.
  ///   - timeout: After how many seconds without a renewal a claim is given up.
  package init(_ shards: ShardFolder, _ configuration: Configuration, state: String?, timeout: Double) {
    (self.shards, self.configuration, self.state, self.timeout) = (shards, configuration, state, timeout)
  }

  /// - Parameters:
  ///   - number: The only shard to do. Default: nil, all, the largest first.
  ///   - perform: Runs a shard's manifest.
  ///   - wait: Waits for a number of seconds, and returns whether to go on.
  ///   - note: Called with progress messages.
  /// - Throws: `StopError`, `SystemError` and the errors of `perform`.
  package func work(
    on number: Int?, perform: Perform, wait: (Double) -> Bool, note: (String) -> Void
  ) throws -> Outcome {
    var work = Work(isForOne: number != nil)
    try SharedOutbox(configuration.outbox).check(shards)
    var open = number.map { [$0] } ?? shards.plan.largestFirst
    open.removeAll { shard in
      guard let head = try? shards.report(of: shard) else { return false }
      work.outcome.add(head)
      removeState(ofComplete: shard)
      return true
    }
    if !open.isEmpty { try SharedOutbox(configuration.outbox).add(shards) }
    var pause = Self.shortestPause
    while !open.isEmpty {
      var round = Round()
      for shard in open {
        guard !shards.isCancelled, wait(0), !isOutOfTime, try examine(shard, &work, &round, perform, note) else {
          work.outcome.isStopped = true
          return work.outcome
        }
      }
      open = round.left
      pause = round.hasRun ? Self.shortestPause : min(Self.longestPause, 1.5 * pause)
      if !open.isEmpty, !round.hasRun, !wait(pause) {
        work.outcome.isStopped = true
        return work.outcome
      }
    }
    return work.outcome
  }

  /// What is known of the shards.
  private struct Work {
    /// Whether one shard is to be done, and a person waits for it.
    let isForOne: Bool
    var outcome = Outcome()

    /// The claims of others, as they were when this process first saw them, and when that was.
    var seen: [Int: (claim: ShardClaim.Held, time: Double)] = [:]
  }

  /// One look at each open shard.
  private struct Round {
    /// The shards to look at again.
    var left: [Int] = []

    /// Whether a shard was run.
    var hasRun = false

    /// The time of the file server, once it is known: it is asked for once for all shards.
    var time: Double?
  }

  /// Examines a shard, and runs it if nobody else does.
  /// - Parameter note: Called with progress messages.
  /// - Returns: Whether to go on with the others.
  private func examine(
    _ shard: Int, _ work: inout Work, _ round: inout Round, _ perform: Perform, _ note: (String) -> Void
  ) throws -> Bool {
    do {
      if let head = try shards.report(of: shard) {
        work.outcome.add(head)
        return true
      }
      switch try claim(shard, &round.time) {
      case .held(let held, let isLocked):
        if mayComeFree(shard, held, isLocked: isLocked, &work, note) { round.left.append(shard) }
      case .taken(let claim):
        defer { claim.release() }
        // The last holder may have completed it since.
        if let head = try shards.report(of: shard) {
          removeState(ofComplete: shard)
          work.outcome.add(head)
          return true
        }
        round.hasRun = true
        return try run(shard, claim, perform, &work.outcome)
      }
    } catch let error as StopError where error.isBusy {
      work.outcome.others[shard] = "another process"
    } catch let error as StopError where error.isMissing {
      work.outcome.broken[shard] = "\(error)"
    } catch let error as SystemError where [.missing, .occupied].contains(error.cause) {
      // All shards are missing when the file system is not mounted any more.
      if shards.isThere { work.outcome.broken[shard] = "\(error)" } else { work.outcome.postponed[shard] = "\(error)" }
    } catch let error as SystemError where error.mayPassSoon || error.code == ESTALE {
      work.outcome.postponed[shard] = "\(error)"
    }
    return true
  }

  /// Whether a shard that another process has claimed is to be looked at again. If not, the outcome says why.
  private func mayComeFree(
    _ shard: Int, _ held: ShardClaim.Held, isLocked: Bool, _ work: inout Work, _ note: (String) -> Void
  ) -> Bool {
    if work.isForOne, work.seen[shard] == nil {
      note("shard \(shard) is claimed by \(held.holder): waiting for a sign of life")
    }
    let first = work.seen[shard] ?? (held, Clock.monotonicSeconds)
    work.seen[shard] = first
    if first.claim != held {
      // A holder that lives renews its claim.
      work.outcome.others[shard] = held.holder
      return false
    }
    guard isLocked, Clock.monotonicSeconds - first.time >= timeout else { return true }
    work.outcome.postponed[shard] =
      "its records are locked, and \(held.holder) has given no sign of life for \(Int(timeout)) s"
    return false
  }

  /// - Parameter time: The time of the file server, once it is known: it is asked for once for all shards.
  private func claim(_ shard: Int, _ time: inout Double?) throws -> ShardClaim.Outcome {
    var known = time
    defer { time = known }
    return try ShardClaim.take(
      shards.shard(shard), timeout: timeout,
      isLocked: { () throws(SystemError) in try shards.isLocked(shard) },
      now: { () throws(SystemError) in
        if let known { return known }
        let now = try ShardClaim.serverTime(in: OpenFolder(shards.path))
        known = now
        return now
      })
  }

  /// Runs a claimed shard.
  /// - Returns: Whether to go on with the others.
  private func run(
    _ shard: Int, _ claim: ShardClaim, _ perform: Perform, _ outcome: inout Outcome
  ) throws -> Bool {
    let run = try ShardRun(shard, of: shards, remaining, state: state)
    // Removing the state of another process may have taken long.
    guard claim.renew() else {
      outcome.others[shard] = "another process"
      return true
    }
    let summary = try perform(run, keepAlive(claim, run))
    if let head = try shards.report(of: shard) {
      removeState(ofComplete: shard)
      outcome.add(head)
      return true
    }
    outcome.unfinished[shard] = summary
    return summary.states.contains(.rejected)
  }

  /// Removes the state that is left of a complete shard, unless the process that has completed it is still ending.
  private func removeState(ofComplete shard: Int) {
    if (try? shards.isLocked(shard)) == false { ShardRun.removeState(ofComplete: shard, shards, state) }
  }

  private var isOutOfTime: Bool { configuration.maxDuration.map { Clock.monotonicSeconds - began >= $0 } ?? false }

  /// The configuration with the time that is left.
  private var remaining: Configuration {
    var configuration = configuration
    configuration.maxDuration = configuration.maxDuration.map { max(0.001, $0 - (Clock.monotonicSeconds - began)) }
    return configuration
  }

  /// Renews a claim, and passes on that all shards were cancelled.
  private func keepAlive(_ claim: ShardClaim, _ run: ShardRun) -> KeepAlive {
    var renewal = Clock.monotonicSeconds + timeout / 6
    var look = 0.0
    return { [timeout] now, stop in
      if now >= look {
        run.passOnCancelling()
        look = now + Self.cancelCheckInterval
      }
      if now >= renewal {
        if !claim.renew() { stop() }
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
