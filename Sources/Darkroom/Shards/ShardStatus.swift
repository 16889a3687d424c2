import Foundation
import JSON
import Model
import System

/// What has become of the shards of a job: which are complete, who does which, and how long the rest will take.
package struct ShardStatus: Sendable {
  package enum State: String, Sendable {
    /// All its entries have ended.
    case complete
    /// A process does it.
    case running
    /// It was begun, and nobody goes on with it now.
    case interrupted
    /// Nobody has begun it.
    case open
  }

  package struct Shard: Sendable {
    package let number: Int
    package let state: State

    /// Its results, and how many have ended.
    package let rows: Int
    package let ended: Int

    /// The claim of the process that does it; nil for one that nobody does.
    package var holder: String?

    /// How long ago it was renewed, in seconds.
    package var age: Double?

    /// Results per second.
    package var rate: Double?
  }

  package let job: String
  package let shards: [Shard]
  package let isCancelled: Bool

  /// - Parameter timeout: After how many seconds without a renewal a claim does not count.
  /// - Throws: `SystemError`.
  package init(of folder: ShardFolder, timeout: Double) throws {
    job = folder.job
    isCancelled = folder.isCancelled
    let now = try? ShardClaim.serverTime(in: OpenFolder(folder.path))
    shards = try folder.plan.shards.indices.map { number in
      let rows = folder.plan.shards[number].rows
      if try folder.report(of: number) != nil {
        return Shard(number: number, state: .complete, rows: rows, ended: rows)
      }
      let log = try folder.records(of: number).job(folder.job).status(of: "entries.jsonl")
      let ended = try log.map { _ in try Self.lines(in: folder.records(of: number).job(folder.job)) } ?? 0
      // A user who may only read the folder cannot ask for the server's time.
      let claim = try? ShardClaim.current(folder.shard(number))
      let age = claim.map { (now ?? Clock.wallSeconds) - $0.renewed }
      guard let claim, let age, age < max(timeout, claim.timeout) else {
        return Shard(number: number, state: log == nil ? .open : .interrupted, rows: rows, ended: min(ended, rows))
      }
      return Shard(
        number: number, state: .running, rows: rows, ended: min(ended, rows), holder: claim.holder, age: max(0, age),
        rate: Self.rate(of: folder, number))
    }
  }

  /// The rows of results that have ended; those of a run that was cancelled are done again.
  private static func lines(in job: JobFolder) throws -> Int {
    var count = 0
    try ReportRow.eachLine(of: job.open(file: "entries.jsonl")) { if !ReportRow.isCancelled($0) { count += 1 } }
    return count
  }

  /// The rate that the process that does a shard has written into its status.
  private static func rate(of folder: ShardFolder, _ number: Int) -> Double? {
    guard
      let data = try? OpenFile(reading: folder.records(of: number).hidden + "/" + OutboxFolder.statusName).readAll(),
      let status = try? JSONDecoder().decode(Status.self, from: data)
    else { return nil }
    return status.jobs.first { $0.job.isIdentical(to: folder.job) }?.rate
  }

  package func count(_ state: State) -> Int { shards.count { $0.state == state } }

  package var rows: Int { shards.reduce(0) { $0 + $1.rows } }
  package var ended: Int { shards.reduce(0) { $0 + $1.ended } }

  /// Results per second of all processes; nil when none is known.
  package var rate: Double? {
    let rates = shards.compactMap(\.rate)
    return rates.isEmpty ? nil : rates.reduce(0, +)
  }

  /// The time that the rest takes at this rate, in seconds; nil when it is not known.
  package var secondsLeft: Double? {
    rate.flatMap { $0 > 0 ? (Double(rows - ended) / $0).rounded(.up) : nil }
  }

  package var json: JSONValue {
    .object([
      "job": .string(job), "cancelled": isCancelled ? .bool(true) : nil, "rows": .integer(rows),
      "ended": .integer(ended),
      "rate": rate.map { .number(($0 * 10).rounded() / 10) }, "seconds_left": secondsLeft.map { .number($0) },
      "shards": .array(
        shards.map { shard in
          .object([
            "shard": .integer(shard.number), "state": .string(shard.state.rawValue), "rows": .integer(shard.rows),
            "ended": .integer(shard.ended), "holder": shard.holder.map { .string($0) },
            "renewed_s": shard.age.map { .number(($0 * 10).rounded() / 10) },
            "rate": shard.rate.map { .number(($0 * 10).rounded() / 10) },
          ])
        }),
    ])
  }
}
