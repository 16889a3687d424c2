import Foundation
import Ledger
import Model
import Sandbox
import System
import Transfer

/// Processes a notice, on the thread of its `NoticeQueue`.
protocol NoticeSender: Sendable {
  /// - Parameters:
  ///   - wait: Calls its argument, which waits with `Mailbox.wait(by:)`; returns whether to go on.
  ///   - observe: Receives events of the try.
  func send(
    _ notice: LedgerNotice, wait: (_ watch: (_ descriptor: Int32) -> Bool) -> Bool, observe: (Event) -> Void
  ) -> NoticeOutcome
}

/// Posts the body of a notice to the receiver of `--notify`.
struct NotificationSender: NoticeSender {
  let webhook: Webhook
  let configuration: TransferConfiguration

  func send(
    _ notice: LedgerNotice, wait: (_ watch: (_ descriptor: Int32) -> Bool) -> Bool, observe: (Event) -> Void
  ) -> NoticeOutcome {
    let body = notice.body ?? "{}"
    let signature = webhook.signature(of: body).map { ["Darkroom-Signature: " + $0] } ?? []
    let request = WebhookRequest(
      body, fields: ["Darkroom-Event: job-ended", "Darkroom-Id: " + notice.runID] + signature, to: webhook,
      configuration: configuration)
    switch request.send(wait: wait) {
    case .status(200..<300, _): return .done
    case .status(410, _): return .rejected("\(webhook.origin) answers with status 410, which ends all tries")
    case .status(let status, let asked):
      let redirect = (300..<400).contains(status) ? ", and redirects are not followed" : ""
      return .failed("\(webhook.origin) answers with status \(status)\(redirect)", retryAfter: asked)
    case .noAnswer(let why): return .failed("\(webhook.origin): \(why)")
    case .cancelled: return .stopped
    }
  }
}

/// Runs the program of `--exec`. A failure is a warning: the program is not run again.
struct ProgramSender: NoticeSender {
  let program: String

  /// In seconds.
  let limit: Double

  /// Kills the programs that run now; what they run for stays for the next start.
  static func killAll() { ProgramRun.killAll() }

  /// The variables that the program does not get.
  private static let secrets = ["DARKROOM_NOTIFY_SECRET"]

  /// The path of the run's report: a later run of the job moves it to the history, which may happen before the program is run.
  private static func report(of notice: LedgerNotice) -> String {
    let moved = "\(Folder.parent(of: notice.report))/history/\(notice.runID)/\(Folder.name(of: notice.report))"
    return (try? FileStatus.exists(moved)) == true ? moved : notice.report
  }

  func send(
    _ notice: LedgerNotice, wait: (_ watch: (_ descriptor: Int32) -> Bool) -> Bool, observe: (Event) -> Void
  ) -> NoticeOutcome {
    var environment = ProcessInfo.processInfo.environment
    for name in Self.secrets { environment[name] = nil }
    environment["DARKROOM_JOB_NAME"] = notice.job
    environment["DARKROOM_JOB_STATE"] = notice.state
    environment["DARKROOM_JOB_RUN_ID"] = notice.runID
    environment["DARKROOM_JOB_REPORT"] = Self.report(of: notice)
    var last = ""
    let result = Result { () throws(SystemError) in
      try ProgramRun(program, environment: environment, limit: limit).run(
        print: { line in
          if !line.isEmpty { last = line }
          observe(.programOutput(job: notice.job, line: line))
        }, wait: wait)
    }
    let failure: String
    switch result {
    case .success(.ended(.exited(0))): return .done
    case .success(.stopped): return .stopped
    case .success(.ended(let ending)): failure = ending.description
    case .success(.timedOut): failure = "was killed: it may take \(limit.formatted()) s"
    case .failure(let error): failure = "cannot be started: \(error)"
    }
    let said = last.isEmpty ? "" : "; it says: \(last)"
    observe(.warning("the program of --exec, \(program), \(failure)\(said)", job: notice.job))
    return .done
  }
}
