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
    watch.send(SIGTERM)
    _ = try watch.finish()
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
    let run = try folders.run(["--filters", "none"])
    #expect(run.status == 1, "\(run.error)")
    let report = try folders.report("job")
    #expect(report.entries.map { $0.error?.code } == ["name-conflict", nil])
    #expect(report.entries[0].error?.message.contains("symbolic link") == true)
    try expectUntouched()
  }

  @Test func `a state that is a symbolic link in the outbox is refused`() throws {
    try link(".darkroom", to: elsewhere.path)
    let run = try folders.run()
    #expect(run.status == 73)
    #expect(run.error.contains("\(folders.outbox)/.darkroom is a symbolic link"), "\(run.error)")
    try expectUntouched()
  }

  @Test func `without openat2 jobs are done, and links are refused, too`() throws {
    try link("linked", to: elsewhere.path)
    try link("deep/images/sub", to: elsewhere.path)
    try folders.drop("good.txt", "coffee.jpg\n out=some/where/a\n")
    try folders.drop("deep.txt", "coffee.jpg\n out=sub/a\n")
    let words = (["run", "--filters", "none"] + folders.options).map { "'\($0)'" }.joined(separator: " ")
    let run = try DarkroomProcess.run(
      script: "strace -f -qq -o trace -e trace=openat2 -e inject=openat2:error=ENOSYS darkroom \(words)",
      in: folders.folder)
    #expect(run.status == 1, "\(run.error)")
    #expect(folders.folder.text("trace")?.contains("INJECTED") == true)
    #expect(try folders.report("good").state == "succeeded")
    #expect(folders.exists("good/images/some/where/a.jpg"))
    #expect(try folders.report("deep").entries.first?.error?.code == "name-conflict")
    try expectUntouched()
  }
}
