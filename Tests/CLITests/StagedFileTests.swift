import Foundation
import TestSupport
import Testing

/// What lies in staging while jobs are live: whatever ends an entry, its files go, while the instance goes on.
@Suite(.blocking) struct StagedFileTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
  }

  private static let variants = #""variants": [{"name": "a"}, {"name": "b", "filters": "none"}, {"name": "c"}]"#

  /// Waits until staging is as it should be.
  private func waitForStaging(_ isFine: ([String]) -> Bool) throws -> Bool {
    for _ in 0..<1200 {
      if isFine(try folders.staged()) { return true }
      usleep(50_000)
    }
    return false
  }

  private func stop(_ watch: DarkroomProcess) throws {
    try watch.stop()
    try folders.checkOutbox()
  }

  @Test func `sources of variants that did not begin go with their job`() throws {
    try folders.drop("job.jsonl", #"{"url": "\#(server.url("x"))", "name": "x", \#(Self.variants)}"#)
    let watch = try folders.start("watch", ["--cache-size", "0", "--verbose"])
    #expect(try server.nextRequest() == "/x")
    try folders.pause(watch)
    try server.release(1)
    #expect(try waitForStaging { $0.count { $0.hasSuffix(".source") } == 3 })
    #expect(try folders.ask("cancel", ["job"]).status == 0)
    #expect(try watch.waitForLine(containing: "job: cancelled: 0 filtered") != nil)
    // The instance writes the outbox's page there.
    #expect(try eventually({ try folders.staged() }, is: \.isEmpty) == [])
    try stop(watch)
  }

  @Test func `an original that is complete when its job is cancelled goes with its result`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    // The filtration is held where both files are written and its record does not say so yet.
    let hold = "-e trace=sync_file_range -e inject=sync_file_range:delay_enter=4000000:when=1"
    let run = try DarkroomProcess.run(
      script: """
        strace -f -qq -o /dev/null \(hold) \(folders.line("run", ["--keep-originals"])) & pid=$!
        until find outbox -name '*.original' | grep -q .; do sleep 0.05; kill -0 $pid; done
        darkroom cancel job --inbox inbox --outbox outbox
        wait $pid || true
        """, in: folders.folder)
    #expect(try folders.staged().isEmpty, "\(run.output)\(run.error)")
    // On a machine that is very busy it may have been done before it was cancelled.
    let counts = try folders.report("job").counts
    #expect(counts.total == 1 && folders.exists("job/originals/coffee.jpg") == (counts.filtered == 1))
  }
}
