import Darkroom

/// The program's exit status. The numbers from 64 to 75 are those of `sysexits.h`, 130 and 143 those of a shell.
enum ExitCode: Int32, Sendable, CaseIterable {
  /// Every entry succeeded, or there was nothing to do.
  case success = 0
  /// At least one entry failed or was cancelled.
  case entriesFailed = 1
  case usage = 64
  /// At least one manifest was rejected.
  case rejected = 65
  /// A named manifest, folder or job does not exist or cannot be read.
  case missing = 66
  case internalError = 70
  /// The outbox, or standard output, cannot be written.
  case cannotWrite = 73
  /// Another instance owns the inbox, `--lock-wait` or `--max-duration` ran out, a manifest was being written all the time, or
  /// the disk was full at the start.
  case tryAgain = 75
  case interrupted = 130
  case terminated = 143

  /// The meaning, for the help.
  var summary: String {
    switch self {
    case .success: "every entry succeeded, or there was nothing to do"
    case .entriesFailed: "at least one entry failed or was cancelled"
    case .usage: "the command line cannot be understood"
    case .rejected: "at least one manifest was rejected"
    case .missing: "a named manifest, folder or job does not exist or cannot be read"
    case .internalError: "internal error"
    case .cannotWrite: "the outbox, or standard output, cannot be written"
    case .tryAgain: "try again later: another instance runs, --lock-wait or --max-duration ran out, or the disk is full"
    case .interrupted: "stopped by SIGINT (run)"
    case .terminated: "stopped by SIGTERM (run)"
    }
  }
}

extension ExitCode {
  /// The code of a run.
  init(_ summary: Darkroom.Summary) {
    if summary.isUnfinished {
      self = summary.hadTrouble ? .cannotWrite : .tryAgain
    } else {
      let code = ExitCode(summary.states, hadTrouble: summary.hadTrouble)
      self = summary.isMissing && [.success, .entriesFailed].contains(code) ? .missing : code
    }
  }

  /// The code of jobs that ended in these states.
  init(_ states: Set<JobOutcome.State>, hadTrouble: Bool = false) {
    if states.contains(.rejected) {
      self = .rejected
    } else if hadTrouble {
      self = .cannotWrite
    } else {
      self = states.allSatisfy { $0 == .succeeded } ? .success : .entriesFailed
    }
  }
}
