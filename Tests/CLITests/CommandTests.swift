import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct CommandTests {
  @Test func `add puts manifests and URLs into the inbox and prints the jobs' names`() throws {
    let folders = try DarkroomFolders()
    let manifest = folders.folder.file("mine.json")
    try Data(#"["coffee.jpg"]"#.utf8).write(to: URL(fileURLWithPath: manifest))
    let inbox = ["--inbox", folders.inbox]
    #expect(try DarkroomCommand.run(["add", manifest] + inbox).output == "mine\n")
    #expect(try DarkroomCommand.run(["add", manifest, "--name", "other"] + inbox).output == "other\n")
    let urls = try DarkroomCommand.run(["add", "https://h.example/a.jpg", "https://h.example/b.jpg"] + inbox)
    #expect(urls.output.hasPrefix("urls-"))
    #expect(Set(try folders.inboxNames()) == ["mine.json", "other.json", urls.output.dropLast() + ".jsonl"])
    let again = try DarkroomCommand.run(["add", manifest] + inbox).expect(status: 75)
    #expect(again.error.contains("mine.json"))
    #expect(try DarkroomCommand.run(["add", folders.folder.file("none.json")] + inbox).status == 66)
    #expect(try DarkroomCommand.run(["add", manifest, "https://h.example/a.jpg"] + inbox).status == 64)
    #expect(try DarkroomCommand.run(["add", manifest, "--name", "../x"] + inbox).status == 64)
    for name in ["README", "draft~.part", "new\nline"] {
      let passedOver = try DarkroomCommand.run(["add", manifest, "--name", name] + inbox)
      #expect(passedOver.status == (name == "draft~.part" ? 0 : 64), "\(passedOver.error)")
    }
  }

  @Test(arguments: [["taken.txt", "a.txt", "b.txt"], ["a.txt", "missing.txt", "taken.txt", "b.txt"]])
  func `of several manifests those that cannot be added keep no other from being added`(files: [String]) throws {
    let folder = try TemporaryFolder()
    let folders = try DarkroomFolders()
    for file in files where file != "missing.txt" { try folder.write("coffee.jpg\n", as: file) }
    try folders.drop("taken.txt", "rocket.jpg\n")
    let add = try DarkroomCommand.run(["add", "--inbox", folders.inbox] + files, in: folder)
    #expect(add.status == 75 && add.output == "a\nb\n", "\(add.error)")
    #expect(add.error.contains("taken.txt is in the inbox already"))
    #expect(add.error.contains("missing.txt") == files.contains("missing.txt"))
    // What add prints is waited for, with and without quotes.
    try folders.run().expect(status: 0)
    for words in [[add.output], ["a", "b"], ["a\nb"]] {
      let wait = try DarkroomCommand.run(["wait", "--timeout", "9"] + folders.named + words)
      #expect(wait.status == 0 && wait.output.split(separator: "\n").count == 2, "\(wait.error)")
    }
  }

  @Test func `wait ends as run would, once the jobs have ended, and as the worst of several`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    #expect(try folders.ask("wait", ["job"]).status == 66)
    try folders.drop("job.txt", server.url("a") + "\n")
    let watch = try folders.start("watch", ["--filters", "none"])
    #expect(try server.nextRequest() == "/a")
    let wait = try DarkroomProcess(["wait", "job"] + folders.named)
    try server.release(1)
    let waited = try wait.finish().expect(status: 0)
    #expect(waited.output == folders.outbox + "/job/report.json\n")
    try folders.drop("bad.json", "{")
    #expect(try folders.ask("wait", ["bad"]).status == 65)
    try folders.drop("failing.txt", "missing.jpg\n")
    let several = try folders.ask("wait", ["job", "failing"]).expect(status: 1)
    #expect(several.output == ["job", "failing"].map { folders.outbox + "/\($0)/report.json\n" }.joined())
    #expect(try folders.ask("wait", ["job", "none"]).status == 66)
    try watch.stop()
  }

  @Test func `wait says that no instance is running, and waits for one`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    let wait = try DarkroomProcess(["wait", "job"] + folders.named)
    #expect(try wait.waitForLine(containing: "no instance is running; waiting for one") != nil)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    let waited = try wait.finish()
    #expect(waited.status == 0 && waited.output == folders.outbox + "/job/report.json\n")
    #expect(waited.error.split(separator: "\n").count == 1, "it says so once: \(waited.error)")
    let over = try folders.ask("wait", ["job"])
    #expect(over.status == 0 && over.error.isEmpty, "there is nothing to wait for")
  }

  @Test(arguments: ["0", "0.3"])
  func `wait ends with 75 when its time is over, and names what has not ended`(seconds: String) throws {
    let folders = try DarkroomFolders()
    try folders.drop("done.txt", "coffee.jpg\n")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    try folders.drop("job.txt", "coffee.jpg\n")
    let wait = try folders.ask("wait", ["--timeout", seconds, "done", "job"]).expect(status: 75)
    #expect(wait.output == folders.outbox + "/done/report.json\n")
    #expect(wait.error.contains("not ended after \(seconds) s, the limit of --timeout: job"), "\(wait.error)")
    // The other option of this name is no business of wait.
    let environment = ["DARKROOM_TIMEOUT": "0.001"]
    try DarkroomCommand.run(["wait", "done"] + folders.named, environment: environment).expect(status: 0)
  }

  @Test(arguments: ["10", "0"])
  func `wait covers all manifests of a job that lie in the inbox, and ends as the worst of them`(kept: String) throws {
    let folders = try DarkroomFolders()
    for name in ["cats.json", "cats.csv", "cats.jsonl"] { try folders.drop(name, "{") }
    try folders.drop("cats.txt", "coffee.jpg\n")
    // The one that succeeds comes last, and its report is the job's.
    let later = [FileAttributeKey.modificationDate: Date()]
    for name in ["cats.json", "cats.csv", "cats.jsonl"] {
      let earlier = [FileAttributeKey.modificationDate: Date() - 60]
      try FileManager.default.setAttributes(earlier, ofItemAtPath: folders.inbox + "/" + name)
    }
    try FileManager.default.setAttributes(later, ofItemAtPath: folders.inbox + "/cats.txt")
    let wait = try DarkroomProcess(["wait", "cats"] + folders.named)
    #expect(try wait.waitForLine(containing: "no instance") != nil)
    #expect(try folders.run(["--filters", "none", "--keep-history", kept]).status == 65)
    #expect(try folders.report("cats").state == "succeeded")
    let waited = try wait.finish().expect(status: 65)
    #expect(waited.output == folders.outbox + "/cats/report.json\n")
    #expect(waited.error.matches(of: /cats: rejected: see .*\/cats\/history\/[^\/]+\/report.json/).count == 3)
    // What had ended before is not waited for.
    #expect(try folders.ask("wait", ["cats"]).status == 0)
  }

  @Test func `wait reads a report once, however long it waits`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    try folders.drop("job.txt", "coffee.jpg\n")
    let waited = try DarkroomProcess.run(
      script: """
        report=$(realpath outbox/job/report.json)
        strace -f -qq -o reads -e trace=pread64 -P "$report" \\
          darkroom wait job --timeout 2 --poll-interval 0.05 --inbox inbox --outbox outbox || echo $?
        """, in: folders.folder)
    #expect(waited.output == "75\n", "\(waited.error)")
    let reads = try String(contentsOfFile: folders.folder.file("reads"), encoding: .utf8)
    #expect(reads.matches(of: /pread64/).count == 1, "\(reads)")
  }

  @Test(arguments: [["run"], ["check"]])
  func `a URL in the place of a manifest is told without its password`(words: [String]) throws {
    let folders = try DarkroomFolders()
    for file in ["https://user:pw@host.example/list.json", "https://user:pw@host.example/list"] {
      let ended = try DarkroomProcess.run(
        words + [file] + (words == ["run"] ? folders.options : []), in: folders.folder)
      #expect(ended.status == 66)
      #expect(ended.error.contains("https://host.example/list") && !ended.error.contains("pw"), "\(ended.error)")
    }
  }

  @Test func `add and status say which manifest waits for another of the same job`() throws {
    let folders = try DarkroomFolders()
    for name in ["cats.json", "cats.txt"] {
      let text = name == "cats.json" ? #"["coffee.jpg"]"# : "coffee.jpg\n"
      try text.write(toFile: folders.folder.file(name), atomically: false, encoding: .utf8)
    }
    let first = try DarkroomCommand.run(["add", folders.folder.file("cats.json")] + ["--inbox", folders.inbox])
    #expect(first.output == "cats\n" && first.error.isEmpty)
    let second = try DarkroomCommand.run(["add", folders.folder.file("cats.txt")] + ["--inbox", folders.inbox])
    #expect(second.status == 0 && second.output == "cats\n")
    #expect(
      second.error == "cats.txt has the same job name as cats.json in the inbox: they run one after the other\n")
    let line = "queued: cats.txt, after the other manifest of job cats"
    let before = try folders.ask("status").output
    #expect(before.contains(line) && before.contains("queued: cats.json\n"), "\(before)")
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    let watch = try folders.start("watch")
    #expect(try watch.waitForLine(containing: "cats: 1 entry") != nil)
    func isBehind(_ status: [String: Any]) -> Bool {
      (status["queued_behind"] as? [[String: String]]) == [["file": "cats.txt", "job": "cats"]]
    }
    let during = try eventually({ try status(folders) }, is: isBehind)
    #expect(isBehind(during), "\(during)")
    try watch.kill()
    #expect(isBehind(try status(folders)))
  }

  @Test func `retry does again what failed, keeps what succeeded, and reports it all`() throws {
    let folders = try DarkroomFolders()
    let root = try TemporaryFolder()
    let (there, missing) = (root.file("there.jpg"), root.file("missing.jpg"))
    try FileManager.default.copyItem(atPath: packageRoot + "/Samples/coffee.jpg", toPath: there)
    let retry = ["retry", "job"] + folders.named
    #expect(try DarkroomCommand.run(retry).status == 66)
    try folders.drop("job.txt", "there.jpg\nmissing.jpg\n")
    #expect(try DarkroomCommand.run(retry).status == 75)
    #expect(try folders.run(["--file-root", root.path]).status == 1)
    let first = try folders.report("job")
    #expect(first.counts == Report.Counts(total: 2, filtered: 1, failed: 1))

    try FileManager.default.copyItem(atPath: there, toPath: missing)
    let dropped = try DarkroomCommand.run(retry).expect(status: 0)
    #expect(dropped.output == "job\n")
    #expect(dropped.error == "no instance is running; the next \"darkroom run\" or \"darkroom watch\" processes it\n")
    #expect(try folders.inboxNames() == ["job.txt"])
    #expect(try folders.run(["--file-root", root.path]).status == 0)
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2, reused: 1))
    #expect(folders.exists("job/history/\(first.run_id)/job.failed.jsonl"))
    #expect(!folders.exists("job/job.failed.jsonl"))
    let manifests = try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job").filter {
      $0.hasPrefix("manifest.")
    }
    for name in manifests { try FileManager.default.removeItem(atPath: folders.outbox + "/job/" + name) }
    let taken = try DarkroomCommand.run(retry)
    #expect(taken.status == 66 && taken.error.contains("it was taken away; drop it into the inbox again"), "\(taken)")
    #expect(try folders.ask("retry", ["../job"]).status == 64)
    #expect(try folders.ask("retry").status == 64)
  }

  @Test func `retry prints the name of the job, and not that of its manifest`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("*.txt", "coffee.jpg\n")
    let report = try folders.run().expect(status: 0).output
    let job = report.split(separator: "/").dropLast().last ?? ""
    #expect(job != "*")
    #expect(try folders.ask("retry", ["*"]).expect(status: 0).output == job + "\n")
  }

  @Test func `the list of what failed is a manifest also when an entry is longer than a line may be`() throws {
    let folders = try DarkroomFolders()
    let metadata = String(repeating: "x", count: 1 << 20)
    try folders.drop(
      "job.json", #"[{"url": "a.jpg", "metadata": {"m": "\#(metadata)"}}, {"url": "b.jpg", "metadata": 1}]"#)
    try folders.run().expect(status: 1)
    let list = folders.outbox + "/job/job.failed.jsonl"
    _ = try DarkroomCommand.run(["check", list]).expect(status: 0)
    let lines = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n")
    #expect(lines.map { $0.contains(#""metadata":1"#) } == [false, true])
    #expect(lines.first?.contains(#""_metadata":"left out"#) == true)
  }

  @Test func `dependencies that are longer than a line are left out of the list of what failed, and metadata stays`()
    throws
  {
    let folders = try DarkroomFolders()
    let names = (0..<6500).map { String(repeating: "x", count: 170) + "\($0)" }
    let needed = names.map { #"{"url": "a.jpg", "name": "\#($0)"}"# }
    let after = names.map { "\"\($0)\"" }.joined(separator: ",")
    let last = #"{"url": "b.jpg", "name": "last", "metadata": 1, "after": [\#(after)]}"#
    try folders.drop("job.json", "[" + (needed + [last]).joined(separator: ",") + "]")
    try folders.run().expect(status: 1)
    let list = folders.outbox + "/job/job.failed.jsonl"
    _ = try DarkroomCommand.run(["check", list]).expect(status: 0)
    let lines = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n")
    let line = try #require(lines.first { $0.contains(#""name":"last""#) })
    #expect(line.contains(#""_after":"left out"#) && line.contains(#""metadata":1"#) && !line.contains(#""after""#))
  }

  @Test func `what failed can be dropped again as a manifest of its own`() throws {
    let folders = try DarkroomFolders()
    let root = try TemporaryFolder()
    try folders.drop(
      "job.jsonl",
      #"""
      {"url": "later.jpg", "name": "x/later", "filters": "grayscale(1)", "quality": 70, "metadata": {"id": 7}}
      {"url": "never.jpg", "priority": "high"}

      """#)
    #expect(try folders.run(["--file-root", root.path]).status == 1)
    let failed = folders.outbox + "/job/job.failed.jsonl"
    #expect(try FileManager.default.attributesOfItem(atPath: failed)[.posixPermissions] as? Int == 0o600)
    try FileManager.default.copyItem(
      atPath: packageRoot + "/Samples/coffee.jpg", toPath: root.file("later.jpg"))
    #expect(try DarkroomCommand.run(["add", failed] + ["--inbox", folders.inbox]).output == "job.failed\n")
    #expect(try folders.run(["--file-root", root.path]).status == 1)
    let report = try folders.report("job.failed")
    #expect(report.counts == Report.Counts(total: 2, filtered: 1, failed: 1))
    #expect(report.entries[0].output?.file == "images/x/later.jpg" && report.entries[0].filters == "grayscale(1)")
    let text = try String(decoding: folders.contents("job.failed/report.json"), as: UTF8.self)
    #expect(text.contains(#""metadata":{"id":7}"#))
    #expect(report.entries[1].error?.code == "file-not-found")
  }

  @Test func `check prints the plan, ends with 65 for a rejected manifest, and leaves nothing behind`() throws {
    let folder = try TemporaryFolder()
    for (name, text) in [
      ("good.json", #"{"b/cat": {"url": "https://u:p@h.example/c.png", "format": "png"}, "a": "ftp://h/x"}"#),
      ("bad.jsonl", "\"https://h.example/a.jpg\"\n{\"ulr\": 1}\n"),
    ] { try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(name))) }
    let good = try DarkroomCommand.run(["check", "good.json"], in: folder).expect(status: 0)
    #expect(
      good.output.hasPrefix(
        "good.json: job good, 2 entries\n  images/b/cat.png  sepia(0.8)  https://h.example/c.png\n  images/a.*"))
    let bad = try DarkroomCommand.run(["check", "bad.jsonl", "--json"], in: folder).expect(status: 65)
    #expect(bad.output.contains(#""state":"rejected""#))
    #expect(bad.output.contains(#""where":"line 2: ulr""#))
    #expect(bad.output.contains("did you mean \\\"url\\\""))
    #expect(try DarkroomCommand.run(["check", "none.json"], in: folder).status == 66)
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) == ["good.json", "bad.jsonl"])
  }

  @Test func `status tells the same with and without an instance`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("a.txt", server.url("a") + "\n" + server.url("b") + "\n")
    // It must not end either, when the first job yields its place to it.
    try folders.drop("b.txt", server.url("c") + "\n")
    try folders.drop("notes.docx", "")
    let before = try status(folders)
    #expect(before["running"] as? Bool == false)
    #expect(before["queued"] as? [String] == ["a.txt", "b.txt"])
    #expect((before["ignored"] as? [[String: Any]])?.first?["file"] as? String == "notes.docx")
    let watch = try folders.start("watch", ["--filters", "none", "--jobs", "1"])
    for _ in 0..<2 { _ = try server.nextRequest() }
    let during = try eventually({ try status(folders) }, is: { ($0["jobs"] as? [[String: Any]])?.count == 2 })
    #expect(during["running"] as? Bool == true)
    #expect(during["process"] as? Int == Int(watch.processID))
    let job = (during["jobs"] as? [[String: Any]])?.first
    #expect(job?["job"] as? String == "a")
    #expect(job?["total"] as? Int == 2)
    let jobs = (during["jobs"] as? [[String: Any]])?.compactMap { $0["job"] as? String }
    #expect(jobs == ["a", "b"] && (during["queued"] as? [String])?.isEmpty == true, "b is planned ahead")
    try Data("why".utf8).write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    #expect(try watch.waitForLine(containing: "paused: x.lock") != nil)
    _ = try status(folders)
    try folders.unlock()
    try watch.kill()
    let after = try status(folders)
    let states = (after["jobs"] as? [[String: Any]])?.map { $0["state"] as? String }
    #expect(states == ["waiting", "waiting"] && (after["queued"] as? [String])?.isEmpty == true)
    #expect(try folders.ask("status").output.contains("job a: waiting"))
  }

  private func status(_ folders: DarkroomFolders) throws -> [String: Any] {
    let run = try folders.ask("status", ["--json"]).expect(status: 0)
    #expect(try JSONSchema.violations(of: Data(run.output.utf8), name: "status.schema.json") == "")
    return try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any] ?? [:]
  }

  @Test func `events follow their schema and tell every entry`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\nmissing.jpg\n")
    try folders.drop("notes.docx", "")
    let run = try folders.run(["--json", "--filters", "none"])
    let events = run.output.split(separator: "\n").map { Data($0.utf8) }
    let names = try events.map { try (JSONSerialization.jsonObject(with: $0) as? [String: Any])?["event"] as? String }
    #expect(names.first == "watching" && names.last == "job-ended")
    #expect(names.filter { $0 == "entry-ended" }.count == 2)
    #expect(names.contains("file-ignored"))
    #expect(try JSONSchema.violations(of: Data(run.output.utf8), name: "events.schema.json") == "")
  }

  @Test func `the file is beaten by the environment, and that by the command line`() throws {
    let folders = try DarkroomFolders()
    let config = folders.folder.file("config.json")
    func applied(_ text: String, _ environment: [String: String] = [:], _ more: [String] = []) throws -> String {
      try Data(text.utf8).write(to: URL(fileURLWithPath: config))
      let run = try DarkroomCommand.run(
        ["check", "--json", "--config", config, packageRoot + "/Samples/demo.plist"] + more, environment: environment)
      return run.status == 0 ? run.output.split(separator: "\n").map(String.init).last ?? "" : run.error
    }
    let file = #"{"quality": 11, "_why": "a test"}"#
    #expect(try applied(file).contains(#""quality":11"#))
    #expect(try applied(file, ["DARKROOM_QUALITY": "12"]).contains(#""quality":12"#))
    #expect(try applied(file, ["DARKROOM_QUALITY": "12"], ["--quality", "13"]).contains(#""quality":13"#))
    let elsewhere = ["DARKROOM_QUALITY": "x", "DARKROOM_JOB_NAME": "outer"]
    #expect(try applied(file, elsewhere).contains("DARKROOM_QUALITY must be"))
    #expect(
      try applied(file, elsewhere, ["--quality", "13"]).contains(#""quality":13"#), "what is beaten may be wrong")
    let manifest = try folders.folder.write(#"[{"url": "a", "quality": "80"}]"#, as: "m.json")
    let told = try DarkroomCommand.run(["check", manifest]).expect(status: 65).output
    #expect(
      told.contains("must be a whole number from 1 to 100, not ") && told.contains("; write it as a number: 80\n"))
    #expect(try applied(#"{"qualty": 11}"#).contains("did you mean \"quality\""))
    #expect(try applied(#"{"quality": 0}"#).contains("\"quality\" must be a whole number from 1 to 100"))
    #expect(try applied("\u{feff}" + file).contains(#""quality":11"#), "a byte-order mark")
    #expect(try applied(#"{"quality": {}}"#).contains("must be a string"))
    #expect(try applied(#"{"quality": 1,"#).contains("line 1"))
    #expect(try DarkroomCommand.run(["filters", "--config", config + ".none"]).status == 66)
  }

  @Test func `recipes of the file are used by their names, in manifests and options`() throws {
    let folders = try DarkroomFolders()
    let config = try folders.folder.write(
      #"{"recipes": {"card": "thumb pad(40 40 red)", "thumb": "resize(32 32)", "_why": 1}, "filters": "thumb"}"#,
      as: "config.json")
    try folders.drop(
      "job.jsonl", #"{"url": "chelsea-small.png"}"# + "\n" + #"{"url": "chelsea-small.png", "filters": "card flop()"}"#)
    _ = try folders.run(["--config", config]).expect(status: 0)
    let report = String(decoding: try folders.contents("job/report.json"), as: UTF8.self)
    #expect(report.contains("resize(fit 32 32) pad(40 40 center #ff0000) flop()") && report.contains(#""height":40"#))
    // The same bytes are another job when a recipe has changed.
    let other = try folders.folder.write(
      #"{"recipes": {"card": "resize(16 16)"}, "filters": "none"}"#, as: "other.json")
    let manifest = #"{"url": "chelsea-small.png", "filters": "card"}"#
    for config in [config, other] {
      try folders.drop("again.jsonl", manifest)
      _ = try folders.run(["--config", config]).expect(status: 0)
    }
    #expect(String(decoding: try folders.contents("again/report.json"), as: UTF8.self).contains("resize(fit 16 16)"))
    let listed = try DarkroomCommand.run(["filters", "--config", config]).expect(status: 0)
    #expect(listed.output.contains("card\n    resize(fit 32 32) pad(40 40 center #ff0000)\n"))
    let steps = try DarkroomCommand.run(["filters", "--config", config, "--explain", "card"]).expect(status: 0)
    #expect(steps.output.contains("pad(40 40"), "\(steps.output)")
    for (recipes, message) in [
      (#"{"a": "a"}"#, "\"recipes\": \"a\": a: it uses itself"), ("[]", "must be an object"),
      (#"{"a": 1}"#, "must be a string"),
    ] {
      let wrong = try folders.folder.write("{\"recipes\": \(recipes)}", as: "wrong.json")
      let told = try DarkroomCommand.run(["filters", "--config", wrong])
      #expect(told.status == 64 && told.error.contains(message), "\(told.error)")
    }
  }

  @Test func `watch reloads its configuration on SIGHUP`() throws {
    let folders = try DarkroomFolders()
    let config = folders.folder.file("config.json")
    try Data(#"{"filters": "none"}"#.utf8).write(to: URL(fileURLWithPath: config))
    let watch = try folders.watch(["--config", config, "--verbose"])
    try Data(#"{"filters": "invert()"}"#.utf8).write(to: URL(fileURLWithPath: config))
    watch.send(SIGHUP)
    #expect(try watch.waitForLine(containing: "reloaded") != nil)
    try Data(#"{"filters": "#.utf8).write(to: URL(fileURLWithPath: config))
    watch.send(SIGHUP)
    #expect(try watch.waitForLine(containing: "stays as it was") != nil)
    try folders.drop("job.txt", "chelsea-small.png\n")
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    try watch.stop()
    #expect(try String(decoding: folders.contents("job/report.json"), as: UTF8.self).contains("invert(1)"))
  }

  @Test func `after SIGHUP what is printed is what the configuration says then`() throws {
    let folders = try DarkroomFolders()
    let config = folders.folder.file("config.json")
    try Data("{}".utf8).write(to: URL(fileURLWithPath: config))
    let watch = try folders.watch(["--config", config, "--filters", "none"])
    try Data(#"{"log-format": "json", "json": true, "verbose": true}"#.utf8).write(to: URL(fileURLWithPath: config))
    watch.send(SIGHUP)
    #expect(try watch.waitForLine(containing: #""message":"the configuration was reloaded""#) != nil)
    try folders.drop("one.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: #""entry":"coffee""#) != nil, "verbose")
    #expect(try watch.waitForLine(containing: "succeeded: ") != nil)
    try Data(#"{"log-format": "logfmt"}"#.utf8).write(to: URL(fileURLWithPath: config))
    watch.send(SIGHUP)
    #expect(try watch.waitForLine(containing: #"message="the configuration was reloaded""#) != nil)
    try folders.drop("two.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "job=two message=\"succeeded: ") != nil)
    let finished = try watch.stop()
    #expect(!finished.error.contains("entry=coffee"), "no longer verbose: \(finished.error)")
    let output = finished.output.split(separator: "\n")
    #expect(output.first?.contains(#""event":"configured""#) == true, "\(output)")
    #expect(output.last?.hasSuffix("/two/report.json") == true, "\(output)")
    #expect(output.count { $0.hasPrefix("/") } == 1, "\(output)")
  }

  @Test func `however often watch reads its configuration again, it does not get more threads`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    let watch = try folders.watch(["--filters", "none", "--verbose"])
    try folders.drop("job.txt", server.url("a") + "\n")
    #expect(try server.nextRequest() == "/a")
    func threads() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/\(watch.processID)/task").count
    }
    let before = try threads()
    for _ in 0..<50 {
      watch.send(SIGHUP)
      #expect(try watch.waitForLine(containing: "reloaded") != nil)
    }
    // What is being downloaded goes on as it was.
    try server.release(1)
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    // The pool's threads come and go.
    let limit = Date() + 30
    while try threads() > before + 15, Date() < limit { usleep(10_000) }
    #expect(try threads() <= before + 15)
    try watch.stop()
  }

  @Test(arguments: [true, false])
  func `a named link to a manifest in the inbox stands for that manifest`(isOutside: Bool) throws {
    let folders = try DarkroomFolders()
    try folders.drop("a.txt", "coffee.jpg\n")
    try folders.drop("link.txt.kept", "")
    let link = isOutside ? folders.folder.file("link.txt") : folders.inbox + "/link.txt"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folders.inbox + "/a.txt")
    // A file of the link's name in the inbox is another manifest.
    if isOutside { try folders.drop("link.txt", "missing.jpg\n") }
    try folders.run(["--filters", "none", link]).expect(status: 0)
    #expect(try folders.report("a").state == "succeeded")
    #expect(!folders.exists("link"))
    #expect(try folders.inboxNames() == ["link.txt", "link.txt.kept"])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == folders.inbox + "/a.txt")
  }

  @Test func `a named link to what is no manifest's name in the inbox is a file like any other`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("a.data", "coffee.jpg\n")
    let link = folders.folder.file("job.txt")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folders.inbox + "/a.data")
    #expect(try folders.run(["--filters", "none", link]).status == 0)
    #expect(try folders.report("job").state == "succeeded")
    #expect(try folders.inboxNames() == ["a.data"])
  }
}
