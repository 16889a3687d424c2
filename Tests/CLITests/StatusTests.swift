import Foundation
import TestSupport
import Testing

/// `darkroom status` for a person, at each moment in the life of an instance.
@Suite(.blocking) struct StatusTests {
  private func status(_ folders: DarkroomFolders) throws -> [String] {
    let run = try folders.ask("status")
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "\(folders.inbox) → \(folders.outbox)")
    return Array(lines.dropFirst())
  }

  private func waitForJob(in folders: DarkroomFolders) throws {
    let lines = try eventually({ try status(folders) }, is: { $0.contains { $0.hasPrefix("job job: ") } })
    #expect(lines.contains { $0.hasPrefix("job job: ") }, "\(lines)")
  }

  @Test func `without an instance ever it says so, and creates nothing`() throws {
    let folders = try DarkroomFolders()
    #expect(try status(folders) == ["no process is running", "nothing to do"])
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try status(folders) == ["no process is running", "queued: job.txt"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox).isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.inbox) == ["job.txt"])
  }

  @Test(arguments: [false, true])
  func `beside a run, what came after it began is queued, and waits for the next start`(isNamed: Bool) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    let first = folders.folder.file("first.txt")
    try (server.url("0") + "\n").write(toFile: first, atomically: true, encoding: .utf8)
    if !isNamed { #expect(try folders.ask("add", [first]).status == 0) }
    let run = try folders.start("run", ["--filters", "none"] + (isNamed ? [first] : []))
    #expect(try server.nextRequest() == "/0")
    try folders.drop("later.txt", "coffee.jpg\n")
    try folders.drop("first.json", #"["coffee.jpg"]"#)
    let queued = [
      "queued: first.json, after the other manifest of job first, waits for the next start",
      "queued: later.txt, waits for the next start",
    ]
    let lines = try eventually(
      { try status(folders).filter { $0.hasPrefix("queued: ") }.sorted() }, is: { $0.count == 2 })
    #expect(lines == queued)
    let json = try folders.status()
    #expect((json["queued_next_start"] as? [String])?.sorted() == ["first.json", "later.txt"])
    #expect(json["queued_total"] as? Int == 2)
    try server.release(1)
    #expect(try run.finish().status == 0)
    // All wait for the next start now.
    #expect(
      try status(folders).filter { $0.hasPrefix("queued: ") }.sorted() == ["queued: first.json", "queued: later.txt"])
    #expect(try folders.status()["queued_next_start"] == nil)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(folders.exists("later/report.json"))
  }

  @Test func `folders in the inbox are named, with and without an instance, and nobody is told of them`() throws {
    let folders = try DarkroomFolders()
    for name in ["pictures", "old.json", "readme"] {
      try FileManager.default.createDirectory(atPath: folders.inbox + "/" + name, withIntermediateDirectories: false)
    }
    let ignored = ["ignored: old.json: it is a folder", "ignored: pictures: it is a folder"]
    #expect(try status(folders).filter { $0.hasPrefix("ignored") }.sorted() == ignored)
    let watch = try folders.start("watch", ["--filters", "none"])
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    #expect(try status(folders).filter { $0.hasPrefix("ignored") } == ignored)
    watch.send(SIGTERM)
    #expect(try !watch.finish().error.contains("ignored"))
  }

  @Test func `characters that change how others look are escaped, in names and reasons`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("a\u{202e}txt.json", "[]")
    try folders.drop("x.lock", "b\u{202e}c\u{2066}")
    let lines = try status(folders)
    #expect(lines.contains(#"queued: a\u{202e}txt.json"#), "\(lines)")
    #expect(lines.allSatisfy { line in line.unicodeScalars.allSatisfy { !$0.properties.isBidiControl } })
  }

  @Test func `where somebody paused before the first start it tells of the lock, and creates no outbox`() throws {
    let folder = try TemporaryFolder()
    try folder.makeFolder("inbox")
    #expect(try DarkroomCommand.run(["pause"], in: folder).status == 0)
    #expect(try DarkroomCommand.run(["status"], in: folder).output.contains("paused: pause.lock"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["inbox"])
  }

  @Test func `it tells of an instance that is idle, runs, is paused, and was killed`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    let watch = try folders.watch(["--filters", "none", "--downloads", "1", "--per-host", "6", "--verbose"])
    let running = "process \(watch.processID) is running"
    #expect(try status(folders) == [running, "nothing to do"])

    try folders.drop("job.txt", (0..<3).map { server.url("\($0)") + "\n" }.joined())
    #expect(try server.nextRequest() == "/0")
    let begun = try eventually({ try status(folders) }, is: { $0.contains("job job: 0 of 3") })
    #expect(begun.prefix(2) == [running, "job job: 0 of 3"], "\(begun)")

    try Data("backup\n".utf8).write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    #expect(try watch.waitForLine(containing: "paused: x.lock") != nil)
    try server.release(1)
    // What runs finishes, and nothing starts: the picture is there, and waits for its filtration.
    let queues = "downloads: 0 of 1 running, 2 waiting; filtrations: 0 of \(processors) running, 1 waiting"
    let paused = try eventually({ try status(folders) }, is: { $0.contains(queues) })
    #expect(paused.contains(queues), "\(paused)")
    #expect(paused.contains("job job: 0 of 3"))
    #expect(paused.contains { $0.hasPrefix("paused: x.lock (backup) since 20") })

    try watch.kill()
    let killed = try status(folders)
    #expect(killed.prefix(2) == ["no process is running", "job job: waiting for the next start, 0 of 3"])
    #expect(killed.count == 3 && killed.last?.hasPrefix("paused: x.lock (backup) since 20") == true, "\(killed)")
  }

  @Test func `of an instance that has not said yet what it does, nobody takes open jobs for ended`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", server.url("0") + "\n")
    let watch = try folders.start("watch", ["--filters", "none"])
    #expect(try server.nextRequest() == "/0")
    try waitForJob(in: folders)
    try watch.kill()
    try FileManager.default.removeItem(atPath: folders.inbox + "/job.txt")
    // As an instance that takes long to begin: it owns the outbox, and the ledger.
    let held = try DarkroomProcess.run(
      script: """
        '\(TestPython.interpreter)' - <<'END'
        import fcntl, os, struct, subprocess, sys, time
        file = open("outbox/.darkroom/instance", "r+b")
        fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))  # F_OFD_SETLK
        named = ["--inbox", "inbox", "--outbox", "outbox"]
        # It has not written its process id either.
        early = subprocess.Popen(["darkroom", "status", *named], stdout=subprocess.PIPE)
        time.sleep(0.3)
        file.write(b"%d\\n" % os.getpid())
        file.flush()
        print("early:", early.communicate()[0].decode().replace("\\n", "; "), flush=True)
        for words in ["status"], ["wait", "--timeout", "0.1", "job"], ["cancel", "job"]:
            print(subprocess.run(["darkroom", *words, *named]).returncode, flush=True)
        END
        """, in: folders.folder)
    #expect(held.output.contains("job job: ") && held.output.contains("has just begun"), "\(held)")
    #expect(held.output.contains(/early: .*has just begun/), "\(held)")
    #expect(held.output.split(separator: "\n").filter { Int($0) != nil } == ["0", "75", "0"], "\(held)")
    try folders.run().expect(status: 1)
    #expect(try folders.report("job").state == "cancelled")
  }

  @Test func `after a stop it tells how far each job is`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\nchelsea.jpg\nmissing.jpg\n" + server.url("0") + "\n")
    let watch = try folders.start("watch", ["--filters", "none", "--grace", "0", "--verbose"])
    for _ in 0..<2 { #expect(try watch.waitForLine(containing: ": filtered") != nil) }
    #expect(try server.nextRequest() == "/0")
    // The failure may come before or after the others.
    let told = try eventually(
      { try status(folders).map { $0.replacing(/, [0-9.]+\/s.*/, with: "") } },
      is: { $0.contains("job job: 3 of 4, 1 failed") })
    #expect(told.contains("job job: 3 of 4, 1 failed"), "\(told)")
    try watch.stop()
    let stopped = try status(folders)
    #expect(stopped == ["no process is running", "job job: waiting for the next start, 3 of 4, 1 failed"])
    let json = try folders.statusText()
    #expect(json.contains(#""filtered":2"#) && json.contains(#""total":4"#))
  }

  @Test func `an instance that is stopping says so, and predicts no end`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "chelsea.jpg\n" + server.url("0") + "\nmissing.jpg\n")
    let watch = try folders.start("watch", ["--filters", "none", "--verbose"])
    #expect(try watch.waitForLine(containing: ": filtered") != nil)
    #expect(try server.nextRequest() == "/0")
    watch.send(SIGTERM)
    let stopping = try eventually({ try folders.statusText() }, is: { $0.contains("stopping") })
    #expect(stopping.contains(#""stopping":true"#) && !stopping.contains("seconds_left"), "\(stopping)")
    #expect(try JSONSchema.violations(of: Data(stopping.utf8), name: "status.schema.json") == "")
    #expect(try status(folders).first?.hasPrefix("process \(watch.processID) is stopping: ") == true)
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 143)
    #expect(try status(folders).first == "no process is running" && !folders.statusText().contains("stopping"))
  }

  @Test func `operations in progress are listed by name, and not once their process has died`() throws {
    let folders = try DarkroomFolders()
    let gate = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let variants = #""variants": [{"name": "s"}, {"name": "t"}]"#
    try folders.drop("job.json", #"{"a/b": {"url": "\#(gate.url("x.jpg"))", \#(variants)}}"#)
    let watch = try folders.start("watch")
    #expect(try gate.nextRequest() == "/x.jpg")
    let text = try eventually({ try folders.statusText() }, is: { $0.contains("operations_total") })
    #expect(text.contains(#""operations_total":1"#))
    #expect(text.contains(#""operations":[{"job":"job","name":"a/b","since":"2"#), "\(text)")
    #expect(text.contains(#""state":"downloading","variant":"s"}]"#), "\(text)")
    try watch.kill()
    #expect(try !folders.statusText().contains("operations"))
  }

  @Test func `what waits for a place at its host is waiting`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", (0..<300).map { server.url("\($0)") + "\n" }.joined())
    let watch = try folders.start("watch", ["--filters", "none", "--per-host", "2"])
    for _ in 0..<2 { _ = try server.nextRequest() }
    let expected = "downloads: 2 of 16 running, 298 waiting; filtrations: 0 of \(processors) running, 0 waiting"
    let lines = try eventually({ try status(folders) }, is: { $0.contains(expected) })
    #expect(lines.contains(expected), "\(lines)")
    try watch.kill()
  }

  @Test func `a host on hold is named once, and no rate of its jobs is told meanwhile`() throws {
    let server = try FlakyServer()
    let folders = try DarkroomFolders()
    let refusing = (0..<3).map { server.url("\($0)?429:600,429:600") + "\n" }
    for (job, url) in zip(["a", "b", "c"], refusing) { try folders.drop(job + ".txt", "coffee.jpg\n" + url) }
    let watch = try folders.start("watch", ["--filters", "none", "--retries", "9"])
    func held(_ lines: [String]) -> [String] {
      lines.filter { $0.hasPrefix("http://127.0.0.1:") && $0.contains(" is on hold until ") }
    }
    func isThere(_ lines: [String]) -> Bool {
      !held(lines).isEmpty
        && ["a", "b", "c"].allSatisfy { job in lines.contains { $0.hasPrefix("job \(job): 1 of 2") } }
    }
    let lines = try eventually({ try status(folders) }, is: isThere)
    #expect(isThere(lines) && held(lines).count == 1, "\(lines)")
    #expect(!lines.contains { $0.contains("/s") || $0.contains(" s left") }, "\(lines)")
    try watch.kill()
  }

  @Test func `no rate is told of a job whose entries left are all at a failing host`() throws {
    let server = try RestartedServer(answering: 5)
    let folders = try DarkroomFolders()
    try folders.drop("a.txt", (0..<60).map { server.url("\($0)") + "\n" }.joined())
    let watch = try folders.start("watch", ["--filters", "none", "--retries", "9"])
    func isThere(_ lines: [String]) -> Bool {
      lines.contains { $0.contains(" is failing since ") }
        && lines.contains { $0.hasPrefix("job a: ") && $0.contains(" of 60") }
    }
    let lines = try eventually({ try status(folders) }, is: isThere)
    #expect(isThere(lines) && !lines.contains { $0.contains("/s") || $0.contains(" s left") }, "\(lines)")
    try watch.kill()
  }

  @Test func `the jobs that ended last are listed, the latest first, and all with --all`() throws {
    let folders = try DarkroomFolders()
    for number in 1...7 {
      try folders.drop("job\(number).\(number == 6 ? "json" : "txt")", number == 6 ? "{" : "coffee.jpg\nmissing\n")
      _ = try folders.run(["--filters", "none"])
    }
    func ended(_ more: [String] = []) throws -> [String] {
      let lines = try folders.ask("status", more).output.split(separator: "\n")
      return lines.filter { $0.hasPrefix("ended: ") }.map { String($0).replacing(/, 20.*/, with: "") }
    }
    func line(_ number: Int) -> String { "ended: job\(number): partial, 1 of 2 filtered, 1 failed" }
    #expect(try ended() == [line(7), "ended: job6: rejected", line(5), line(4), line(3), "ended: 2 more, see --all"])
    #expect(try ended(["--all"]).suffix(2) == [line(2), line(1)])
    let json = try folders.statusText()
    #expect(json.contains(#""finished_total":7"#))
    try Data("{".utf8).write(to: URL(fileURLWithPath: folders.outbox + "/job1/report.json"))
    #expect(try !ended(["--all"]).contains { $0.contains("see --all") }, "an unreadable report is not one more")
  }

  @Test func `it leaves a change of the ledger that a process died over to the next start`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    let watch = try folders.start("watch", ["--filters", "none"])
    #expect(try watch.waitForLine(containing: "job: 1 entry") != nil)
    try waitForJob(in: folders)
    try watch.kill()
    try folders.unlock()
    let state = folders.outbox + "/.darkroom"
    let script = """
      import os, sqlite3, sys
      ledger = sqlite3.connect(sys.argv[1], isolation_level=None)
      ledger.executescript("PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = 1; BEGIN; UPDATE jobs SET name = 'half'")
      rows = (("j", "t%d" % i, 1, "ab") for i in range(5000))
      ledger.executemany("INSERT INTO outputs (job, target, bytes, sha256) VALUES (?, ?, ?, ?)", rows)
      os._exit(0)
      """
    let died = try DarkroomProcess.run(
      script: "'\(TestPython.interpreter)' -c \"$SCRIPT\" '\(state)/ledger.sqlite'", in: folders.folder,
      environment: ["SCRIPT": script])
    #expect(died.status == 0, "\(died.error)")
    func traces() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: state).sorted().filter { $0.contains("sqlite") }.map { name in
        var status = stat()
        #expect(stat(state + "/" + name, &status) == 0)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: state + "/" + name))
        return "\(name) \(status.st_mtim) \(bytes.hashValue) \(bytes.count)"
      }
    }
    let before = try traces()
    #expect(before.count == 2 && !before[1].hasSuffix(" 0"), "\(before)")
    for _ in 0..<2 {
      let lines = try self.status(folders)
      #expect(
        lines.contains {
          $0.hasPrefix("jobs that have not ended are not known but from the last status: a process died")
        }, "\(lines)")
      #expect(lines.contains { $0.hasPrefix("job job: waiting for the next start") }, "\(lines)")
      #expect(!lines.contains { $0.hasPrefix("queued: job.txt") }, "\(lines)")
      #expect(!lines.contains("nothing to do"))
    }
    try folders.statusText()
    #expect(try traces() == before)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.report("job").state == "succeeded")
  }

  /// What `status --json` prints, as far as it concerns rates and pauses.
  private struct Rates: Decodable {
    struct Job: Decodable {
      let rate: Double?
      let seconds_left: Double?
    }
    struct Pause: Decodable {}
    let jobs: [Job]
    let pauses: [Pause]
  }

  private func rates(_ folders: DarkroomFolders) throws -> Rates {
    let run = try folders.ask("status", ["--json"])
    return try JSONDecoder().decode(Rates.self, from: Data(run.output.utf8))
  }

  @Test func `there is no rate during a pause, which does not count afterwards`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\nchelsea.jpg\n" + server.url("0") + "\n")
    let began = Date()
    let watch = try folders.start("watch", ["--filters", "none", "--verbose"])
    for _ in 0..<2 { #expect(try watch.waitForLine(containing: ": filtered") != nil) }
    #expect(try server.nextRequest() == "/0")
    let lock = URL(fileURLWithPath: folders.inbox + "/x.lock")
    try Data().write(to: lock)
    #expect(try watch.waitForLine(containing: "paused: x.lock") != nil)
    let paused = try eventually({ try rates(folders) }, is: { !$0.pauses.isEmpty })
    #expect(paused.jobs.first != nil && paused.jobs.first?.rate == nil && paused.jobs.first?.seconds_left == nil)
    // The time that passes is what must not count.
    Thread.sleep(forTimeInterval: 2.5)
    try FileManager.default.removeItem(at: lock)
    let later = try eventually({ try rates(folders) }, is: { $0.jobs.first?.rate != nil })
    let rate = try #require(later.jobs.first?.rate)
    #expect(rate + 0.1 >= 2 / (began.distance(to: Date()) - 2), "\(rate)")
    try server.release(1)
    try watch.stop()
  }

  private var processors: Int { ProcessInfo.processInfo.activeProcessorCount }
}
