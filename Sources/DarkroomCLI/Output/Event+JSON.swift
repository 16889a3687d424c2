import Darkroom
import Foundation
import JobIndex
import JSON
import Model
import Operations

extension Event {
  /// The event as `--json` prints it, on one line; see `Documentation/events.schema.json`.
  var json: JSONValue {
    let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    let head = [JSONValue.Member("event", .string(name)), JSONValue.Member("time", .string(time))]
    guard case .object(let members) = details else { return .object(head) }
    return .object(head + members)
  }

  /// Its name.
  var name: String {
    switch self {
    case .watching: "watching"
    case .fileIgnored: "file-ignored"
    case .inboxUnreadable: "inbox-unreadable"
    case .jobAccepted: "job-accepted"
    case .manifestDoubtful: "manifest-doubtful"
    case .jobFetching: "job-fetching"
    case .jobStarted: "job-started"
    case .entryRetry: "entry-retry"
    case .entryDeferred: "entry-deferred"
    case .host(_, let event): event.name
    case .entryEnded, .entryCancelled: "entry-ended"
    case .jobReplaced: "job-replaced"
    case .jobCancelled: "job-cancelled"
    case .jobEnded: "job-ended"
    case .paused, .pausedByLocks: "paused"
    case .causeGone(_, let remaining), .locksGone(_, _, let remaining):
      remaining.isEmpty ? "resumed" : "pause-cause-gone"
    case .configured: "configured"
    case .stopping: "stopping"
    case .jobLeft: "job-left"
    case .workerLost: "worker-lost"
    case .notification: "notification"
    case .programOutput: "program-output"
    case .awaitingNotices: "notices-awaited"
    case .warning: "warning"
    }
  }

  private var details: JSONValue {
    switch self {
    case .watching(let inbox, let outbox, _): .object(["inbox": .string(inbox), "outbox": .string(outbox)])
    case .fileIgnored(let name, let why): .object(["file": .string(name), "why": .string(why)])
    case .inboxUnreadable(let message), .awaitingNotices(let message): .object(["message": .string(message)])
    case .warning(let message, let job, _):
      .object(["job": job.map(JSONValue.string), "message": .string(message)])
    case .jobAccepted(let job, let file): .object(["job": .string(job), "file": .string(file)])
    case .manifestDoubtful(let job, let warnings, _):
      .object(["job": .string(job), "warnings": .array(warnings.map(\.json))])
    case .jobFetching(let job, let url): .object(["job": .string(job), "url": .string(url)])
    case .jobStarted(let job, let total, let ended, let deferred):
      .object([
        "job": .string(job), "total": .integer(total), "ended": .integer(ended),
        "deferred": deferred > 0 ? .integer(deferred) : nil,
      ])
    case .entryRetry(let job, let name, let attempts, let seconds, let mirror, let error):
      .object([
        "job": .string(job), "name": .string(name), "attempts": .integer(attempts), "delay_s": .number(seconds),
        "mirror": mirror.map { .string($0) }, "error": error.json,
      ])
    case .entryDeferred(let job, let name, let attempts, let seconds, _, let error, let deferred):
      .object([
        "job": .string(job), "name": .string(name), "attempts": .integer(attempts), "delay_s": .number(seconds),
        "error": error.json, "deferred": .integer(deferred),
      ])
    case .host(let host, let event): .object([.init("host", .string(host))] + event.members)
    case .entryEnded(let job, let row, _), .entryCancelled(let job, let row):
      .object(["job": .string(job), "entry": row.json])
    case .jobReplaced(let job): .object(["job": .string(job)])
    case .jobCancelled(let job, let isRemoved):
      .object(["job": .string(job), "why": .string(isRemoved ? "removed" : "requested")])
    case .jobEnded(let summary): summary.json
    case .paused(let cause), .causeGone(let cause, _):
      .object([
        "cause": .string(cause.kind), "lock": cause.lock.isEmpty ? nil : .string(cause.lock),
        "reason": cause.reason.map { .string($0) },
      ])
    case .pausedByLocks(let count, _), .locksGone(let count, _, _):
      .object(["cause": .string(PauseCause.lockKind), "locks": .integer(count)])
    case .workerLost(let job, let name, let why, let workers):
      .object([
        "job": job.map { .string($0) }, "name": name.map { .string($0) }, "why": .string(why),
        "workers": .object([
          "running": .integer(workers.running), "started": .integer(workers.started), "lost": .integer(workers.lost),
        ]),
      ])
    case .stopping(let isOutOfTime): .object(["why": isOutOfTime ? .string("max-duration") : nil])
    case .jobLeft(let job, let ended, let total):
      .object(["job": .string(job), "ended": .integer(ended), "total": total.map { .integer($0) }])
    case .notification(let job, let result): .object([.init("job", .string(job))] + result.members)
    case .programOutput(let job, let line): .object(["job": .string(job), "message": .string(line)])
    case .configured: .object([])
    }
  }
}

extension JobSummary {
  fileprivate var json: JSONValue {
    .object([
      "job": .string(job), "state": .string(state.rawValue), "counts": counts.json, "since_last": sinceLast?.json,
      "pruned": pruned > 0 ? .integer(pruned) : nil,
      "bounded_by": Bottleneck.json(bottlenecks), "transfers": transfers.json, "duration_s": .number(seconds),
      "report": .string(report), "errors": problems.isEmpty ? nil : .array(problems.map { .string($0) }),
    ])
  }
}

extension HostEvent {
  fileprivate var name: String {
    switch self {
    case .held, .closed: "host-held"
    case .opened: "host-opened"
    case .givenUp: "host-given-up"
    }
  }

  /// Its members, after the host's name.
  fileprivate var members: [JSONValue.Member] {
    switch self {
    case .held(let seconds, let why): [.init("delay_s", .number(seconds)), .init("why", .string(why))]
    case .closed(let why), .givenUp(let why): [.init("why", .string(why))]
    case .opened: []
    }
  }
}

extension NotificationResult {
  fileprivate var members: [JSONValue.Member] {
    let result = JSONValue.Member("result", .string(name))
    return switch self {
    case .delivered: [result]
    case .failed(let why, let attempts, let seconds):
      [
        result, .init("why", .string(why)), .init("attempts", .integer(attempts)), .init("delay_s", .number(seconds)),
      ]
    case .givenUp(let why): [result, .init("why", .string(why))]
    }
  }
}
