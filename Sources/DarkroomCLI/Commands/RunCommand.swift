import Darkroom
import Foundation
import Model
import System

struct RunCommand: Command {
  let name = "run"
  let operands = "[MANIFEST…]"
  let summary = "process what is in the inbox now, or the manifests named, then exit"
  let details = """
    Manifests named on the command line are copied first and left where they are, unless they lie in the inbox; - reads one
    from standard input: JSON lines, or the format that its beginning shows. Its job is called stdin unless --name says
    otherwise. If another instance has the inbox, exits with 75 and prints the add command that leaves the manifests in the
    inbox: a running watch processes them, else the next start. Standard input must then be piped into it again. Prints the path of each report on standard output. The state
    of a report is succeeded, partial (some entries failed), failed (none succeeded), cancelled, rejected (the manifest has
    errors, or its source could not be read: source-failed) or, in history/, superseded (the manifest was replaced
    meanwhile). An entry that comes after one that failed fails with dependency-failed.
    """
  let examples = [
    "darkroom run",
    #"darkroom run cats.json --filters "grayscale() contrast(1.2)""#,
    "darkroom run --quiet --lock-wait 60   # in a crontab",
  ]

  let takesSignals = true

  func run(_ invocation: Invocation) throws -> ExitCode {
    let job = try invocation.settings.checkedJobName()
    if let job, !invocation.operands.contains("-") {
      let file = invocation.operands.count == 1 ? invocation.operands.first : nil
      let hint = file.map { "darkroom run --name \(job.shellQuoted) - < \($0.shellQuoted)" }
      throw UsageError("--name is for -, standard input; " + (hint ?? "other jobs are called after their manifests"))
    }
    // The writer may take any time, or never end.
    let input = try Signals.endingAtOnce { try invocation.standardInput() }
    let isQuiet = invocation.settings.verbosity == .quiet
    let manifests = invocation.operands.map { $0 == "-" ? input?.path ?? $0 : $0 }
    let names = input.map { [$0.path: (job ?? StandardInputManifest.job) + "." + $0.suffix] } ?? [:]
    let signals = try Signals(screen: invocation.console.screen)
    invocation.console.beginSummary()
    let retry = LocalRetry(limit: LocalRetry.usualLimit, wait: signals.wait) { text in
      invocation.console.handle(.warning(text))
    }
    var inbox: String?
    do {
      let configuration = try retry.run { try invocation.settings.resolved() }
      inbox = configuration.inbox
      let summary = try withExtendedLifetime(input) {
        try Darkroom.repairingLedger(
          configuration: configuration, retry: retry, observe: invocation.console.handle
        ) { darkroom in
          darkroom.statusInterval = invocation.console.statusInterval
          darkroom.publish = invocation.console.show
          signals.handle(by: .init(stop: darkroom.stop, leave: darkroom.leave, grace: darkroom.grace))
          return try darkroom.run(manifests: manifests, called: names)
        }
      }
      invocation.console.screen.clear()
      invocation.console.printSummary(folders: invocation.settings.folderOptions)
      if let code = signals.exitCode { return code }
      if manifests.isEmpty, StandardInputManifest.isWaiting {
        invocation.console.warn("warning: standard input was not read; to read a list from it: darkroom run -")
      }
      if summary.isIdle {
        let ignored = summary.ignored.of("file is ignored", "files are ignored") + ", see \"darkroom status\""
        invocation.console.note("nothing to do in \(configuration.inbox)" + (summary.ignored > 0 ? "; \(ignored)" : ""))
      }
      return ExitCode(summary)
    } catch let error as StopError where error.isBusy(inbox) && isQuiet && manifests.isEmpty {
      // The other process does the work: no reason for cron to send mail.
      return .tryAgain
    } catch let error as StopError where error.isBusy && !manifests.isEmpty {
      // What does not exist will not exist when the other process has ended.
      try withExtendedLifetime(input) {
        try Darkroom.check(manifests: manifests, called: names, inbox: inbox ?? "") {
          invocation.console.handle(.warning($0.description))
        }
      }
      invocation.console.fail(
        "\(error)", hint: busyHint(invocation, job: job, inbox: inbox, ownsInbox: error.isBusy(inbox)))
      return .tryAgain
    } catch StopError.pausedTooLong(_, _, isKnown: true) where isQuiet {
      // The last process has said so.
      return .tryAgain
    } catch is CancellationError {
      return signals.exitCode ?? .terminated
    }
  }

  /// The commands that leave the given manifests in the inbox while another instance runs, and that standard input was not
  /// accepted: what has been read of it is gone. nil when there is nothing to say.
  /// - Parameters:
  ///   - inbox: The inbox's path.
  ///   - ownsInbox: Whether that instance has it, and not only the outbox.
  private func busyHint(_ invocation: Invocation, job: String?, inbox: String?, ownsInbox: Bool) -> String? {
    let reader = ownsInbox ? "for a running \"watch\" or the next start" : "for the next start"
    let add = ["darkroom", "add"] + invocation.settings.folderOptions
    func command(_ words: [String]) -> String { (add + words).map(\.shellQuoted).joined(separator: " ") }
    var lines: [String] = []
    if invocation.operands.contains("-") {
      let words = (job.map { ["--name", $0] } ?? []) + ["-"]
      lines.append("standard input was NOT accepted; \(reader), pipe it again into: \(command(words))")
    }
    let files = invocation.operands.filter { $0 != "-" }
    func isDropped(_ file: String) -> Bool {
      inbox.map { (try? Folder.resolved(Folder.parent(of: file)))?.isIdentical(to: $0) } == true
    }
    let others = files.filter { !isDropped($0) }
    // A URL may have a password.
    if !others.isEmpty, !others.contains(where: { $0.contains("://") }) {
      lines.append("not accepted; \(reader): \(command(others))")
    }
    lines += files.filter(isDropped).map { "\($0) is in the inbox already, \(reader)" }
    return lines.isEmpty ? nil : lines.joined(separator: "\n")
  }
}

extension Signals {
  /// The exit code after a signal; nil without one.
  var exitCode: ExitCode? { first.map { $0 == SIGINT ? .interrupted : .terminated } }
}
