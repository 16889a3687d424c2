import Darkroom
import JSON
import System

struct DoctorCommand: Command {
  let name = "doctor"
  let operands = ""
  let summary = "check folders, file systems, libraries, isolation, addresses and the clock"
  let details = """
    Takes the options and the configuration of run and watch, tries in their folders what the program needs there, starts a
    worker, and looks up the hosts that rules name. Prints a line for each check, and for what does not work as it should a
    remedy. Changes nothing and leaves nothing behind; an instance may run meanwhile. Call it as the user that runs darkroom.
    Exits with 1 if something has failed, with 0 if there are only warnings. With --json, prints an object for each check:
    "level" (ok, warning or failed), "subject", "message" and, if something can be done, "remedy".
    """
  let examples = [
    "darkroom doctor",
    "darkroom doctor --config darkroom.json",
    "darkroom doctor --json | jq -r 'select(.level != \"ok\") | .message'",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard invocation.operands.isEmpty else {
      throw UsageError("doctor takes no operands, such as \"\(invocation.operands[0])\"")
    }
    let (settings, output) = (invocation.settings, invocation.output)
    var worst = Finding.Level.ok
    var failure: (any Error)?
    func report(_ finding: Finding) {
      worst = max(worst, finding.level)
      do {
        for line in settings.isJSON ? [finding.json.text] : finding.lines { try output.print(line) }
        try output.flush()
      } catch {
        failure = failure ?? error
      }
    }
    if let path = settings.configPath { report(Finding("config", "\(path) is valid")) }
    do {
      Doctor(configuration: try settings.resolved(needsFileRoot: false)).examine(report)
    } catch {
      report(Finding(.failed, "options", "\(error)", remedy: "nothing else was checked: correct this first"))
    }
    if let failure { throw failure }
    return worst == .failed ? .entriesFailed : .success
  }
}

extension Finding {
  fileprivate var json: JSONValue {
    .object([
      "level": .string(level.rawValue), "subject": .string(subject), "message": .string(message),
      "remedy": remedy.map { .string($0) },
    ])
  }

  /// The level, the subject and the message; below it the remedy.
  fileprivate var lines: [String] {
    let head = level.rawValue.padding(to: 9) + subject.padding(to: 13)
    return ["\(head)\(message.visible)"] + (remedy.map { ["".padding(to: 22) + "→ " + $0.visible] } ?? [])
  }
}
