import Darkroom

/// Waits until a job has ended.
struct WaitCommand: Command {
  let name = "wait"
  let operands = "JOB"
  let summary = "wait until the job has ended; end as run would"
  let details = "Prints the path of the job's report."
  let examples = [#"darkroom wait "$(darkroom add cats.json)""#]

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard let job = invocation.operands.first, invocation.operands.count == 1 else {
      throw UsageError("wait needs the name of one job")
    }
    let ended = try JobWait(configuration: invocation.settings.resolved(isReading: true)).wait(for: job)
    try invocation.output.print(ended.report)
    return ExitCode([ended.state])
  }
}
