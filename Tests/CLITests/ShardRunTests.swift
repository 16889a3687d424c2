import Foundation
import TestSupport
import Testing

/// `shard run`, `shard merge` and `shard status`: a manifest that several processes do together.
@Suite(.blocking) struct ShardRunTests {
  private let folders: DarkroomFolders
  private var folder: TemporaryFolder { folders.folder }

  init() throws { folders = try DarkroomFolders() }

  private func split(_ manifest: String, into shards: Int, _ more: [String] = []) throws {
    _ = try DarkroomCommand.run(["shard", "split", "--shards", "\(shards)"] + more + [manifest, "shards"], in: folder)
      .expect(status: 0)
  }

  /// Does shards to the end.
  private func work(
    _ more: String..., environment: [String: String] = [:]
  ) throws -> DarkroomProcess.Finished {
    try DarkroomProcess(["shard", "run", "shards"] + more + folders.options, in: folder, environment: environment)
      .finish()
  }

  private func start(_ more: String...) throws -> DarkroomProcess {
    try DarkroomProcess(["shard", "run", "shards"] + more + folders.options, in: folder)
  }

  private func merge(_ more: String...) throws -> DarkroomProcess.Finished {
    try DarkroomCommand.run(["shard", "merge", "shards"] + more + folders.named, in: folder)
  }

  private func rows(_ job: String) throws -> [String] {
    try folders.report(job).entries.map { "\($0.name) \($0.state)" }
  }

  /// The lines of a shard's log.
  private func logged(_ shard: Int, _ job: String) -> Int {
    (folder.text("shards/\(shard)/\(job)/entries.jsonl") ?? "").split(separator: "\n").count
  }

