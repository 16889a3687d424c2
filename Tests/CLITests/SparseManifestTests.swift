import Foundation
import TestSupport
import Testing

/// Manifests that seem to have, or have, more bytes than anybody wants to read.
@Suite(.blocking) struct SparseManifestTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  /// Makes a manifest of 12 GiB that takes no room.
  private func dropSparse(_ name: String) throws {
    try folders.drop(name, "coffee.jpg\n")
    #expect(truncate(folders.inbox + "/" + name, 12 << 30) == 0)
  }

  @Test(arguments: ["txt", "jsonl", "csv.gz", "json"])
  func `a sparse manifest is rejected, moved and copied nowhere, and the good one beside it is processed`(
    suffix: String
  ) throws {
    try dropSparse("sparse." + suffix)
    let check = try DarkroomCommand.run(["check", folders.inbox + "/sparse." + suffix])
    #expect(check.status == 65 && check.output.contains("12884901888"), "\(check.output)\(check.error)")
    try folders.drop("good.txt", "coffee.jpg\n")
    try folders.run(["--filters", "none"]).expect(status: 65)
    #expect(try folders.report("sparse").errors?.map(\.code) == ["too-large"])
    #expect(try folders.report("good").state == "succeeded")
    #expect(try folders.inboxNames().isEmpty)
    let moved = folders.outbox + "/sparse/manifest." + suffix
    var status = stat()
    #expect(stat(moved, &status) == 0 && status.st_size == 12 << 30 && status.st_blocks < 1000)
    #expect(try DarkroomProcess.run(script: "du -s --block-size=1M .", in: folders.folder).output.hasPrefix("1\t"))
    let again = try folders.run(["--filters", "none"])
    #expect(again.status == 0 && again.output.isEmpty, "\(again.error)")
  }

  @Test func `a large manifest that is being copied does not keep the program from ending`() throws {
    let folder = folders.folder
    // Really written, and read slowly.
    let line = String(repeating: "coffee.jpg\n", count: 100_000)
    try folders.drop("large.txt", String(repeating: line, count: 64))
    let watch = try DarkroomProcess(
      script: """
        strace -f -qq -o /dev/null -P '\(folders.inbox)/large.txt' -e trace=read -e inject=read:delay_enter=500000 \
          \(folders.line("watch", ["--filters", "none", "--grace", "3"]))
        """, in: folder)
    #expect(try watch.waitForLine(containing: "watching") != nil)
    let jobs = folders.outbox + "/.darkroom/jobs"
    _ = eventually(
      { (try? FileManager.default.contentsOfDirectory(atPath: jobs)) ?? [] }, is: { !$0.isEmpty })
    let process = try DarkroomProcess.run(
      script: "sed -E 's/.*\"process\":([0-9]+).*/\\1/' '\(folders.outbox)/.darkroom/status.json'", in: folder)
    let number = try #require(Int32(process.output.trimmingCharacters(in: .whitespacesAndNewlines)))
    let began = ContinuousClock.now
    kill(number, SIGTERM)
    #expect(try watch.finish().status == 0)
    #expect(ContinuousClock.now - began < .seconds(10))
    #expect(try FileManager.default.contentsOfDirectory(atPath: jobs).isEmpty)
    #expect(try folders.inboxNames() == ["large.txt"])
  }
}
