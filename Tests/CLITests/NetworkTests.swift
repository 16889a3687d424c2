import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct NetworkTests {
  @Test(arguments: [1, 3])
  func `while a server does not answer its entries wait, and none of them fails`(hosts: Int) throws {
    let server = try RestartedServer(answering: 20)
    let folders = try DarkroomFolders()
    let urls = (0..<60).map { server.url("\($0)", host: "127.0.0.\(1 + $0 % hosts)") }
    try folders.drop("job.txt", urls.map { $0 + "\n" }.joined())
    let run = try folders.start("run", ["--retries", "2", "--filters", "none"])
    #expect(try run.waitForLine(containing: "is failing, and its entries wait") != nil)
    try waitForClosedHost(in: folders)
    try server.start()
    #expect(try run.waitForLine(containing: "answers again") != nil)
    let finished = try run.finish()
    #expect(finished.status == 0, "\(finished.error)")
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 60, filtered: 60))
    #expect(report.pauses == nil, "nothing else is stopped")
    let data = try folders.contents("job/report.json")
    #expect(try ReportSchema.violations(of: data) == "")
    let holds = try JSONDecoder().decode(Holds.self, from: data).holds
    // Connections that wait in the queue of a socket that is closed are reset.
    let causes = ["refused", "broken"]
    #expect(
      !holds.isEmpty
        && holds.allSatisfy { $0.host.hasPrefix("http://127.0.0.") && causes.contains($0.cause) && $0.from <= $0.to },
      "\(holds)")
    // What the host answered while a request was under way counts against that.
    #expect(report.entries.allSatisfy { $0.attempts <= 2 }, "\(report.entries.map(\.attempts))")
  }

  private struct Holds: Decodable {
    struct Hold: Decodable {
      let host: String
      let cause: String
      let from: String
      let to: String
    }
    let holds: [Hold]
  }

  /// Waits until the status names a host that does not answer.
  private func waitForClosedHost(in folders: DarkroomFolders) throws {
    let deadline = ContinuousClock.now + .seconds(120)
    var output = ""
    while !output.contains(" is failing since "), ContinuousClock.now < deadline {
      output = try folders.ask("status").output
      usleep(20_000)
    }
    #expect(output.contains(": its entries wait"), "\(output)")
    let json = try folders.ask("status", ["--json"]).output
    #expect(
      try JSONSchema.violations(of: Data(json.utf8), name: "status.schema.json") == ""
        && json.contains("\"closed_hosts\""), "\(json)")
  }

  @Test func `a URL with the wrong scheme fails by itself, and its server goes on`() throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    let folders = try DarkroomFolders()
    let wrong = server.url("coffee.jpg").replacing("http:", with: "https:")
    try folders.drop(
      "job.txt", ((0..<5).map { server.url("coffee.jpg?\($0)") } + [wrong]).joined(separator: "\n"))
    try folders.run(["--retries", "1", "--filters", "none", "--outage-wait", "20"]).expect(status: 1)
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 6, filtered: 5, failed: 1))
    #expect(report.entries.first { $0.url == wrong }?.error?.code == "tls")
    let text = String(decoding: try folders.contents("job/report.json"), as: UTF8.self)
    #expect(!text.contains("\"holds\""), "\(text)")
  }

  @Test func `URLs that a host cannot serve keep none of its others from being asked`() throws {
    let server = try PythonServer(
      PythonServer.prelude + """
        body = open(sys.argv[1], "rb").read()

        def answer(connection, path):
            head = b"HTTP/1.1 502 Bad Gateway" if path.startswith("/bad") else b"HTTP/1.1 200 OK"
            content = b"" if path.startswith("/bad") else body
            connection.sendall(head + b"\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(content) + content)

        serve()
        """, [packageRoot + "/Samples/chelsea-small.png"])
    let folders = try DarkroomFolders()
    // First all those that fail, then all others: what is tried first must not be all that is tried.
    let urls = [server.url("first")] + (0..<20).map { server.url("bad/\($0)") } + (0..<20).map { server.url("\($0)") }
    try folders.drop("job.txt", urls.map { $0 + "\n" }.joined())
    let run = try folders.start("run", ["--filters", "none"])
    let rows = eventually {
      (try? folders.objects("job/entries.jsonl")) ?? []
    } is: { rows in
      rows.count { $0["state"] as? String == "filtered" } == 21 || rows.count == urls.count
    }
    #expect(rows.count { $0["state"] as? String == "filtered" } == 21, "none is given up with its host")
    try run.kill()
  }

  @Test func `run ends with 75 when no host answers for longer than it may wait, and goes on later`() throws {
    let server = try RestartedServer(answering: 5)
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", (0..<30).map { server.url("\($0)") + "\n" }.joined())
    let run = try folders.run(["--outage-wait", "1.5", "--retries", "2", "--filters", "none"])
    #expect(run.status == 75, "\(run.error)")
    #expect(run.error.contains("no host has answered for 1.5 s"), "\(run.error)")
    try server.start()
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.report("job").counts.filtered == 30)
  }

  @Test(arguments: [true, false])
  func `entries of a host that does not answer go to their mirrors, whether they were tried or not`(haveAll: Bool)
    throws
  {
    let (server, mirror) = (try RestartedServer(answering: 5), try FlakyServer())
    let folders = try DarkroomFolders()
    // Those without a mirror wait for the host, and keep none of the others waiting.
    let urls = (0..<60).map { number in
      server.url("\(number)")
        + (haveAll || number % 3 != 2 ? "\t" + mirror.url("\(number)", host: "localhost") : "")
    }
    try folders.drop("job.txt", urls.map { $0 + "\n" }.joined())
    let run = try folders.start("run", ["--filters", "none", "--verbose", "--retries", "2"])
    for _ in 0..<(haveAll ? 60 : 30) { #expect(try run.waitForLine(containing: ": filtered") != nil) }
    if !haveAll { try server.start() }
    let finished = try run.finish()
    #expect(finished.status == 0 && !finished.error.contains("given up"), "\(finished.error)")
    #expect(try folders.report("job").counts == Report.Counts(total: 60, filtered: 60))
    // It may not answer yet when the job ends. An answer that was under way when it went away may open it once more.
    let holds = try JSONDecoder().decode(Holds.self, from: folders.contents("job/report.json")).holds
    #expect(Set(holds.map(\.host)) == [String(server.url("").dropLast())])
  }

  @Test(arguments: ["http://127.0.0.2:9/", "http://10.9.9.9/"])
  func `mirrors that are of no use fail no entry of a host that comes back`(mirror: String) throws {
    let server = try RestartedServer(answering: 5)
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", (0..<40).map { server.url("\($0)") + "\t" + mirror + "\($0)\n" }.joined())
    let run = try folders.start("run", ["--filters", "none", "--verbose", "--retries", "1"])
    #expect(try run.waitForLine(containing: "is failing, and") != nil)
    try server.start()
    let finished = try run.finish()
    #expect(finished.status == 0, "\(finished.error)")
    #expect(try folders.report("job").counts == Report.Counts(total: 40, filtered: 40))
  }

  /// Sends pictures; from the request after so many on it redirects all to a page of another host, until it is asked for `/open`.
  private func portal(after pictures: Int) throws -> PythonServer {
    try PythonServer(
      """
      import http.server, sys
      body, left = open(sys.argv[1], "rb").read(), int(sys.argv[2])

      class Handler(http.server.BaseHTTPRequestHandler):
          protocol_version = "HTTP/1.1"

          def do_GET(self):
              global left
              if self.path == "/open":
                  left = 10 ** 6
                  self.close_connection = True
              is_page, is_dead = self.path.startswith("/login"), self.path.startswith("/dead")
              if not is_page and not is_dead:
                  left -= 1
              is_redirect = not is_page and (is_dead or left < 0)
              answer = b"<html>Log in</html>" if is_page else b"" if is_redirect else body
              self.send_response(302 if is_redirect else 200)
              if is_redirect:
                  self.send_header("Location", f"http://127.0.0.9:{self.server.server_port}/login?for={self.path}")
              self.send_header("Content-Type", "text/html" if is_page else "image/jpeg")
              self.send_header("Content-Length", str(len(answer)))
              self.end_headers()
              self.wfile.write(answer)

          do_POST = do_GET

          def log_message(self, *_):
              pass

      server = http.server.ThreadingHTTPServer(("", 0), Handler)
      server.daemon_threads = True
      print(server.server_port, flush=True)
      server.serve_forever()
      """, [packageRoot + "/Samples/coffee.jpg", String(pictures)])
  }

  @Test func `while a captive portal answers for hosts their entries wait, and none of them fails`() throws {
    let server = try portal(after: 20)
    let folders = try DarkroomFolders()
    try folders.drop(
      "job.txt", (0..<60).map { "http://127.0.0.\(1 + $0 % 4):\(server.port)/\($0)\n" }.joined())
    let run = try folders.start("run", ["--retries", "2", "--filters", "none"])
    #expect(
      try run.waitForLine(containing: "is failing, and its entries wait") != nil)
    try LoopbackSocket.request("/open", port: server.port)
    let finished = try run.finish()
    #expect(finished.status == 0, "\(finished.error)")
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 60, filtered: 60))
    #expect(report.entries.allSatisfy { $0.attempts <= 3 }, "\(report.entries.map(\.attempts))")
    let failures = report.transfers?.hosts.compactMap(\.failures) ?? []
    #expect(failures.contains { $0["network"] != nil }, "the portal's answers are failures")
  }

  @Test func `a run ends while a captive portal stays, with a row for each variant`() throws {
    let server = try portal(after: 100)
    let folders = try DarkroomFolders()
    let urls = (0..<12).map { "http://127.0.0.\(1 + $0 % 4):\(server.port)/\($0 < 8 ? "" : "dead")\($0)" }
    let variants = #""variants": [{"name": "a"}, {"name": "b"}, {"name": "c"}]"#
    // What is no GET is not held: it fails at once when the portal is known.
    let more = (0..<12).map { $0 < 8 ? "" : ", \(variants), \"method\": \"POST\"" }
    try folders.drop("job.jsonl", zip(urls, more).map { "{\"url\": \"\($0)\"\($1)}\n" }.joined())
    let run = try folders.run(["--per-host", "1", "--retries", "0", "--filters", "none"])
    #expect(run.status == 1, "\(run.error)")
    #expect(try folders.report("job").counts == Report.Counts(total: 20, filtered: 8, failed: 12))
  }

  @Test func `what one host redirects to a page fails with what the page is`() throws {
    let server = try portal(after: 60)
    let folders = try DarkroomFolders()
    try folders.drop(
      "job.txt", (0..<40).map { "http://127.0.0.1:\(server.port)/\($0 % 4 == 3 ? "dead" : "")\($0)\n" }.joined())
    let run = try folders.run(["--retries", "2", "--per-host", "1", "--filters", "none"])
    #expect(run.status == 1 && !run.error.contains("is failing"), "\(run.error)")
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 40, filtered: 30, failed: 10))
    #expect(Set(report.entries.compactMap { $0.error?.code }) == ["not-an-image"])
    // Those of the first two seconds are tried once more: it might be a portal.
    #expect(report.entries.allSatisfy { $0.attempts <= 2 }, "\(report.entries.map(\.attempts))")
  }

  @Test(arguments: [1, 60])
  func `while the proxy does not answer no entry fails`(hosts: Int) throws {
    let server = try RestartedServer(answering: 20)
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", (0..<60).map { "http://h\($0 % hosts).test/\($0)\n" }.joined())
    let run = try folders.start("run", ["--retries", "1", "--filters", "none", "--proxy", server.url("")])
    #expect(try run.waitForLine(containing: "entries wait: ") != nil)
    try server.start()
    let finished = try run.finish()
    #expect(finished.status == 0, "\(finished.error)")
    #expect(try folders.report("job").counts == Report.Counts(total: 60, filtered: 60))
  }

  @Test(arguments: ["http", "https"])
  func `a host that a proxy does not reach fails its entries, and nothing waits for the proxy`(scheme: String) throws {
    let proxy = try PythonServer(
      """
      import socket
      listener = socket.socket()
      listener.bind(("127.0.0.1", 0))
      listener.listen(64)
      print(listener.getsockname()[1], flush=True)
      held = []
      while True:
          held.append(listener.accept())
      """)
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "\(scheme)://a.test/1\n\(scheme)://b.test/2\n")
    let run = try folders.run([
      "--proxy", "http://127.0.0.1:\(proxy.port)", "--connect-timeout", "0.5", "--first-byte-timeout", "0.5",
      "--retries", "1", "--outage-wait", "5",
    ])
    #expect(run.status == 1, "\(run.error)")
    #expect(try folders.report("job").entries.map { $0.error?.code } == ["timeout", "timeout"])
  }

  @Test func `a signal ends a run whose hosts do not answer`() throws {
    let server = try RestartedServer(answering: 5)
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", (0..<30).map { server.url("\($0)") + "\n" }.joined())
    let run = try folders.start("run", ["--retries", "2", "--filters", "none"])
    #expect(try run.waitForLine(containing: "is failing, and its entries wait") != nil)
    run.send(SIGTERM)
    #expect(try run.finish().status == 143)
  }

  @Test(arguments: ["502", "half"])
  func `an entry that always fails at a host that serves others fails after its own tries`(fault: String) throws {
    let server = try FlakyServer()
    let folders = try DarkroomFolders()
    let bad = server.url("bad?" + Array(repeating: fault, count: 9).joined(separator: ","))
    let urls = [server.url("first"), bad] + (0..<4).map { server.url("\($0)") }
    try folders.drop("job.txt", urls.map { $0 + "\n" }.joined())
    // One at a time: the host answers no other request while it fails this one.
    let run = try folders.run(["--retries", "1", "--per-host", "1", "--filters", "none"])
    #expect(run.status == 1, "\(run.error)")
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 6, filtered: 5, failed: 1))
    // One more than its own while it may be the host that fails.
    let requests = report.transfers?.requests ?? 0
    let asked = try (0..<requests).map { _ in try server.nextRequest() }
    #expect((5 + 2...5 + 3).contains(requests), "\(asked) \(run.error)")
  }

  @Test func `a host that has never answered is soon given up, and its entries fail without being tried`() throws {
    let folders = try DarkroomFolders()
    let server = try RestartedServer(answering: 1)
    let dead = server.url("gone")
    // Nobody listens any more.
    try folders.drop("first.txt", server.url("only") + "\n")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    try folders.drop("job.txt", (0..<200).map { "\(dead)\($0)\n" }.joined())
    let run = try folders.run(["--retries", "1"])
    #expect(run.status == 1, "\(run.error)")
    let report = try folders.report("job")
    #expect(report.counts.failed == 200 && report.pauses == nil)
    #expect(Set(report.entries.map(\.error?.code)) == ["connect"])
    #expect(report.entries.count { $0.attempts == 0 } > 100, "\(report.entries.map(\.attempts))")
  }

  @Test func `a host that stays silent is soon not asked any more`() throws {
    // A full queue of connections: further ones get no answer, not even a refusal.
    let silent = try PythonServer(
      """
      import socket, sys, time
      listener = socket.socket()
      listener.bind(("127.0.0.2", 0))
      listener.listen(0)
      filling = []
      for _ in range(8):
          connection = socket.socket()
          connection.setblocking(False)
          connection.connect_ex(listener.getsockname())
          filling.append(connection)
      time.sleep(0.1)
      print(listener.getsockname()[1], flush=True)
      while True:
          time.sleep(60)
      """)
    let server = try FlakyServer()
    let folders = try DarkroomFolders()
    let lines = (0..<24).flatMap { ["http://127.0.0.2:\(silent.port)/\($0)", server.url("\($0)")] }
    try folders.drop("job.txt", lines.map { $0 + "\n" }.joined())
    let run = try folders.run(["--retries", "3", "--connect-timeout", "0.3"])
    #expect(run.status == 1, "\(run.error)")
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 48, filtered: 24, failed: 24))
    let failed = report.entries.filter { $0.error != nil }
    #expect(failed.allSatisfy { $0.error?.code == "timeout" })
    #expect(failed.count { $0.attempts == 0 } >= 12, "\(failed.map(\.attempts))")
  }

  @Test(arguments: [true, false])
  func `the first answer of a host may take as long as a connection, unless there is an option for it`(isSet: Bool)
    throws
  {
    let silent = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", silent.url("a") + "\n")
    let options = ["--settle", "0", "--allow-net", "127.0.0.0/8", "--retries", "0", "--connect-timeout", "2"]
    let more = isSet ? ["--first-byte-timeout", "0.5"] : []
    #expect(try DarkroomProcess.run(["run"] + folders.named + options + more).status == 1)
    let error = try folders.report("job").entries[0].error
    #expect(
      error?.code == "timeout" && error?.message.contains(isSet ? "is 0.5 s" : "is 2.0 s") == true, "\(error as Any)")
  }

  @Test func `all tries of an entry together take no longer than they may`() throws {
    let server = try FlakyServer()
    let gate = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    let failing = server.url("a?" + Array(repeating: "500", count: 60).joined(separator: ","))
    try folders.drop("job.txt", "\(failing)\n\(gate.url("stalled"))\n\(server.url("fine"))\n")
    let run = try folders.run(["--retries", "50", "--entry-timeout", "1.5", "--low-speed", "1K"])
    #expect(run.status == 1, "\(run.error)")
    let rows = try folders.report("job").entries
    #expect(rows.map(\.error?.code) == ["http-status", "timeout", nil])
    #expect(rows[0].attempts < 20 && rows[1].attempts == 1)
  }

  @Test(.enabled(if: PrivateNetwork.isAvailable, "unshare is not allowed here"))
  func `while no name can be resolved new hosts are held, and no entry fails`() throws {
    let run = try ResolverOutage.run(pictures: 60, answering: 20)
    #expect(run.status == 0 && run.outages == 1)
    #expect(run.report.counts == Report.Counts(total: 60, filtered: 60))
    #expect(run.report.pauses == nil)
  }

  @Test(arguments: [[], ["--downloads", "16"]])
  func `with many hosts downloads become more than 16, unless told otherwise`(options: [String]) throws {
    let server = try PythonServer(
      """
      import socket, sys, threading, time
      body = open(sys.argv[1], "rb").read()
      listener = socket.socket()
      listener.bind(("", 0))
      listener.listen(256)
      print(listener.getsockname()[1], flush=True)
      lock, running, most = threading.Lock(), 0, 0

      def answer(connection):
          global running, most
          with connection:
              is_question = b"GET /most" in connection.recv(4096)
              with lock:
                  running += not is_question
                  most = max(most, running)
              # A while in which more downloads at once are of use.
              time.sleep(0 if is_question else 0.3)
              with lock:
                  running -= not is_question
                  if is_question:
                      print(most, flush=True)
              head = "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
              connection.sendall(head.encode() + body)

      while True:
          threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
      """, [packageRoot + "/Samples/coffee.jpg"])
    let folders = try DarkroomFolders()
    let urls = (0..<480).map { "http://127.0.0.\(1 + $0 % 48):\(server.port)/\($0)\n" }
    try folders.drop("job.txt", urls.joined())
    let run = try folders.run(["--filters", "none"] + options)
    #expect(run.status == 0, "\(run.error)")
    try LoopbackSocket.request("/most", port: server.port)
    let most = try #require(Int(try server.nextLine()))
    #expect(options.isEmpty ? most > 20 : most <= 16, "\(most)")
  }
}
