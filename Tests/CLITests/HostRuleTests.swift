import Foundation
import TestSupport
import Testing

/// Rules for hosts, from the configuration file to the server and back to the report.
@Suite(.blocking) struct HostRuleTests {
  private let folders: DarkroomFolders
  private let secret = "s3cr3t-\(UInt64.random(in: 0 ... .max))"

  init() throws { folders = try DarkroomFolders() }

  private var config: String { folders.folder.file("config.json") }

  private func configure(_ hosts: String) throws {
    try Data(#"{"hosts": \#(hosts)}"#.utf8).write(to: URL(fileURLWithPath: config))
  }

  private func write(_ text: String, to name: String) throws {
    let path = folders.folder.file(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  /// The files beneath inbox and outbox that hold a text.
  private func files(holding text: String) throws -> [String] {
    try [folders.inbox, folders.outbox].flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: folder).map { folder + "/" + $0 }
    }.filter { path in
      guard let data = FileManager.default.contents(atPath: path) else { return false }
      return data.firstRange(of: Data(text.utf8)) != nil
    }
  }

  @Test func `header fields of a rule reach its host and no other, and nothing that is written holds them`() throws {
    let server = try DeskServer()
    try write("X-Token: \(secret)\nAuthorization: Bearer ${TOKEN}\n", to: "headers")
    try configure(#"{"127.0.0.1": {"headers-file": "headers", "netrc": false}}"#)
    try folders.drop(
      "job.txt", [server.url("a?500"), server.url("b?404"), server.url("c", host: "localhost")].joined(separator: "\n"))
    let run = try DarkroomProcess(
      ["run"] + folders.options + ["--config", config, "--verbose", "--retries", "1"],
      environment: ["TOKEN": secret + "-2"])
    let requests = try (0..<4).map { _ in try server.nextRequest() }
    let finished = try run.finish().expect(status: 1)
    for request in requests {
      let isRuled = request.path != "/c"
      #expect(request.headers["x-token"] == (isRuled ? secret : nil), "\(request.path)")
      #expect(request.headers["authorization"] == (isRuled ? "Bearer \(secret)-2" : nil), "\(request.path)")
    }
    #expect(!(finished.output + finished.error).contains(secret))
    #expect(try files(holding: secret) == [])
    #expect(try files(holding: server.url("b")).isEmpty == false, "the search finds what there is")
  }

  @Test func `netrc gives the password of its machine, and nothing that is written holds it`() throws {
    let server = try DeskServer()
    try write("machine 127.0.0.1 login me password \(secret)\n", to: "secrets")
    try configure(#"{"*": {"netrc": "secrets"}}"#)
    try folders.drop("job.txt", server.url("a") + "\n" + server.url("b", host: "localhost") + "\n")
    let run = try folders.start("run", ["--config", config, "--verbose"])
    let requests = try (0..<2).map { _ in try server.nextRequest() }
    let finished = try run.finish().expect(status: 0)
    let expected = "Basic " + Data("me:\(secret)".utf8).base64EncodedString()
    #expect(requests.first { $0.path == "/a" }?.headers["authorization"] == expected)
    #expect(requests.first { $0.path == "/b" }?.headers["authorization"] == nil)
    #expect(try files(holding: secret) == [])
    #expect(!(finished.output + finished.error).contains(secret))
  }

  @Test func `check tells the rule of each URL without reading its files`() throws {
    try configure(#"{"*.example": {"headers-file": "missing"}, "a.example:81": {"connect-timeout": 3}}"#)
    let manifest = #"[{"url": ["http://b.example/1.png", "http://a.example:81/1.png"]}, "http://example/2.png"]"#
    try write(manifest, to: "job.json")
    let options = ["--config", config, folders.folder.file("job.json")]
    let text = try DarkroomProcess.run(["check"] + options).expect(status: 0)
    #expect(text.output.contains("http://b.example/1.png  (rule *.example)\n"), "\(text.output)")
    #expect(text.output.contains("http://a.example:81/1.png  (rule a.example:81)\n"))
    #expect(text.output.hasSuffix("http://example/2.png\n"))
    let json = try DarkroomProcess.run(["check", "--json"] + options).output.split(separator: "\n")
    try #require(json.count == 3)
    #expect(json[1].contains(#""rule":"*.example","mirrors":["#) && json[1].contains(#""rule":"a.example:81"}"#))
    #expect(!json[2].contains("rule"))
  }

  @Test func `status tells the rules of hosts in use, as SIGHUP changes them`() throws {
    func expectStatus(_ line: String) throws {
      var text = ""
      for _ in 0..<400 where !text.contains(line) {
        text = try DarkroomProcess.run(["status"] + folders.named).output
      }
      #expect(text.contains("\n" + line + "\n"), "\(text)")
      let json = try DarkroomProcess.run(["status", "--json"] + folders.named).output
      #expect(try JSONSchema.violations(of: Data(json.utf8), name: "status.schema.json") == "")
    }
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try configure(#"{"127.0.0.1": {"per-host": 1}}"#)
    let watch = try folders.watch(["--filters", "none", "--config", config, "--verbose"])
    try folders.drop("job.txt", (0..<5).map { server.url("\($0)") + "\n" }.joined())
    #expect(try server.nextRequest() == "/0")
    let host = server.url("").dropLast()
    try expectStatus("\(host) has the rule 127.0.0.1")
    try server.note("one")
    #expect(try server.nextRequest() == "/one", "no second request has come meanwhile")

    try configure(#"{"*": {"per-host": 3}, "127.0.0.1:1": {"connect-timeout": 1}}"#)
    watch.send(SIGHUP)
    #expect(try watch.waitForLine(containing: "reloaded") != nil)
    #expect(try Set((0..<2).map { _ in try server.nextRequest() }) == ["/1", "/2"])
    try expectStatus("\(host) has the rule *")

    try configure(#"{"*": {"headers-file": "missing"}}"#)
    watch.send(SIGHUP)
    let message = #"stays as it was: \#(config): "hosts": "*": "headers-file" cannot be read"#
    #expect(try watch.waitForLine(containing: message) != nil)
    try server.release(5)
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    try watch.stop()
  }

  @Test func `a host that answers 429 above its rate never does with a rule, also beside a slow host`() throws {
    let server = try PythonServer(
      PythonServer.prelude + """
        body = open(sys.argv[1], "rb").read()
        times = []
        lock = threading.Lock()

        def answer(connection, path):
            # The other host occupies places, so that entries wait for them.
            if path.startswith("/slow"):
                time.sleep(0.3)
            else:
                with lock:
                    now = time.monotonic()
                    times.append(now)
                    if len([t for t in times if t > now - 2.5]) > 5:
                        connection.sendall(b"HTTP/1.1 429 X\\r\\nConnection: close\\r\\nContent-Length: 0\\r\\n\\r\\n")
                        return
            head = "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
            connection.sendall(head.encode() + body)

        serve()
        """, [packageRoot + "/Samples/coffee.jpg"])
    try configure(#"{"127.0.0.1": {"interval": 0.6, "per-host": 3}}"#)
    let slow = server.url().replacing("127.0.0.1", with: "localhost")
    let urls = (0..<12).flatMap { [server.url("\($0)"), slow + "slow\($0)", slow + "slower\($0)"] }
    try folders.drop("job.txt", urls.joined(separator: "\n"))
    try folders.run(["--filters", "none", "--config", config, "--downloads", "4", "--per-host", "4"]).expect(status: 0)
    let hosts = try #require(try folders.report("job").transfers?.hosts)
    let host = try #require(hosts.first { $0.host.hasPrefix("http://127.0.0.1:") })
    #expect(host.requests == 12 && host.failures == nil && host.holds == nil)
  }

  @Test func `the report counts failures by code, holds, and the median time to the first byte`() throws {
    let server = try FlakyServer()
    let closed = try LoopbackSocket.closedPort
    let urls = [server.url("a?429:0"), server.url("b?404"), server.url("c"), "http://127.0.0.2:\(closed)/d"]
    try folders.drop("job.txt", urls.joined(separator: "\n"))
    try folders.run(["--filters", "none", "--per-host", "1", "--retries", "1"]).expect(status: 1)
    let report = try folders.contents("job/report.json")
    #expect(try ReportSchema.violations(of: report) == "")
    let hosts = try #require(try folders.report("job").transfers?.hosts)
    let asked = try #require(hosts.first { $0.host.hasPrefix("http://127.0.0.1:") })
    #expect(asked.failures == ["http-status": 2] && asked.holds == 1)
    #expect(try #require(asked.first_byte_median_ms) > 0)
    let closedHost = try #require(hosts.first { $0.host == "http://127.0.0.2:\(closed)" })
    #expect(closedHost.failures == ["connect": 2] && closedHost.requests == 0)
    #expect(closedHost.first_byte_median_ms == nil && hosts.count == 2)
  }
}
