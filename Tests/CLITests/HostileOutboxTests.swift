import Foundation
import TestSupport
import Testing

/// Symbolic links in the outbox lead nothing of ours anywhere.
@Suite(.blocking) struct HostileOutboxTests {
  private let folders: DarkroomFolders
  private let elsewhere: TemporaryFolder

  init() throws {
    folders = try DarkroomFolders()
    elsewhere = try TemporaryFolder()
    for name in ["report.json", "entries.jsonl"] { try elsewhere.write("precious", as: name) }
  }

  private func link(_ name: String, to target: String) throws {
    let path = folders.outbox + "/" + name
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
  }

  private func expectUntouched() throws {
    #expect(try elsewhere.names() == ["entries.jsonl", "report.json"])
    for name in try elsewhere.names() { #expect(elsewhere.text(name) == "precious") }
  }

  @Test(arguments: ["job", "job/images", "job/history", "job/entries.jsonl"])
  func `a job whose folder or log is a symbolic link does not begin, others do, and it does when the link is gone`(
    name: String
  ) throws {
    try link(name, to: name.hasSuffix("jsonl") ? elsewhere.file("entries.jsonl") : elsewhere.path)
    try folders.drop("job.txt", "coffee.jpg\n")
    let watch = try folders.start("watch", ["--filters", "none"])
    #expect(try watch.waitForLine(containing: "\(name) is a symbolic link") != nil)
    try folders.drop("good.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "good: succeeded") != nil)
    try watch.stop()
    try expectUntouched()
    #expect(try folders.inboxNames() == ["job.txt"])
    try FileManager.default.removeItem(atPath: folders.outbox + "/" + name)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.report("job").state == "succeeded")
    try expectUntouched()
  }

  @Test func `deeper, a symbolic link in the way of a result is that entry's conflict`() throws {
    try link("job/images/sub", to: elsewhere.path)
    try folders.drop("job.txt", "coffee.jpg\n out=sub/a\ncoffee.jpg\n out=b\n")
    try folders.run(["--filters", "none"]).expect(status: 1)
    let report = try folders.report("job")
    #expect(report.entries.map { $0.error?.code } == ["name-conflict", nil])
    #expect(report.entries[0].error?.message.contains("symbolic link") == true)
    try expectUntouched()
  }

  @Test func `what lies behind a symbolic link is not reused, though it was delivered under that name`() throws {
    let manifest = "coffee.jpg\n out=sub/a\ncoffee.jpg\n out=b\n"
    try folders.drop("job.txt", manifest)
    #expect(try folders.run().status == 0)
    try FileManager.default.moveItem(atPath: folders.outbox + "/job/images/sub", toPath: elsewhere.file("sub"))
    let before = elsewhere.identities
    try link("job/images/sub", to: elsewhere.file("sub"))
    try folders.drop("job.txt", manifest)
    #expect(try folders.run().status == 1)
    let report = try folders.report("job")
    #expect(report.entries.map { $0.error?.code } == ["name-conflict", nil])
    #expect(report.entries.map(\.reused) == [nil, true])
    #expect(elsewhere.identities == before)
  }

  @Test func `nobody is told of an instance that works behind a symbolic link`() throws {
    let other = try DarkroomFolders()
    let watch = try other.start("watch", ["--verbose"])
    #expect(try watch.waitForLine(containing: "watching") != nil)
    try link(".darkroom", to: other.outbox + "/.darkroom")
    for state in [[], ["--state", elsewhere.path]] {
      let status = try folders.ask("status", state)
      #expect(status.status == 0 && status.output.contains("no process is running"), "\(status.output)\(status.error)")
    }
    let status = try DarkroomCommand.run(["status"] + other.named)
    #expect(status.output.contains("process \(watch.processID) is running"), "\(status.output)")
    try watch.stop()
  }

  @Test(arguments: ["job", "job/images", "job/history", "job/report.json", "job/entries.jsonl"])
  func `a ledger that is lost is made again from what is not behind symbolic links, and nothing there is changed`(
    name: String
  ) throws {
    for _ in 0..<2 {
      for job in ["good", "job"] { try folders.drop(job + ".txt", "coffee.jpg\n") }
      #expect(try folders.run(["--filters", "none"]).status == 0)
    }
    let moved = elsewhere.file("moved")
    try FileManager.default.moveItem(atPath: folders.outbox + "/" + name, toPath: moved)
    try link(name, to: moved)
    let before = elsewhere.identities
    try String(repeating: "x", count: 4096).write(
      toFile: folders.outbox + "/.darkroom/ledger.sqlite", atomically: false, encoding: .utf8)
    try folders.drop("job.txt", "coffee.jpg\n")
    let watch = try folders.start("watch", ["--quality", "30"])
    let reports = ["job": 2, "job/history": 3, "job/report.json": 3][name] ?? 4
    #expect(try watch.waitForLine(containing: "0 of its rows and \(reports) reports") != nil)
    let isBlocked = name != "job/report.json"
    let line = isBlocked ? "\(name) is a symbolic link" : "job: succeeded"
    #expect(try watch.waitForLine(containing: line) != nil)
    // Its picture is known to be ours, and is replaced by another.
    try folders.drop("good.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "good: succeeded") != nil)
    try watch.stop()
    #expect(elsewhere.identities == before)
    guard isBlocked else { return }
    try FileManager.default.removeItem(atPath: folders.outbox + "/" + name)
    try FileManager.default.moveItem(atPath: moved, toPath: folders.outbox + "/" + name)
    // What was not to be seen is not known to be ours.
    let isOurs = name != "job" && name != "job/images"
    #expect(try folders.run(["--quality", "30"]).status == (isOurs ? 0 : 1))
    #expect(try folders.report("job").entries.map { $0.error?.code } == [isOurs ? nil : "name-conflict"])
  }

  @Test func `a state that is a symbolic link in the outbox is refused`() throws {
    try link(".darkroom", to: elsewhere.path)
    let run = try folders.run().expect(status: 73)
    #expect(run.error.contains("\(folders.outbox)/.darkroom is a symbolic link"), "\(run.error)")
    try expectUntouched()
  }

  @Test(arguments: ["nowhere", "report.json"])
  func `a ledger that is a symbolic link is refused, and nothing is written where it leads`(target: String) throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    try link(".darkroom/ledger.sqlite", to: elsewhere.file(target))
    let run = try folders.run().expect(status: 73)
    #expect(run.error.contains("\(folders.outbox)/.darkroom/ledger.sqlite is a symbolic link"), "\(run.error)")
    try expectUntouched()
    #expect(try folders.inboxNames() == ["job.txt"])
  }

  @Test func `without openat2 jobs are done, and links are refused, too`() throws {
    try link("linked", to: elsewhere.path)
    try link("deep/images/sub", to: elsewhere.path)
    try folders.drop("good.txt", "coffee.jpg\n out=some/where/a\n")
    try folders.drop("deep.txt", "coffee.jpg\n out=sub/a\n")
    let run = try DarkroomProcess.run(
      script:
        "strace -f -qq -o trace -e trace=openat2 -e inject=openat2:error=ENOSYS \(folders.line("run", ["--filters", "none"]))",
      in: folders.folder)
    #expect(run.status == 1, "\(run.error)")
    #expect(folders.folder.text("trace")?.contains("INJECTED") == true)
    #expect(try folders.report("good").state == "succeeded")
    #expect(folders.exists("good/images/some/where/a.jpg"))
    #expect(try folders.report("deep").entries.first?.error?.code == "name-conflict")
    try expectUntouched()
  }

  @Test func `where statx() is refused, as in some containers, jobs are done as elsewhere`() throws {
    let folders = try DarkroomFolders()
    for _ in 0..<2 {
      try folders.drop("job.txt", "coffee.jpg\n")
      let run = try folders.run(["--filters", "none"], injecting: "statx:error=EPERM")
      #expect(run.status == 0, "\(run.error)")
    }
  }
}

extension TemporaryFolder {
  /// What tells whether something in it, at any depth, was changed.
  fileprivate var identities: [String: [Int]] {
    let paths = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    let known = paths.map { ($0, HostileFile.identity(of: Array(file($0).utf8CString)) ?? []) }
    return Dictionary(uniqueKeysWithValues: known)
  }
}
