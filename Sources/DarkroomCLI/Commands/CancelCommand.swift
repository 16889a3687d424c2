import Darkroom

struct CancelCommand: Command {
  let name = "cancel"
  let operands = "JOB…|--all"
  let summary = "cancel the rest of the jobs; finished results stay"
  let details = """
    Does the same as removing their manifests from the inbox, but keeps the manifests, in the jobs' folders. Works for every
    job that has not ended, also while it is planned or paused, and for one that was named on the command line of run or came
    from standard input. The report says cancelled. Without an instance, the next one cancels the jobs. Exits with 66 for a
    job that is not open; --all needs no open job.
    """
  let examples = [
    "darkroom cancel cats",
    "darkroom cancel --all",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let (jobs, isAll) = (try invocation.jobNames(), invocation.settings.allJobs)
    guard isAll || !jobs.isEmpty else { throw UsageError("cancel needs the name of a job, or --all") }
    guard !isAll || jobs.isEmpty else { throw UsageError("cancel takes the names of jobs or --all, not both") }
    let cancel = JobCancel(configuration: try invocation.settings.resolved(for: .reading))
    let asked = try isAll ? cancel.cancelAll() : cancel.cancel(jobs)
    if asked.jobs.isEmpty {
      invocation.console.note("there is nothing to cancel")
    } else if !asked.isRunning {
      invocation.console.note("no instance is running; the next one cancels " + asked.jobs.joined(separator: ", "))
    } else {
      invocation.console.note("cancelling " + asked.jobs.joined(separator: ", "))
    }
    return try !asked.jobs.isEmpty && invocation.warn(of: invocation.inboxReader()) ? .tryAgain : .success
  }
}
