import System
import Darkroom
import Foundation

/// Processes what is in the inbox, then exits: the form for cron.
struct RunCommand: Command {
  let name = "run"
  let operands = "[MANIFEST…]"
  let summary = "process what is in the inbox now, or the manifests named, then exit"
  let details = """
    Manifests that are named are copied first and left where they are, unless they lie in the inbox; - reads JSON lines
    from standard input. The path of each report is printed on standard output.
    """
  let examples = [
    "darkroom run",
    #"darkroom run cats.json --filters "grayscale() contrast(1.2)""#,
    "darkroom run --quiet --lock-wait 60   # in a crontab",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let input = try invocation.operands.contains("-") ? StandardInputManifest() : nil
    let isQuiet = invocation.settings.verbosity == .quiet
    let manifests = invocation.operands.map { $0 == "-" ? input?.path ?? $0 : $0 }
    let configuration = try invocation.settings.resolved()
    StopSignals.block()
    let darkroom: Darkroom
    do {
      darkroom = try Darkroom(configuration: configuration, observe: invocation.console.handle)
    } catch StopError.busy(configuration.inbox, _) where isQuiet && manifests.isEmpty {
      // The other process does the work: cron need not mail anything.
      return .tryAgain
    }
    let signals = StopSignals(line: invocation.console.progressLine, stop: darkroom.stop)
    let summary = try withExtendedLifetime(input) {
      try darkroom.run(manifests: manifests, called: input.map { [$0.path: StandardInputManifest.name] } ?? [:])
    }
    if let signal = signals.first { return signal == SIGINT ? .interrupted : .terminated }
    return ExitCode(summary)
  }
}

/// A manifest of JSON lines from standard input, in a temporary file without a name, which goes with the process, whatever
/// ends it. Its job is called `stdin`.
private final class StandardInputManifest {
  static let name = "stdin.jsonl"

  private let file: OpenFile

  /// Under which this process opens the file.
  var path: String { "/proc/self/fd/\(file.descriptor)" }

  /// Reads standard input to its end.
  /// - Throws: `SystemError`, also when `/proc` is not mounted.
  init() throws {
    let folder = try OpenFolder(FileManager.default.temporaryDirectory.path)
    if let nameless = try? folder.createNameless() {
      file = nameless
    } else {
      let name = "darkroom-input-\(UUID().uuidString)"
      file = try folder.create(file: name, mode: 0o600)
      try folder.remove(name)
    }
    try OpenFile.standardInput().eachChunk { try file.write($0) }
  }
}
