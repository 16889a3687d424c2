import System
import Darkroom
import Inbox

/// A command of the program. To add one, add a file and a name in a group of `CommandTable`; the help, the manual and the
/// shells' completions follow from it.
protocol Command: Sendable {
  var name: String { get }

  /// What follows the name, e.g. `[MANIFEST…]`; empty when nothing does. Shells complete its words by what they stand for, see
  /// `WordSyntax`.
  var operands: String { get }

  /// What the command does, in a line.
  var summary: String { get }

  /// Further sentences for the help; line breaks count as spaces, blank lines separate paragraphs. Default: none.
  var details: String { get }

  /// Command lines for the help; the tests run them.
  var examples: [String] { get }

  /// Whether it handles `Signals`, which are blocked before it runs. Default: no, the system handles them.
  var takesSignals: Bool { get }

  /// Whether it only reads the folders, and needs no configuration file when they are named. Default: no.
  var isOnlyLooking: Bool { get }

  /// Runs the command.
  /// - Throws: `UsageError`, `StopError` and other errors that end the program; `Program` maps them to exit codes.
  func run(_ invocation: Invocation) throws -> ExitCode
}

extension Command {
  var details: String { "" }
  var takesSignals: Bool { false }
  var isOnlyLooking: Bool { false }

  /// Whether its operands name files of manifests.
  var takesManifests: Bool { operands.contains("MANIFEST") || operands.contains("FILE") }

  /// The command with its operands, for the help.
  var usage: String { operands.isEmpty ? name : name + " " + operands }
}

/// Commands under a heading of the help.
struct CommandGroup: Sendable {
  let heading: String
  let commands: [any Command]

  init(_ heading: String, _ commands: [any Command]) { (self.heading, self.commands) = (heading, commands) }
}

/// The arguments and streams of a command.
struct Invocation {
  let commands: [CommandGroup]

  let operands: [String]
  let settings: Settings
  let console: Console

  /// Standard output for commands that only print. They end when its reader goes away; `console.result` goes on.
  let output: StandardOutput

  /// Reads the configuration file, the environment and the command line again.
  let reloadSettings: @Sendable () throws -> Settings

  /// The manifest that the operand `-` stands for, read to its end; nil without one.
  /// - Throws: `UsageError` when there are several; `StopError.missing` when it cannot be read; `SystemError`.
  func standardInput() throws -> StandardInputManifest? {
    let count = operands.filter { $0 == "-" }.count
    guard count <= 1 else { throw UsageError("standard input is read once: - is given \(count) times") }
    return count == 1 ? try StandardInputManifest() : nil
  }

  /// The operands as names of jobs. One may have several lines, as the quoted output of `add` has for several manifests.
  /// - Throws: `UsageError` unless all can be names of jobs.
  func jobNames() throws -> [String] {
    let names = operands.flatMap { $0.has("\n") ? $0.fields("\n").filter { !$0.isEmpty } : [$0] }
    let wrong = names.first { $0.isEmpty || $0.begins(with: ".") || $0.has("/") || $0.has("\0") }
    if let wrong { throw UsageError("\"\(wrong)\" is not the name of a job") }
    return names
  }
}

extension Settings {
  /// The job's name that `--name` gives; nil without it.
  /// - Throws: `UsageError` for one that no manifest in the inbox can have.
  func checkedJobName() throws -> String? {
    guard let name = jobName else { return nil }
    let refusal: String? =
      switch name {
      case _ where name.begins(with: "."): "it begins with a dot"
      case _ where name.has("/"): "it contains a slash"
      case _ where name.has("\0"): "it contains a null character"
      case _ where name.utf8.count > InboxFile.jobNameLimit: "it is longer than \(InboxFile.jobNameLimit) bytes"
      case _ where InboxFile.isPage(job: name): "the outbox's page is called so"
      default:
        switch InboxFile(named: FileName(name + ".json")) {
        case .skipped: "files that are called so are skipped"
        case .ignored(let why): why
        default: nil
        }
      }
    guard let refusal else { return name }
    let shown = name.shortened(to: 60)
    throw UsageError("--name \"\(shown)\" is not a name for a file in the inbox: \(refusal)")
  }
}
