import Darkroom
import Foundation
import Ledger

/// The program from the command line to the exit code.
enum Program {
  /// Runs the command that the words name.
  static func run(_ words: [String], environment: [String: String]) -> ExitCode {
    // A reader of our output that goes away is no reason to die in the middle of a job.
    signal(SIGPIPE, SIG_IGN)
    // Nor is a limit on the size of files: the write fails, and is told.
    signal(SIGXFSZ, SIG_IGN)
    DescriptorLimit.raise()
    Allocator.giveBackMemory()
    let console = Console(verbosity: .normal)
    do {
      return try carryOut(words, environment: environment)
    } catch {
      console.fail(describe(error))
      return exitCode(error)
    }
  }

  private static func carryOut(_ words: [String], environment: [String: String]) throws -> ExitCode {
    let arguments = try Arguments(words)
    if arguments.wantsVersion {
      print("darkroom \(Darkroom.version)")
      return .success
    }
    guard let name = arguments.command else {
      guard arguments.wantsHelp else { throw UsageError("a command is needed; \"darkroom help\" lists them") }
      print(HelpText.program)
      return .success
    }
    guard let command = CommandTable.all.first(where: { $0.name == name }) else { throw UnknownCommand.error(name) }
    if arguments.wantsHelp {
      print(HelpText.command(command))
      return .success
    }
    let settings = try Settings(arguments, environment: environment)
    let console = Console(verbosity: settings.verbosity, isJSON: settings.isJSON)
    return try command.run(
      Invocation(
        operands: arguments.operands, settings: settings, console: console,
        readAgain: { try Settings(arguments, environment: environment) }))
  }

  private static func describe(_ error: any Error) -> String {
    error is UsageError ? "\(error); see \"darkroom help\"" : "\(error)"
  }

  private static func exitCode(_ error: any Error) -> ExitCode {
    switch error {
    case is UsageError: .usage
    case StopError.busy, StopError.taken, StopError.pausedTooLong, StopError.unsettled: .tryAgain
    case StopError.missing: .missing
    case StopError.outbox, is SystemError, is SQLiteError, is LedgerError: .cannotWrite
    default: .internalError
    }
  }
}
