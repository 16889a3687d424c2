import Darkroom

struct RetryCommand: Command {
  let name = "retry"
  let operands = "JOB"
  let summary = "drop the job's manifest again: what succeeded is kept, the rest is tried again"
  let details = """
    Copies the manifest from the job's folder in the outbox. To correct it, copy outbox/JOB/manifest.EXT to JOB.EXT, edit that,
    and add it (darkroom add JOB.EXT). Fields that entries leave out get the values of the options of the new run: with other --filters every picture is made again.
    Entries that failed only because another did (dependency-failed), and cancelled ones, are tried,
    too. The new report lists every entry; the earlier one moves to history/. Prints the name of the job on standard output,
    and on standard error whether a running instance processes it or the next.
    """
  let examples = [
    "darkroom retry cats",
    #"darkroom wait "$(darkroom retry cats)""#,
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let jobs = try invocation.jobNames()
    guard let job = jobs.first, jobs.count == 1 else { throw UsageError("retry needs the name of one job") }
    let settings = invocation.settings
    let inbox = try settings.resolvedInbox(for: .dropping)
    // Creates nothing, and leaves the state to its service: the manifest is in the outbox, or there is none.
    let dropped = try ManifestDrop(inbox: inbox).retry(job, outbox: try settings.resolvedOutbox(for: .reading))
    invocation.console.result(dropped)
    let reader = try invocation.inboxReader()
    switch reader {
    case .instance:
      invocation.console.note(
        "the running instance processes it if it is a \"darkroom watch\", else the next start does")
    case .nextStart:
      invocation.console.note("no instance is running; the next \"darkroom run\" or \"darkroom watch\" processes it")
    case .nobody: _ = invocation.warn(of: reader)
    case .unknown: break
    }
    return .success
  }
}
