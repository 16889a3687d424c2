import Foundation
import System
import TestSupport
import Testing

/// Forms that send files: from the manifest to the server and to the report.
@Suite(.blocking) struct FormFileTests {
  private let server: DeskServer
  private let folders: DarkroomFolders
  private var root: String { folders.folder.file("root") }

  init() throws {
    server = try DeskServer()
    folders = try DarkroomFolders()
    try folders.folder.makeFolder("root/sub")
    try folders.folder.write("käse", as: "root/sub/a.csv")
    try folders.folder.write("secret", as: "outside.txt")
    symlink("../outside.txt", root + "/outward.txt")
  }

  private func run(_ more: [String] = []) throws -> DarkroomProcess.Finished {
    try folders.run(["--downloads", "1", "--file-root", root] + more)
  }

  private func entry(_ path: String, file: String = "sub/a.csv", more: String = "") -> String {
    #"{\#(more) "url": "\#(server.url(path))", "form": {"f": {"file": "\#(file)"}}}"#
  }

  @Test(arguments: [
    ("job.jsonl", #"{"url": "URL", "form": {"t": "x", "f": {"file": "sub/a.csv"}}}"# + "\n"),
    ("job.csv", #"url,form\#nURL,"{""t"": ""x"", ""f"": {""file"": ""file://ROOT/sub/a.csv""}}""# + "\n"),
  ])
  func `a file beneath the file root is sent as a part of a form`(name: String, manifest: String) throws {
    try folders.drop(name, manifest.replacing("URL", with: server.url("a")).replacing("ROOT", with: root))
    try run().expect(status: 0)
    let body = try server.nextRequest().body
    #expect(body.contains("name=\"t\"\r\n\r\nx\r\n"))
    #expect(body.contains("name=\"f\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\nkäse\r\n"), "\(body)")
  }

  @Test func `a file that may not be read fails its entry before anything is sent, and check tells so`() throws {
    let files = [
      ("outward.txt", "address-not-allowed"), ("../outside.txt", "address-not-allowed"),
      ("missing.txt", "file-not-found"), ("sub", "file-not-found"),
    ]
    try folders.drop("job.json", "[" + files.map { entry("x", file: $0.0) }.joined(separator: ",") + "]")
    let options = ["--file-root", root, "--allow-net", "127.0.0.0/8"]
    let check = try DarkroomCommand.run(["check", folders.inbox + "/job.json"] + options).output
    for (_, code) in files { #expect(check.contains("would fail: \(code): "), "\(check)") }
    #expect(try run(["--retries", "3"]).status == 1)
    let report = try folders.validReport("job")
    #expect(report.entries.map(\.error?.code) == files.map(\.1))
    #expect(zip(report.entries, files).allSatisfy { $0.error?.message.contains($1.0) == true && $0.attempts == 1 })
    #expect((report.transfers?.requests ?? 0) == 0)
  }

  @Test func `a list that a server has sent may not have files sent, not even by the defaults beside it`() throws {
    let served = try TemporaryFolder()
    let nginx = try Nginx(serving: served.path)
    try served.write("[\(entry("x"))]", as: "own.json")
    try served.write(#"[{"url": "\#(server.url("x"))"}]"#, as: "plain.json")
    try folders.drop("own.json", #"{"source": "\#(nginx.url("own.json"))"}"#)
    let defaults = #"{"form": {"f": {"file": "sub/a.csv"}}}"#
    try folders.drop("plain.json", #"{"source": "\#(nginx.url("plain.json"))", "defaults": \#(defaults)}"#)
    #expect(try run().status == 1)
    for job in ["own", "plain"] {
      let row = try #require(try folders.report(job).entries.first)
      #expect(row.error?.code == "scheme-not-allowed" && row.error?.message.contains("sub/a.csv") == true, "\(row)")
    }
  }

  @Test func `what failed can be dropped again with the same file`() throws {
    try folders.drop("job.json", #"{"a": \#(entry("a?404"))}"#)
    #expect(try run().status == 1)
    #expect(try !String(decoding: folders.contents("job/report.json"), as: UTF8.self).contains("a.csv"))
    try folders.drop("again.jsonl", folders.contents("job/job.failed.jsonl"))
    try run().expect(status: 0)
    let bodies = try (0..<2).map { _ in
      let request = try server.nextRequest()
      return request.body.replacing(request.headers["content-type"]?.split(separator: "boundary=").last ?? "", with: "")
    }
    #expect(bodies[0] == bodies[1] && bodies[0].contains("käse"))
  }

  @Test(arguments: [false, true])
  func `after a kill a run uses the answer to a form, unless the form's file has changed`(isChanged: Bool) throws {
    let gate = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let gated = #"{"url": "\#(gate.url("x"))"}"#
    try folders.drop(
      "job.json",
      """
      {"a": \(entry("x", more: #""priority": "high","#)), "b": \(gated), "c": \(entry("x", more: #""priority": "low","#))}
      """)
    let first = try folders.start("run", ["--downloads", "1", "--verbose", "--file-root", root])
    #expect(try first.waitForLine(containing: "a: filtered") != nil)
    _ = try gate.nextRequest()
    try first.kill()
    #expect(try server.nextRequest().body.contains("käse"))
    if isChanged { try folders.folder.write("more", as: "root/sub/a.csv") }
    try gate.release(10)
    try run().expect(status: 0)
    try folders.drop("end.txt", server.url("end"))
    try run().expect(status: 0)
    let next = try server.nextRequest()
    #expect(isChanged ? next.body.contains("more") : next.path == "/end", "\(next)")
  }

  @Test(.disabled(if: !SlowDisk.isPossible, "only root may mount a FUSE file system"), arguments: [false, true])
  func `a disk that does not answer holds up no other entry, and its own neither beyond the timeout nor a cancellation`(
    isCancelled: Bool
  ) throws {
    let disk = try SlowDisk(file: "picture", in: folders, answering: .nothing)
    defer { disk.unmount() }
    try folders.drop("job.json", #"{"a": \#(entry("a", file: "disk")), "b": "\#(server.url("b"))"}"#)
    let options = ["--file-root", disk.path, "--timeout", isCancelled ? "600" : "2"]
    let watch = try folders.start("watch", ["--verbose"] + options)
    #expect(try watch.waitForLine(containing: "b: filtered") != nil)
    if isCancelled { try folders.ask("cancel", ["job"]).expect(status: 0) }
    #expect(try watch.waitForLine(containing: isCancelled ? "job: cancelled:" : "job: partial:") != nil)
    try disk.answer()
    try watch.stop()
    let row = try folders.validReport("job").entries[0]
    #expect(row.state == (isCancelled ? "cancelled" : "failed") && row.error?.code == (isCancelled ? nil : "io"))
  }

  @Test(.disabled(if: !SlowDisk.isPossible, "only root may mount a FUSE file system"))
  func `a request is made again when the file of its form could not be opened for a moment`() throws {
    let disk = try SlowDisk(file: "käse", in: folders, answering: .errorFirst)
    defer { disk.unmount() }
    try folders.drop("job.json", #"{"a": \#(entry("a", file: "disk"))}"#)
    // Without --retries, which repeats requests that were sent as well.
    let options = ["--file-root", disk.path, "--settle", "0", "--allow-net", "127.0.0.0/8"]
    try DarkroomProcess.run(["run"] + folders.named + options).expect(status: 0)
    #expect(try folders.validReport("job").entries[0].attempts == 2)
    #expect(try server.nextRequest().body.contains("käse"))
  }

  @Test func `a form sends no file of the inbox, the outbox and the state folder`() throws {
    let state = folders.folder.file("state")
    try folders.folder.makeFolder("state")
    try folders.folder.write("secret", as: "state/a.csv")
    try folders.drop("README.txt", "secret")
    try folders.folder.write("secret", as: "outbox/a.csv")
    let files = ["inbox/README.txt", "outbox/a.csv", "state/a.csv"]
    try folders.drop("job.json", "[" + files.map { entry("x", file: $0) }.joined(separator: ",") + "]")
    let options = ["--file-root", folders.folder.path, "--state", state]
    let check = try folders.ask("check", [folders.inbox + "/job.json"] + options).output
    #expect(check.ranges(of: "would fail: address-not-allowed: ").count == files.count, "\(check)")
    #expect(try folders.run(options).status == 1)
    let rows = try folders.validReport("job").entries
    #expect(rows.map(\.error?.code) == files.map { _ in "address-not-allowed" }, "\(rows)")
    #expect(zip(rows, [folders.inbox, folders.outbox, state]).allSatisfy { $0.error?.message.contains($1) == true })
  }

  @Test(.disabled(if: Sanitizer.isAny, "a sanitizer needs memory of its own"))
  func `a large file takes no more memory than a small one`() throws {
    let server = try PythonServer(
      PythonServer.prelude + """
        import hashlib
        picture = open(sys.argv[1], "rb").read()

        def handle(connection):
            stream = connection.makefile("rb")
            size = next(int(line[15:]) for line in iter(stream.readline, b"\\r\\n") if line.lower().startswith(b"content-length:"))
            while stream.readline() != b"\\r\\n": pass
            body = stream.read(size)
            start = body.index(b"\\r\\n\\r\\n") + 4
            say(hashlib.sha256(body[start:body.rindex(b"\\r\\n--")]).hexdigest())
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(picture) + picture)
            connection.close()

        serve()
        """, [packageRoot + "/Samples/coffee.jpg"])
    var large = Data()
    for number in 0..<1024 { large += Data("\(number)".utf8) + Data(repeating: UInt8(number & 0xff), count: 1 << 16) }
    try large.write(to: URL(fileURLWithPath: root + "/large"))
    let watch = try folders.watch(["--file-root", root])
    defer { watch.send(SIGTERM) }
    var peaks: [Int] = []
    for (job, file) in [("small", "sub/a.csv"), ("large", "large")] {
      try folders.drop("\(job).json", #"[{"url": "\#(server.url())", "form": {"f": {"file": "\#(file)"}}}]"#)
      #expect(try watch.waitForLine(containing: "\(job): succeeded") != nil)
      let status = try String(contentsOfFile: "/proc/\(watch.processID)/status", encoding: .utf8)
      let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      peaks.append(try #require(peak.flatMap { Int($0.filter(\.isNumber)) }))
      let sent = try FileHandle(forReadingFrom: URL(fileURLWithPath: root + "/" + file))
      #expect(try server.nextLine() == MessageDigest.hexDigest(ofDescriptor: sent.fileDescriptor))
    }
    #expect(peaks[1] - peaks[0] < 16 << 10, "\(peaks)")
    try watch.stop()
  }
}
