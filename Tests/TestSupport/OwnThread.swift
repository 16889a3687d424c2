import CSpawn
import Foundation

/// A thread for one call, which may have a current folder of its own.
package enum OwnThread {
  private final class Outcome<Value>: @unchecked Sendable {  // read after the thread has signalled
    var result: Result<Value, any Error>?
  }

  /// Whether a thread may have a current folder of its own: containers may forbid it.
  package static let mayHaveFolder = (try? run(in: "/") {}) != nil

  /// Runs `body` on a thread in which a broken pipe is an error, and no signal.
  /// - Parameter folder: Its current folder; that of the process by default.
  /// - Throws: What `body` throws; `POSIXError`.
  package static func run<Value>(
    in folder: String? = nil, _ body: @escaping @Sendable () throws -> Value
  ) throws -> Value {
    let (outcome, done) = (Outcome<Value>(), DispatchSemaphore(value: 0))
    let thread = Thread {
      outcome.result = Result {
        blockSIGPIPE()
        if let folder {
          guard unshare(Int32(CSPAWN_CLONE_FS)) == 0, chdir(folder) == 0 else { throw error() }
        }
        // What it is on may be unmounted before the thread is gone.
        defer { if folder != nil { chdir("/") } }
        return try body()
      }
      done.signal()
    }
    // As the main thread has.
    thread.stackSize = 8 << 20
    thread.start()
    done.wait()
    guard let result = outcome.result else { throw POSIXError(.EIO) }
    return try result.get()
  }

  private static func blockSIGPIPE() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  fileprivate static func error() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

/// A file without a name, in memory.
package final class MemoryFile: Sendable {
  package let descriptor: Int32

  package init() throws {
    descriptor = memfd_create("test", UInt32(CSPAWN_MFD_CLOEXEC))
    guard descriptor >= 0 else { throw OwnThread.error() }
  }

  /// All that was written.
  package func text() throws -> String {
    var bytes = [UInt8](repeating: 0, count: max(0, Int(lseek(descriptor, 0, SEEK_END))))
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { throw OwnThread.error() }
    return String(decoding: bytes, as: UTF8.self)
  }

  deinit { close(descriptor) }
}
