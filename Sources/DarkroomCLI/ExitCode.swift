/// What the program's exit status means (the numbers from 64 on are those of `sysexits.h`).
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
  /// Another instance owns the inbox, `--lock-wait` ran out, or the disk was full at the start.
  case tryAgain = 75
  case interrupted = 130
  case terminated = 143

  /// The code in words, for the help.
  var summary: String {
    switch self {
    case .success: "every entry succeeded, or there was nothing to do"
    case .entriesFailed: "at least one entry failed or was cancelled"
    case .usage: "the command line cannot be understood"
    case .rejected: "at least one manifest was rejected"
    case .missing: "a named manifest, folder or job does not exist or cannot be read"
    case .internalError: "internal error"
    case .cannotWrite: "the outbox, or standard output, cannot be written"
    case .tryAgain: "try again later: another instance is at work, --lock-wait ran out, or the disk is full"
    case .interrupted: "stopped by SIGINT (run)"
    case .terminated: "stopped by SIGTERM (run)"
    }
  }
}
