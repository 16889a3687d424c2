import Foundation

/// A scripted server for one test, in Python with nothing but its standard library.
///
/// The script listens on a free port of 127.0.0.1 and prints the port on its first line (flushed). What comes after
/// `PythonServer.prelude` needs only to define `answer(connection, path)` and call `serve()`.
package final class PythonServer: Sendable {
  /// The port that the script printed.
  package let port: Int

  private let process: ChildProcess

  /// Runs a script and waits for its port.
  /// - Throws: `StartFailure` when it prints none.
  package init(_ script: String, _ arguments: [String] = []) throws {
    let python = try ChildProcess.executable(["/usr/bin/python3", TestPython.interpreter])
    process = try ChildProcess(python, ["-c", Self.endWithTests + script] + arguments)
    let line = try process.nextLine()
    guard let port = Int(line) else { throw StartFailure(firstLine: line) }
    self.port = port
  }

  /// A URL of the server.
  package func url(_ path: String = "", scheme: String = "http") -> String { "\(scheme)://127.0.0.1:\(port)/\(path)" }

  /// Waits for the next line that the script prints: its way to say how far it is.
  package func nextLine() throws -> String { try process.nextLine() }

  /// As `nextLine`, without a thread of Swift's concurrency: for tests in which another task has to begin before the line comes.
  package func line() async throws -> String {
    try await withCheckedThrowingContinuation { line in
      Thread.detachNewThread { [self] in line.resume(with: Result { try nextLine() }) }
    }
  }

  /// Has the script end within a second of the test run, even if that is killed.
  private static let endWithTests = """
    import os, threading, time

    def end_with(parent):
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()

    """

  /// Listens, prints the port, and gives each connection to `answer(connection, path)` in a thread of its own, after
  /// the first request's header has been read. To be followed by a definition of `answer` and by `serve()`.
  package static let prelude = """
    import os, socket, struct, sys, threading, time

    def serve():
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=handle, args=(connection,), daemon=True).start()

    def handle(connection):
        try:
            header = b""
            while b"\\r\\n\\r\\n" not in header:
                piece = connection.recv(65536)
                if not piece:
                    return
                header += piece
            answer(connection, header.split()[1].decode())
        except OSError:
            pass
        finally:
            connection.close()

    def say(line):
        os.write(1, (line + "\\n").encode())  # whole, whatever other threads say

    def stall(connection):
        connection.recv(1)  # returns when the other side has given up

    def reset(connection):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


    """

  /// The script ended, or printed something else than a port.
  package struct StartFailure: Error {
    let firstLine: String
  }
}
