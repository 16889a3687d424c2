import Darkroom
import Foundation

struct WaitCommand: Command {
  let name = "wait"
  let operands = "JOB…"
  let summary = "wait until the jobs have ended; exit as run would"
  let details = """
    Prints the path of the report of each job's last manifest. Waits for all open runs of a job, including those whose
    manifests are still in the inbox. A manifest that was dropped last and already rejected, while an earlier one's job went
    on, counts, too. Exits with the worst exit code. Without an instance, says so and waits for one. Exits with 75 after
    --timeout.
    """
  let examples = [
    #"darkroom wait "$(darkroom add cats.json)""#,
    #"darkroom wait --timeout 60 "$(darkroom add cats.json)""#,
  ]

  let isOnlyLooking = true

  func run(_ invocation: Invocation) throws -> ExitCode {
    let jobs = try invocation.jobNames()
    guard !jobs.isEmpty else { throw UsageError("wait needs the name of a job") }
    let wait = JobWait(configuration: try invocation.settings.resolved(for: .reading))
    let seconds = invocation.settings.waitTimeout
    let screen = invocation.console.screen
    let isWanted = invocation.settings.verbosity != .quiet
    let display = LiveDisplay(StatusProgress(), on: screen, isWanted: isWanted)
    if display.isEnabled { try Signals.clear(screen) }
    let (ended, open) = try wait.wait(for: jobs, seconds: seconds) { unknown in
      let why = unknown.map { "which jobs have not ended is unknown: \($0)" }
      invocation.console.warn(
        "no instance is running; " + (why ?? "waiting for one: \"darkroom run\" or \"darkroom watch\" starts it"))
    } observe: { status, open in
      display.update { $0.update(status, open: open) }
    }
    screen.end()
    for job in ended {
      try invocation.output.print(job.report)
      for run in job.earlier { invocation.console.note("\(job.job): \(run.state.rawValue): see \(run.report)") }
    }
    guard open.isEmpty else {
      let names = open.joined(separator: ", ")
      invocation.console.warn("not ended after \((seconds ?? 0).formatted()) s, the limit of --timeout: \(names)")
      return .tryAgain
    }
    return ExitCode(ended.reduce(into: []) { $0.formUnion($1.states) })
  }
}
