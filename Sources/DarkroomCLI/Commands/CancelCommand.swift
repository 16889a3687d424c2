import Darkroom

/// Has jobs cancelled.
struct CancelCommand: Command {
  let name = "cancel"
  let operands = "JOB…"
  let summary = "cancel what has not been done of the jobs; what is done stays done"
  let details = """
    The same as removing their manifests from the inbox, but the manifests are kept, in the jobs' folders; and it works
    for every job that has not ended, also while it is planned or paused, and for one that was named on the command line
    of run or came from standard input. The report says cancelled. Without an instance the next one does it. A job that
    is not open is 66.
    """
  let examples = [
    "darkroom cancel cats"
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let jobs = invocation.operands
    guard !jobs.isEmpty else { throw UsageError("cancel needs the name of a job") }
    if let wrong = jobs.first(where: { $0.isEmpty || $0.hasPrefix(".") || $0.contains("/") || $0.contains("\0") }) {
      throw UsageError("\"\(wrong)\" is not the name of a job")
    }
    let cancel = JobCancel(configuration: try invocation.settings.resolved(for: .reading))
    if try !cancel.cancel(jobs) {
      invocation.console.note("no instance is running; the next one cancels " + jobs.joined(separator: ", "))
    }
    return .success
  }
}
