import Foundation
import TestSupport

/// A file system (FUSE) with one file, `disk`, that fails as the test says. It is served by `Tests/Chaos/recording_disk.py`.
final class SlowDisk: Sendable {
  enum Answer: String {
    /// The file is not opened until `answer` is called. Until then no process that opens it can end.
    case nothing
    /// Opening the file fails with EIO the first time.
    case errorFirst
  }

  /// The folder of the file.
  let path: String
  private let server: PythonServer

  static var isPossible: Bool { geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0 }

  init(file contents: String, in folders: DarkroomFolders, answering answer: Answer) throws {
    try folders.folder.makeFolder("disk")
    path = folders.folder.file("disk")
    server = try PythonServer(
      PythonServer.prelude + """
        import errno
        sys.path.insert(0, sys.argv[1])
        import recording_disk

        class Disk(recording_disk.RecordingDisk):
            opened = 0

            def answer(self, call, node, body):
                if call == recording_disk.OPEN:
                    self.opened += 1
                    if sys.argv[4] == "nothing":
                        answers.wait()
                    elif self.opened == 1:
                        return errno.EIO
                return super().answer(call, node, body)

        answers = threading.Event()

        def answer(connection, path):
            answers.set()
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")

        disk = Disk(sys.argv[2], sys.argv[3].encode(), "/dev/null")
        threading.Thread(target=disk.serve, daemon=True).start()
        serve()
        """, [packageRoot + "/Tests/Chaos", path, contents, answer.rawValue])
  }

  /// Opens the file from now on.
  func answer() throws { try LoopbackSocket.request("/", port: server.port) }

  func unmount() { umount2(path, Int32(MNT_DETACH)) }
}
