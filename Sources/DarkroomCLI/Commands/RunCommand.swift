import Darkroom
import Foundation

/// Processes what is there, then exits: the form for cron.
struct RunCommand: Command {
  let name = "run"
  let operands = "[MANIFEST…]"
  let summary = "process what is in the inbox now, or the manifests named, then exit"
  let details = """
    Manifests that are named are copied first and left where they are, unless they
    lie in the inbox. The path of each report is printed on standard output.
    """

  func run(_ invocation: Invocation) throws -> ExitCode {
    for operand in invocation.operands where operand == "-" {
      throw UsageError("run -: reading from standard input is not available in this version")
    }
    let darkroom = try Darkroom(configuration: invocation.settings.resolved(), observe: invocation.console.tell)
    let signals = StopSignals(stop: darkroom.stop)
    let summary = try darkroom.run(manifests: invocation.operands)
    if let signal = signals.first { return signal == SIGINT ? .interrupted : .terminated }
    return ExitCode(summary)
  }
}

extension ExitCode {
  /// What a run's jobs came to.
  init(_ summary: Darkroom.Summary) {
    let states = summary.jobs.map(\.state)
    if states.contains(.rejected) {
      self = .rejected
    } else if summary.hadTrouble {
      self = .cannotWrite
    } else {
      self = states.allSatisfy { $0 == .succeeded } ? .success : .entriesFailed
    }
  }
}
