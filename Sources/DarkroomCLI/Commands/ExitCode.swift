import Darkroom
import Model

/// The program's exit status. The numbers from 64 to 75 are those of `sysexits.h`, 130 and 143 those of a shell. `summary` says
/// when each is returned; `tryAgain` also stands for a manifest that was being written all the time.
enum ExitCode: Int32, Sendable, CaseIterable {
  case success = 0
  case entriesFailed = 1
  case usage = 64
  case rejected = 65
  case missing = 66
  case internalError = 70
  case cannotWrite = 73
  case tryAgain = 75
  case interrupted = 130
  case terminated = 143

  var summary: String {
    switch self {
    case .success: "every entry succeeded, or there was nothing to do"
    case .entriesFailed: "at least one entry failed or was cancelled, or a job has none (--fail-empty)"
    case .usage: "the command line cannot be understood"
    case .rejected: "at least one manifest was rejected"
    case .missing: "a named manifest, folder or job does not exist or cannot be read"
    case .internalError: "internal error"
    case .cannotWrite: "the outbox, the ledger or standard output cannot be written, or the outbox was replaced"
    case .tryAgain:
      "try again later: another instance runs, --lock-wait, --outage-wait, --max-duration or the --timeout of wait ran "
        + "out, a job waits for an option, or the disk was full at the start"
    case .interrupted: "stopped by SIGINT (run)"
    case .terminated: "stopped by SIGTERM (run)"
    }
  }

  /// The precedence of several codes: unfinished work comes before jobs that ended.
  private static let order: [ExitCode] = [
    .interrupted, .terminated, .usage, .internalError, .cannotWrite, .tryAgain, .missing, .rejected, .entriesFailed,
    .success,
  ]

  /// Returns the code with the highest precedence; success when there is none.
  static func first(of codes: Set<ExitCode>) -> ExitCode { order.first(where: codes.contains) ?? .success }

  init(_ summary: Darkroom.Summary) {
    var codes = Self.codes(of: summary.states)
    if summary.hadTrouble { codes.insert(.cannotWrite) }
    if summary.isUnfinished { codes.insert(.tryAgain) }
    if summary.isMissing { codes.insert(.missing) }
    self = .first(of: codes)
  }

  /// The code of jobs that ended in these states.
  init(_ states: Set<JobOutcome.State>) { self = .first(of: Self.codes(of: states)) }

  private static func codes(of states: Set<JobOutcome.State>) -> Set<ExitCode> {
    Set(
      states.map { state in
        switch state {
        case .succeeded: .success
        case .rejected: .rejected
        default: .entriesFailed
        }
      })
  }
}
