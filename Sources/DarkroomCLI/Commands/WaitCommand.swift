import Darkroom

/// Waits until a job has ended.
struct WaitCommand: Command {
  let name = "wait"
  let operands = "JOB"
  let summary = "wait until the job has ended; end as run would"

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard let job = invocation.operands.first, invocation.operands.count == 1 else {
      throw UsageError("wait needs the name of one job")
    }
    let ended = try JobWait(configuration: invocation.settings.resolved()).wait(for: job)
    print(ended.report)
    return ExitCode([ended.state])
  }
}
