import Foundation
import TestSupport
import Testing

/// A process that may have few files and connections open.
@Suite(.blocking) struct DescriptorTests {
  @Test func `too few to begin with are an error that says how many are needed`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    let run = try DarkroomProcess.run(script: "ulimit -n 63; exec \(folders.line("run"))", in: folders.folder)
    let told = "at most 63 files may be open at once, and 64 are needed"
    #expect(run.expect(status: 73).error.contains(told), "\(run.error)")
    #expect(try folders.inboxNames() == ["job.txt"])
    let finding = try DarkroomProcess.run(script: "ulimit -n 63; exec \(folders.line("doctor"))", in: folders.folder)
    let failed = #/failed +descriptors +at most 63 .*: 64 are needed/#
    #expect(finding.expect(status: 1).output.contains(failed), "\(finding.output)")
  }

  @Test(arguments: [64, 80])
  func `idle connections to many hosts leave descriptors to entries, and nothing pauses`(limit: Int) throws {
    let folders = try DarkroomFolders()
    let server = try PythonServer(
      PythonServer.prelude + #"""
        body = open(sys.argv[1], "rb").read()

        def serve():
            listener = socket.socket()
            listener.bind(("0.0.0.0", 0))
            listener.listen(128)
            print(listener.getsockname()[1], flush=True)
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=handle, args=(connection,), daemon=True).start()

        def handle(connection):
            try:
                while connection.recv(65536).endswith(b"\r\n\r\n"):
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            except OSError:
                pass
            connection.close()

        serve()
        """#, [packageRoot + "/Samples/chelsea-small.png"])
    let hosts = (1...100).map { "http://127.0.0.\($0):\(server.port)/\($0)\n" }
    try folders.drop("job.txt", hosts.joined())
    let run = try DarkroomProcess.run(script: "ulimit -n \(limit); exec \(folders.line("run"))", in: folders.folder)
    #expect(run.status == 0, "\(run.error)")
    #expect(!run.error.contains("Too many open files"), "\(run.error)")
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 100, filtered: 100))
    #expect(report.pauses == nil && report.transfers?.requests == 100)
  }
}
