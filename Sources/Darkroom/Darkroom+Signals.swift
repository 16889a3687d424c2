import Model
import Synchronization

/// What other threads may do while `run` or `watchInbox` is executed, as after signals.
extension Darkroom {
  /// Stops the program. May be called on any thread. Running operations get the grace period to finish, and the rest is
  /// left for the next start.
  package var stop: @Sendable () -> Void { { [mailbox] in mailbox.post(.stop) } }

  /// Must be called, on any thread, before the process is ended abruptly: filtered entries are not blamed, and no program of
  /// `--exec` goes on beside that of the next start.
  package var leave: @Sendable () -> Void {
    { [journal = services.earlier.journal] in
      journal?.close()
      ProgramSender.killAll()
    }
  }

  /// Kills the programs of `--exec`, as `leave` does, but without the use of a disk. May be called on any thread.
  package static func killPrograms() { ProgramSender.killAll() }

  /// The current grace period in seconds. May be called on any thread.
  package var grace: @Sendable () -> Double { { [currentGrace] in currentGrace.value } }

  /// Makes the program read its configuration again. May be called on any thread. The folders stay the same; entries
  /// that have begun keep their settings; an invalid configuration changes nothing.
  package var configure: @Sendable (@escaping @Sendable () throws -> Configuration) -> Void {
    { [mailbox] read in mailbox.post(.configure(read)) }
  }
}

/// The grace period, which another configuration may change.
final class CurrentGrace: Sendable {
  private let seconds: Mutex<Double>

  init(_ seconds: Double) { self.seconds = Mutex(seconds) }

  var value: Double {
    get { seconds.withLock { $0 } }
    set { seconds.withLock { $0 = newValue } }
  }
}
