import Foundation
import Operations
import System

/// The state of the process: its signals, its limits, and how it ends.
package enum ProgramProcess {
  /// Runs the program to its end.
  /// - Parameter words: The arguments without the program's name.
  package static func run(_ words: [String], environment: [String: String]) -> Never {
    occupyStandardDescriptors()
    if words.first == DecodingWorker.command { DecodingWorker.run(Array(words.dropFirst())) }
    // A reader of standard output that goes away must not end the program in the middle of a job.
    signal(SIGPIPE, SIG_IGN)
    // A supervisor may have left it ignored: then the kernel would not keep the exit status of workers.
    signal(SIGCHLD, SIG_DFL)
    // Nor must a limit on the size of files: the write fails with EFBIG instead.
    signal(SIGXFSZ, SIG_IGN)
    DescriptorLimit.raise()
    Allocator.giveBackMemory()
    if takesSignals(words) {
      // These commands process entries, and small ones take a tenth less of the processors.
      SchedulingPolicy.preferThroughput()
      // Scripts that rotate logs send them to any daemon.
      for number in [SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
      // From here on, signals go to the command.
      Signals.block()
    }
    do {
      exit(try Program.run(words, environment: environment).rawValue)
    } catch {
      endBySIGPIPE()
    }
  }

  /// Opens those of standard input, output and error that are closed. Otherwise a file of the program gets the number, such as
  /// the ledger, and the log is written into it. They are open the wrong way round, so that using them fails with EBADF as before.
  private static func occupyStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  private static func takesSignals(_ words: [String]) -> Bool {
    guard let name = (try? Arguments(words))?.command else { return false }
    return (try? CommandTable.command(named: name))?.takesSignals ?? false
  }

  /// Ends by SIGPIPE without a message, as other programs do when their reader has gone away.
  private static func endBySIGPIPE() -> Never {
    signal(SIGPIPE, SIG_DFL)
    raise(SIGPIPE)
    exit(ExitCode.cannotWrite.rawValue)
  }
}