  @Test func `shards that two processes do are merged into the report of one run`() throws {
    let server = try RestartedServer(answering: 1_000_000)
    var lines = (0..<40).map { number in
      #"{"url": "\#(server.url("\(number).jpg", host: "127.0.0.\(1 + number % 7)"))", "name": "p/\#(39 - number)"}"#
    }
    let url = server.url("v.jpg", host: "127.0.0.3")
    lines[20] =
      #"{"url": "\#(url)", "name": "v", "variants": [{"name": "a", "filters": "none"}, {"name": "b", "quality": 50}]}"#
    lines[7] = #"{"url": "http://10.9.9.9/forbidden.jpg"}"#
    lines[33] = #"{"url": "\#(server.url("late.jpg", host: "127.0.0.9"))", "after": ["v"]}"#
    _ = try folder.write(lines.joined(separator: "\n") + "\n", as: "cats.jsonl")
    try split("cats.jsonl", into: 6)
    let others = try (start(), start())
    let told = try [others.0, others.1].map { try $0.finish().expect(status: 0).error }
    let states = (0..<6).filter { folder.text("shards/\($0)/.darkroom/state/ledger.sqlite") != nil }
    #expect(states.isEmpty, "what a shard needs no more is removed")
    #expect(told.count { $0.contains("remedy for address-not-allowed: ") } == 1, "\(told)")
    let merged = try merge().expect(status: 1)
    #expect(merged.output == folders.outbox + "/cats/report.json\n")
    try folders.checkOutbox()
    let report = try folders.report("cats")
    let data = try folders.contents("cats/report.json")
    #expect(try ReportSchema.violations(of: data) == "")
    // The same in one run.
    let whole = try DarkroomFolders()
    _ = try DarkroomProcess.run(["run", folder.file("cats.jsonl")] + whole.options).expect(status: 1)
    let expected = try whole.report("cats")
    #expect(
      report.counts == expected.counts && report.counts.failed == 1, "\(report.entries.filter { $0.state == "failed" })"
    )
    #expect(report.entries.map(\.name) == expected.entries.map(\.name))
    #expect(report.entries.map(\.index) == expected.entries.map(\.index))
    #expect(report.entries.map(\.state) == expected.entries.map(\.state))
    let pictures = { (of: DarkroomFolders) in
      try of.files().filter { $0.hasPrefix("cats/images/") }.sorted().map { ($0, try of.contents($0)) }
    }
    let (found, wanted) = (try pictures(folders), try pictures(whole))
    #expect(found.map(\.0) == wanted.map(\.0) && found.map(\.1) == wanted.map(\.1) && found.count == 40)
    #expect(try folders.contents("cats/cats.failed.jsonl").count > 0 && folders.exists("cats/index.html"))
    let lines2 = String(decoding: try folders.contents("cats/entries.jsonl"), as: UTF8.self).split(separator: "\n")
    #expect(lines2.count == 41)
    #expect(folders.exists(".darkroom/shards/.merged/cats") && !folders.exists(".darkroom/shards/cats"))
    // The second time there is nothing to do.
    let again = try work().expect(status: 0)
    #expect(again.output.isEmpty && again.error.contains("6 of 6 shards complete, 1 result failed"), "\(again.error)")
    #expect(try merge().status == 1 && rows("cats") == report.entries.map { "\($0.name) \($0.state)" })
  }

  @Test func `a shard leaves no descriptors to the next one, and needs no program of --exec`() throws {
    _ = try folder.write((0..<24).map { #"{"url": "coffee.jpg", "name": "\#($0)"}"# + "\n" }.joined(), as: "cats.jsonl")
    try split("cats.jsonl", into: 24)
    let line = (["darkroom", "shard", "run", "shards", "--filters", "none"] + folders.options)
      .map { "'\($0)'" }.joined(separator: " ")
    let run = try DarkroomProcess.run(script: "ulimit -n 128; DARKROOM_EXEC=/none exec \(line)", in: folder)
    #expect(run.status == 0 && run.error.contains("24 of 24 shards complete"), "\(run.error)")
    #expect(!run.error.contains("Too many open files"), "\(run.error)")
  }

  @Test(arguments: [true, false])
  func `what has ended is not done again when a machine is lost with its state`(isStateLocal: Bool) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    _ = try folder.write((0..<12).map { server.url("\($0).jpg") + "\n" }.joined(), as: "cats.txt")
    try split("cats.txt", into: 1, ["--per-host", "2"])
    let state = try folder.makeFolder("local")
    let options = ["0", "--filters", "none"] + (isStateLocal ? ["--state", state] : [])
    let first = try DarkroomProcess(["shard", "run", "shards"] + options + folders.options, in: folder)
    // Two at once, as many as the split allows.
    _ = try (server.nextRequest(), server.nextRequest())
    try server.release(5)
    for _ in 0..<5 { _ = try server.nextRequest() }
    _ = eventually({ logged(0, "cats") }, is: { $0 == 5 })
    try first.kill()
    let done = folder.text("shards/0/cats/entries.jsonl") ?? ""
    let left = Set((0..<12).map { "/\($0).jpg" }.filter { !done.contains($0 + "\"") })
    try FileManager.default.removeItem(atPath: isStateLocal ? state : folder.file("shards/0/.darkroom/state"))
    _ = try folder.makeFolder("local")
    // A line that was being written.
    let log = folder.file("shards/0/cats/entries.jsonl")
    try ((folder.text("shards/0/cats/entries.jsonl") ?? "") + "{\"index\":3,\"na").write(
      toFile: log, atomically: false, encoding: .utf8)
    let second = try DarkroomProcess(["shard", "run", "shards"] + options + folders.options, in: folder)
    try server.release(9)
    _ = try second.finish().expect(status: 0)
    let again = try server.requestsSoFar()
    #expect(Set(again) == left && again.count == 7, "\(again)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("shards/0/.darkroom/staging")))
    _ = try merge("--gallery", "off", "--accept-failures", "0").expect(status: 0)
    #expect(!folders.exists("cats/index.html"))
    #expect(try folders.report("cats").counts == Report.Counts(total: 12, filtered: 12))
    #expect(try folders.files().filter { $0.hasPrefix("cats/images/") }.count == 12)
  }

  @Test func `a state that another machine has gone on without is not used`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    _ = try folder.write((0..<6).map { server.url("\($0).jpg") + "\n" }.joined(), as: "cats.txt")
    try split("cats.txt", into: 1, ["--per-host", "1"])
    let states = try (folder.makeFolder("one"), folder.makeFolder("two"))
    // Three times, each of which does two entries; the third time is on the first machine again.
    for (turn, state) in [states.0, states.1, states.0].enumerated() {
      let words = ["shard", "run", "shards", "--filters", "none", "--state", state] + folders.options
      let process = try DarkroomProcess(words, in: folder)
      // One is for a request of the process that was killed.
      try server.release(turn == 0 ? 2 : 3)
      _ = eventually({ logged(0, "cats") }, is: { $0 >= 2 * turn + 2 })
      if turn < 2 { try process.kill() } else { _ = try process.finish().expect(status: 0) }
    }
    _ = try merge().expect(status: 0)
    let asked = try server.requestsSoFar()
    // Those that were under way when a process was killed are asked for again.
    #expect(Set(asked).count == 6 && asked.count <= 8, "\(asked)")
  }

  @Test func `a shard that a process does is done by no other, and its claim ends with it`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    _ = try folder.write((0..<2).map { server.url("\($0).jpg") + "\n" }.joined(), as: "cats.txt")
    try split("cats.txt", into: 2)
    let numbers = ["0", "1"].filter { folder.text("shards/\($0)/cats.jsonl")?.isEmpty == false }
    let number = try #require(numbers.first)
    let first = try start(number, "--claim-timeout", "6")
    _ = try server.nextRequest()
    let status = try DarkroomCommand.run(["shard", "status", "shards"], in: folder).expect(status: 0)
    #expect(status.output.contains("1 in work") && status.output.contains("(process "), "\(status.output)")
    let second = try work(number, "--claim-timeout", "6")
    #expect(second.status == 75 && second.error.contains("shard \(number) is done by "), "\(second.error)")
    try first.kill()
    let third = try start(number)
    _ = try server.nextRequest()
    try server.release(10)
    _ = try third.finish().expect(status: 0)
  }

  @Test func `a lock in the shared inbox pauses shards, and cancel stops them`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    _ = try folder.write((0..<8).map { server.url("\($0).jpg") + "\n" }.joined(), as: "cats.txt")
    try split("cats.txt", into: 1, ["--per-host", "1"])
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    let locked = try work("--lock-wait", "0.2")
    #expect(locked.status == 75 && locked.error.contains("x.lock"), "\(locked.error)")
    try folders.unlock()
    let process = try start()
    _ = try server.nextRequest()
    try server.release(2)
    _ = eventually({ logged(0, "cats") }, is: { $0 == 2 })
    _ = try DarkroomCommand.run(["cancel", "cats"] + folders.named, in: folder).expect(status: 0)
    let ended = try process.finish()
    #expect(ended.status == 1 && ended.error.contains("job cats was cancelled"), "\(ended.error)")
    try server.release(20)
    #expect(try merge().status == 75)
    _ = try merge("--partial").expect(status: 1)
    let report = try folders.report("cats")
    #expect(
      report.counts.total == 8 && report.counts.filtered >= 2 && report.counts.cancelled == 8 - report.counts.filtered)
    #expect(report.entries.count == report.counts.filtered)
    let again = try work()
    #expect(again.status == 1 && again.error.contains("/shards/cancelled"), "\(again.error)")
    try FileManager.default.removeItem(atPath: folder.file("shards/cancelled"))
    _ = try work().expect(status: 0)
    _ = try merge().expect(status: 0)
    #expect(try folders.report("cats").counts == Report.Counts(total: 8, filtered: 8))
  }

  @Test func `jobs in shards need no inbox to be cancelled, shown and merged`() throws {
    _ = try folder.write("coffee.jpg\nrocket.jpg\n", as: "cats.txt")
    try split("cats.txt", into: 2)
    _ = try work("0", "--filters", "none").expect(status: 0)
    let other = try TemporaryFolder()
    func ask(_ words: String..., more: [String] = []) throws -> DarkroomProcess.Finished {
      try DarkroomCommand.run(words + ["--outbox", folders.outbox] + more, in: other)
    }
    #expect(try ask("status").expect(status: 0).error.contains("job cats is done in shards"))
    #expect(try ask("wait", "cats").expect(status: 66).error.contains("there is no job \"cats\""))
    #expect(try ask("cancel", "cats", more: ["--inbox", other.file("inbox")]).status == 66, "that inbox must be there")
    #expect(try ask("cancel", "cats").expect(status: 0).error == "cancelling cats\n")
    _ = try ask("shard", "merge", folder.file("shards"), "--partial").expect(status: 1)
    #expect(try other.names().isEmpty)
    try FileManager.default.removeItem(atPath: folder.file("shards/cancelled"))
    _ = try work("--filters", "none").expect(status: 0)
    _ = try ask("shard", "merge", folder.file("shards")).expect(status: 0)
    #expect(try ask("status").status == 66, "what is not done in shards needs one")
  }

  @Test func `warnings about the manifest have their places in it after the merge`() throws {
    let manifest =
      #"{"entries": {"a": "coffee.jpg", "b": "rocket.jpg", "con": "chelsea.jpg", "metadata": {"url": "coffee.jpg"}}}"#
    _ = try folder.write(manifest, as: "cats.json")
    let whole = try DarkroomCommand.run(["check", "--json", "cats.json"], in: folder).expect(status: 0)
    #expect(whole.output.contains(#""where":"entries.con""#))
    try split("cats.json", into: 2)
    _ = try work("--filters", "none").expect(status: 0)
    _ = try merge().expect(status: 0)
    #expect(try folders.validReport("cats").warnings?.map(\.where) == ["entries.con"])
  }

  @Test func `a partial merge has the bytes and the time of shards that are not complete`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    _ = try folder.write((0..<4).map { server.url("\($0).jpg") + "\n" }.joined(), as: "cats.txt")
    try split("cats.txt", into: 1, ["--per-host", "1"])
    let process = try start()
    _ = try server.nextRequest()
    try server.release(2)
    _ = eventually({ logged(0, "cats") }, is: { $0 == 2 })
    try process.kill()
    _ = try merge("--partial").expect(status: 1)
    let report = try folders.validReport("cats")
    #expect(report.counts == Report.Counts(total: 4, filtered: 2, cancelled: 2))
    #expect(
      report.bytes.written == report.entries.reduce(0) { $0 + ($1.output?.bytes ?? 0) } && report.bytes.written > 0)
    #expect(report.bytes.downloaded == report.entries.reduce(0) { $0 + ($1.source?.bytes ?? 0) })
    #expect(
      report.started_at <= report.finished_at && report.duration_s > 0, "\(report.started_at) \(report.finished_at)")
    try folders.checkOutbox()
  }

  @Test func `a new folder of shards reuses and replaces what an earlier one has delivered`() throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    let names = ["coffee.jpg", "chelsea.jpg", "rocket.jpg"]
    for turn in 0..<3 {
      _ = try folder.write(names.map { server.url($0) + "\n" }.joined(), as: "cats.txt")
      _ = try DarkroomCommand.run(["shard", "split", "--shards", "2", "cats.txt", "shards\(turn)"], in: folder).expect(
        status: 0)
      let options = folders.options + (turn == 2 ? ["--filters", "invert()"] : [])
      _ = try DarkroomProcess(["shard", "run", "shards\(turn)"] + options, in: folder).finish().expect(status: 0)
      _ = try DarkroomCommand.run(["shard", "merge", "shards\(turn)"] + folders.named, in: folder).expect(status: 0)
      let counts = try folders.report("cats").counts
      #expect(counts == Report.Counts(total: 3, filtered: 3, reused: turn == 1 ? 3 : 0))
    }
    // The second time the server said that nothing has changed.
    #expect(
      try server.accessLog().map { $0.contains("\" 304 ") }
        == [false, true, false].flatMap { Array(repeating: $0, count: 3) })
  }

  /// What the outbox was used for before.
  enum Earlier: CaseIterable { case nothing, anotherJob, anotherJobWhoseLedgerIsLost }

  @Test(arguments: Earlier.allCases)
  func `a run after the merge reuses and replaces what shards have made`(earlier: Earlier) throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    let list = ["coffee.jpg", "chelsea.jpg"].map { server.url($0) + "\n" }.joined()
    for name in ["cats.txt", "other.txt"] { _ = try folder.write(list, as: name) }
    func run(_ job: String, _ more: String...) throws -> Report.Counts {
      _ = try DarkroomProcess.run(["run", folder.file(job + ".txt")] + more + folders.options).expect(status: 0)
      return try folders.report(job).counts
    }
    if earlier != .nothing { _ = try run("other") }
    let isLost = earlier == .anotherJobWhoseLedgerIsLost
    if isLost { try FileManager.default.removeItem(atPath: folders.outbox + "/.darkroom/ledger.sqlite") }
    try split("cats.txt", into: 2)
    _ = try work().expect(status: 0)
    let merged = try merge().expect(status: 0)
    #expect(merged.error.contains("the ledger was missing; a new one was made from 1 report") == isLost)
    #expect(try run("cats") == Report.Counts(total: 2, filtered: 2, reused: 2))
    #expect(try run("cats", "--filters", "invert()") == Report.Counts(total: 2, filtered: 2))
    #expect(try run("other").reused == (earlier == .nothing ? 0 : 2))
    // That only a merge had made it does not matter when it is lost.
    try FileManager.default.removeItem(atPath: folders.outbox + "/.darkroom/ledger.sqlite")
    #expect(try run("cats", "--filters", "invert()").reused == 2)
  }

  @Test func `while an instance uses the ledger a merge writes nothing, and can be repeated`() throws {
    _ = try folder.write("coffee.jpg\n", as: "cats.txt")
    try split("cats.txt", into: 1)
    _ = try work().expect(status: 0)
    let other = try DarkroomFolders()
    let state = other.folder.file("state")
    let watch = try other.start("watch", ["--state", state, "--create"])
    #expect(try watch.waitForLine(containing: "watching") != nil)
    let busy = try merge("--state", state)
    #expect(busy.status == 75 && busy.error.contains("another instance owns \(state)"), "\(busy.error)")
    #expect(!folders.exists("cats/report.json"))
    try watch.stop()
    let merged = try merge("--state", state).expect(status: 0)
    #expect(merged.error.contains("1 of 1 filtered") && !merged.error.contains("warning"), "\(merged.error)")
  }

  @Test func `the rows that split gives a shard are those that it knows`() throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    _ = try folder.write(server.url("coffee.jpg") + "\n", as: "cats.txt")
    var reused: [Int] = []
    for turn in ["first", "whole", "cut"] {
      let words = ["shard", "split", "--shards", "1", "cats.txt", turn] + folders.named
      _ = try DarkroomCommand.run(words, in: folder).expect(status: 0)
      if turn == "cut", let head = folder.text("cut/0/.earlier")?.split(separator: "\n").first {
        try (head + "\n").write(toFile: folder.file("cut/0/.earlier"), atomically: false, encoding: .utf8)
      }
      _ = try DarkroomProcess(["shard", "run", turn] + folders.options, in: folder).finish().expect(status: 0)
      _ = try DarkroomCommand.run(["shard", "merge", turn] + folders.named, in: folder).expect(status: 0)
      reused.append(try folders.report("cats").counts.reused)
    }
    #expect(reused == [0, 1, 0])
  }

  @Test func `commands for whole jobs say that a job is done in shards`() throws {
    _ = try folder.write("coffee.jpg\nchelsea.jpg\n", as: "cats.txt")
    try split("cats.txt", into: 2)
    for option in ["--exec", "--notify"] {
      let refused = try work(option, option == "--exec" ? "/bin/true" : "http://127.0.0.1:9/")
      #expect(refused.status == 64 && refused.error.contains("shard run takes no \(option)"), "\(refused.error)")
    }
    _ = try work("0").expect(status: 0)
    let paused = try DarkroomCommand.run(["pause"] + folders.named, in: folder).expect(status: 0)
    #expect(paused.error.contains("processes that do the shards of cats wait"), "\(paused.error)")
    _ = try DarkroomCommand.run(["resume"] + folders.named, in: folder)
    let status = try DarkroomCommand.run(["status"] + folders.named, in: folder).expect(status: 0)
    #expect(status.error.contains("job cats is done in shards"), "\(status.error)")
    _ = try work().expect(status: 0)
    _ = try merge().expect(status: 0)
    let retried = try DarkroomCommand.run(["retry", "cats"] + folders.named, in: folder)
    #expect(retried.status == 66 && retried.error.contains("was done in the shards of "), "\(retried.error)")
  }

  @Test(arguments: [true, false])
  func `what failed, or was left out of a partial merge, is known to later folders of shards`(splitKnows: Bool) throws {
    let server = try Nginx(serving: folder.makeFolder("pictures"))
    let names = ["coffee.jpg", "chelsea.jpg", "rocket.jpg"]
    for name in names {
      try FileManager.default.copyItem(
        atPath: packageRoot + "/Samples/\(name)", toPath: folder.file("pictures/\(name)"))
    }
    _ = try folder.write(names.map { server.url($0) + "\n" }.joined(), as: "cats.txt")
    func split(_ shards: String) throws {
      let words = ["shard", "split", "--shards", "3", "--per-host", "3", "cats.txt", shards]
      _ = try DarkroomCommand.run(words + ["--outbox", splitKnows ? "outbox" : "empty"], in: folder).expect(status: 0)
    }
    func run(_ shards: String, _ number: String? = nil, _ recipe: String) throws {
      let words = ["shard", "run", shards] + (number.map { [$0] } ?? []) + folders.options + ["--filters", recipe]
      _ = try DarkroomProcess(words, in: folder).finish().expect(status: 0)
    }
    func merge(_ shards: String, _ words: String...) throws -> Report.Counts? {
      _ = try DarkroomCommand.run(["shard", "merge", shards] + words + folders.named, in: folder)
      return try folders.report("cats").counts
    }
    _ = try folder.makeFolder("empty")
    try split("first")
    try run("first", nil, "none")
    #expect(try merge("first") == Report.Counts(total: 3, filtered: 3))
    // One entry fails, and its picture of before stays.
    try FileManager.default.removeItem(atPath: folder.file("pictures/rocket.jpg"))
    try split("second")
    try run("second", nil, "invert()")
    #expect(try merge("second") == Report.Counts(total: 3, filtered: 2, failed: 1))
    try FileManager.default.copyItem(
      atPath: packageRoot + "/Samples/rocket.jpg", toPath: folder.file("pictures/rocket.jpg"))
    // One shard is merged before the others have begun.
    try split("third")
    #expect(FileManager.default.fileExists(atPath: folder.file("third/0/.earlier")) == splitKnows)
    let sizes = (0..<3).map { (folder.text("third/\($0)/cats.jsonl") ?? "").split(separator: "\n").count }
    let shard = try #require(sizes.firstIndex { $0 > 0 })
    try run("third", "\(shard)", "sepia()")
    #expect(try merge("third", "--partial")?.filtered == sizes[shard])
    try run("third", nil, "sepia()")
    #expect(try merge("third") == Report.Counts(total: 3, filtered: 3))
  }

  @Test func `a shard whose lock nobody lets go is left for later`() throws {
    _ = try folder.write("coffee.jpg\n", as: "cats.txt")
    try split("cats.txt", into: 1)
    _ = try folder.makeFolder("none")
    let holder = try DarkroomProcess(["watch", "--inbox", "none", "--outbox", "shards/0"], in: folder)
    defer { try? holder.kill() }
    _ = try holder.waitForLine(containing: "watching")
    _ = try folder.write(#"{"released":true,"host":"node7","process":7}"#, as: "shards/0/claim-1")
    let told = try work("--claim-timeout", "5")
    #expect(
      told.status == 75 && told.error.contains("shard 0 is left for later: its records are locked"), "\(told.error)")
  }

  @Test func `a link in the place of the pictures' folder stops a shard before anything is sent`() throws {
    _ = try folder.write("coffee.jpg\n", as: "cats.txt")
    try split("cats.txt", into: 1)
    _ = try folder.makeFolder("outbox/cats")
    try folder.link("outbox/cats/images", to: "/tmp")
    let told = try work()
    #expect(told.status == 73 && told.error.contains("outbox/cats/images is a symbolic link"), "\(told.error)")
    try FileManager.default.removeItem(atPath: folder.file("outbox/cats/images"))
    _ = try work().expect(status: 0)
  }

  @Test func `one broken shard costs itself only`() throws {
    _ = try folder.write("coffee.jpg\nchelsea.jpg\nrocket.jpg\n", as: "cats.txt")
    try split("cats.txt", into: 3)
    try "{\"ulr\": 1}\n".write(toFile: folder.file("shards/1/cats.jsonl"), atomically: false, encoding: .utf8)
    try FileManager.default.removeItem(atPath: folder.file("shards/2"))
    let told = try work()
    #expect(told.status == 66 && told.error.contains("shard 2 cannot be done: "), "\(told.status) \(told.error)")
    #expect(told.error.contains("1 of 3 shards complete") || told.error.contains("0 of 3"), "\(told.error)")
    _ = try DarkroomCommand.run(["shard", "status", "shards"], in: folder).expect(status: 0)
  }

  @Test func `merge notices another outbox, and manifests that are not whole`() throws {
    _ = try folder.write("coffee.jpg\nchelsea.jpg\nrocket.jpg\n", as: "cats.txt")
    try split("cats.txt", into: 1)
    _ = try work().expect(status: 0)
    _ = try folder.makeFolder("other")
    let wrong = try DarkroomCommand.run(["shard", "merge", "shards", "--outbox", "other"], in: folder)
    #expect(wrong.status == 73 && wrong.error.contains("was begun with another outbox"), "\(wrong.error)")
    let manifest = folder.text("shards/0/cats.jsonl") ?? ""
    let lines = manifest.split(separator: "\n").dropLast().map { $0 + "\n" }
    try lines.joined().write(toFile: folder.file("shards/0/cats.jsonl"), atomically: false, encoding: .utf8)
    let cut = try merge()
    #expect(cut.status == 66 && cut.error.contains("nothing was merged") && !folders.exists("cats/report.json"))
    try manifest.write(toFile: folder.file("shards/0/cats.jsonl"), atomically: false, encoding: .utf8)
    _ = try merge().expect(status: 0)
  }

  @Test(arguments: ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"])
  func `--by-index does the shard that the scheduler's variable names`(variable: String) throws {
    _ = try folder.write("coffee.jpg\nchelsea.jpg\nrocket.jpg\n", as: "cats.txt")
    try split("cats.txt", into: 3)
    let wrong = try work("--by-index", environment: [variable: "3"])
    #expect(wrong.status == 64 && wrong.error.contains("\(variable)=3 is no number of a shard: they are 0 to 2"))
    _ = try work("--by-index", environment: [variable: "1"]).expect(status: 0)
    let status = try DarkroomCommand.run(["shard", "status", "--json", "shards"], in: folder).expect(status: 0)
    #expect(status.output.contains(#"{"shard":1,"state":"complete""#) && status.output.contains(#""state":"open""#))
    let left = try merge()
    #expect(left.status == 75 && left.error.contains("2 shards of 3 are not complete: 0, 2"), "\(left.error)")
    #expect(!folders.exists("cats/report.json"))
  }

  @Test(
    arguments: [
      (["run"], 64, "shard run needs the folder of the shards"), (["run", "shards", "7"], 64, "they are 0 to 1"),
      (["run", "shards", "0", "1"], 64, "at most the number of one"), (["run", "inbox"], 66, "is no folder of shards"),
      (["run", "shards", "0", "--by-index"], 64, "not both"),
      (["run", "shards", "--by-index"], 64, "SLURM_ARRAY_TASK_ID"),
      (["run", "shards", "--prune"], 64, "takes no --prune"), (["merge"], 64, "needs the folder of the shards"),
      (["merge", "shards"], 75, "2 shards of 2 are not complete: 0, 1"), (["status", "missing"], 66, "missing"),
      (["run", "broken"], 66, "plan.json"), (["run", "shards", "--claim-timeout", "1"], 64, "--claim-timeout"),
    ] as [([String], Int32, String)])
  func `what is wrong is told`(words: [String], status: Int32, message: String) throws {
    _ = try folder.write("coffee.jpg\nchelsea.jpg\n", as: "cats.txt")
    try split("cats.txt", into: 2)
    _ = try folder.makeFolder("broken")
    _ = try folder.write(#"{"version": 1, "job": "../x"}"#, as: "broken/plan.json")
    let told = try DarkroomProcess(["shard"] + words + folders.named, in: folder).finish()
    #expect(told.status == status && told.error.contains(message), "\(told.status) \(told.error)")
  }
}
