import Darkroom
import Database
import Foundation
import Imaging
import Ledger
import Model
import System

/// The program from the command line to the exit code, except for the state of the process, see `ProgramProcess`.
enum Program {
  /// Runs the command that the words name. Relative paths begin at the current folder.
  /// - Parameters:
  ///   - output: The descriptor of standard output.
  ///   - errors: The descriptor of standard error.
  /// - Throws: `StandardOutput.Failure` when the reader of standard output has gone away, which ends the command.
  static func run(
    _ words: [String], environment: [String: String], output: Int32 = STDOUT_FILENO, errors: Int32 = STDERR_FILENO
  ) throws(StandardOutput.Failure) -> ExitCode {
    let output = StandardOutput(descriptor: output)
    let errors = Terminal(descriptor: errors, environment: environment)
    var format: LogFormat?
    do {
      let code = try execute(words, environment: environment, output: output, errors: errors, format: &format)
      try output.flush()
      return output.failure == nil ? code : .first(of: [code, .cannotWrite])
    } catch let error as StandardOutput.Failure where error.isReaderGone {
      throw error
    } catch {
      // Output before the error is written, too.
      try? output.flush()
      let known = format ?? LogFormat.requested(by: words, environment) ?? .text
      Console(verbosity: .normal, output: output, errors: errors, format: known)
        .fail((error as? SystemError)?.explained ?? "\(error)", hint: hint(error, words))
      return output.failure == nil ? exitCode(error) : .first(of: [exitCode(error), .cannotWrite])
    }
  }

  private static func execute(
    _ words: [String], environment: [String: String], output: StandardOutput, errors: Terminal,
    format: inout LogFormat?
  ) throws -> ExitCode {
    if words.first == Completion.command {
      let arguments = Array(words.dropFirst())
      for line in Completion.lines(arguments, commands: CommandTable.groups, environment: environment) {
        try output.print(line)
      }
      return .success
    }
    let arguments = try Arguments(words)
    if arguments.wantsVersion {
      try output.print("darkroom \(Darkroom.version)")
      try output.print("reads " + ImageFormat.allCases.filter(\.isBuilt).map(\.rawValue).joined(separator: ", "))
      return .success
    }
    guard let name = arguments.command else {
      guard arguments.wantsHelp else { throw UsageError("a command is needed, such as \"run\" or \"watch\"") }
      try output.print(HelpText.program(CommandTable.groups))
      return .success
    }
    let command = try CommandTable.command(named: name)
    if arguments.wantsHelp {
      try output.print(HelpText.command(command))
      return .success
    }
    if let given = arguments.detachedValue, command.takesManifests,
      !FileManager.default.fileExists(atPath: given.value)
    {
      throw UsageError(
        "there is no manifest \"\(given.value)\"; the value of --\(given.name) follows =: --\(given.name)=\(given.value)"
      )
    }
    let settings =
      try command is HelpCommand
      ? Settings(commandLine: arguments)
      : Settings(arguments, environment: environment, isOnlyLooking: command.isOnlyLooking)
    let logFormat = LogFormat.isUsed(by: name, arguments.operands) ? settings.logFormat : .text
    format = logFormat
    let console = Console(
      verbosity: settings.verbosity, isJSON: settings.isJSON, output: output, errors: errors, format: logFormat)
    // Later output, including an error message, comes after it.
    defer { console.screen.end() }
    if let obstacle = settings.configObstacle { console.warn("warning: \(obstacle)") }
    return try command.run(
      Invocation(
        commands: CommandTable.groups, operands: arguments.operands, settings: settings, console: console,
        output: output,
        reloadSettings: { try Settings(arguments, environment: environment) }))
  }

  private static func hint(_ error: any Error, _ words: [String]) -> String? {
    guard error is UsageError else { return nil }
    let command = Arguments.operands(in: words).first.flatMap { try? CommandTable.command(named: $0) }
    // The help of "help" does not list the commands.
    let topic = command.flatMap { $0 is HelpCommand ? nil : " " + $0.name }
    return "see \"darkroom help\(topic ?? "")\""
  }

  static func exitCode(_ error: any Error) -> ExitCode {
    switch error {
    case is UsageError: .usage
    case StopError.busy, StopError.taken, StopError.pausedTooLong, StopError.unsettled, StopError.held:
      .tryAgain
    case StopError.missing: .missing
    case let error where error.isOutOfSpace: .tryAgain
    case StopError.outbox, StopError.machine, StopError.limit: .cannotWrite
    case is StandardOutput.Failure, is SystemError, is SQLiteError, is LedgerError:
      .cannotWrite
    default: .internalError
    }
  }
}
