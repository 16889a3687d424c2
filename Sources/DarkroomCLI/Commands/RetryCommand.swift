import Darkroom

/// Has a job done again.
struct RetryCommand: Command {
  let name = "retry"
  let operands = "JOB"
  let summary = "drop the job's manifest again: what succeeded is kept, the rest is tried again"
  let details = """
    The manifest is taken from the job's folder in the outbox. What an entry gets for
    the fields that it leaves out is what the options say when the job is done again.
    The report of that run lists every entry; the earlier one moves to history/. The
    name of the job is printed on standard output.
    """
  let examples = [
    "darkroom retry cats",
    #"darkroom wait "$(darkroom retry cats)""#,
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard let job = invocation.operands.first, invocation.operands.count == 1 else {
      throw UsageError("retry needs the name of one job")
    }
    guard !job.isEmpty, !job.hasPrefix("."), !job.contains("/"), !job.contains("\0") else {
      throw UsageError("\"\(job)\" is no name of a job")
    }
    let configuration = try invocation.settings.resolved(isReading: true)
    try ManifestDrop(inbox: configuration.inbox).retry(job, outbox: configuration.outbox)
    invocation.console.result(job)
    return .success
  }
}
