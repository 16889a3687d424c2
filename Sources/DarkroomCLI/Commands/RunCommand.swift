import Darkroom
import Foundation

/// Processes what is there, then exits: the form for cron.
struct RunCommand: Command {
  let name = "run"
  let operands = "[MANIFEST…]"
  let summary = "process what is in the inbox now, or the manifests named, then exit"
  let details = """
    Manifests that are named are copied first and left where they are, unless they lie in the inbox; - reads JSON lines
    from standard input. The path of each report is printed on standard output.
    """
  let examples = [
    "darkroom run",
    #"darkroom run cats.json --filters "grayscale() contrast(1.2)""#,
    "darkroom run --quiet --lock-wait 60   # in a crontab",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let spool = try invocation.operands.contains("-") ? StandardInputManifest() : nil
    let isQuiet = invocation.settings.verbosity == .quiet
    let manifests = invocation.operands.map { $0 == "-" ? spool?.path ?? $0 : $0 }
    let configuration = try invocation.settings.resolved()
    StopSignals.hold()
    let darkroom: Darkroom
    do {
      darkroom = try Darkroom(configuration: configuration, observe: invocation.console.tell)
    } catch StopError.busy(configuration.inbox, _) where isQuiet && manifests.isEmpty {
      // Another process does what there is to do: no reason for a mail from cron.
      return .tryAgain
    }
    let signals = StopSignals(line: invocation.console.line, stop: darkroom.stop)
    let summary = try withExtendedLifetime(spool) { try darkroom.run(manifests: manifests) }
    if let signal = signals.first { return signal == SIGINT ? .interrupted : .terminated }
    return ExitCode(summary)
  }
}

extension ExitCode {
  /// What a run's jobs came to.
  init(_ summary: Darkroom.Summary) {
    self.init(summary.states, hadTrouble: summary.hadTrouble)
  }

  /// What jobs in these states come to.
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
