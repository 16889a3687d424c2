import Foundation
import TestSupport
import Testing

/// The ledger cannot be read once (EIO), which SQLite reports as damage.
@Suite(.blocking) struct LedgerReadErrorTests {
  private let folders: DarkroomFolders
  private var ledger: String { folders.outbox + "/.darkroom/ledger.sqlite" }

  init() throws { folders = try DarkroomFolders() }

  /// Runs the program under `strace`, which injects something into calls about a file.
  private func run(_ path: String, _ call: String, _ fault: String) throws -> DarkroomProcess.Finished {
    let line = (["run"] + folders.options + ["--filters", "none"]).map { "'\($0)'" }.joined(separator: " ")
    return try DarkroomProcess.run(
      script: "strace -f -qq -o /dev/null -P '\(path)' -e trace=\(call) -e inject=\(call):\(fault) darkroom \(line)",
      in: folders.folder)
  }

  private func expectNoRebuild(_ ended: DarkroomProcess.Finished, _ number: Int) throws {
    #expect(ended.status == 0, "\(number): \(ended.error)")
    #expect(!ended.error.contains("malformed") && !ended.error.contains("damaged"), "\(number): \(ended.error)")
    #expect(!folders.exists(".darkroom/damaged"), "\(number)")
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2))
    #expect(!folders.exists("job/history"), "\(number): one run, one report")
    #expect(try folders.inboxNames().isEmpty)
  }

  /// The calls of each thread are counted by themselves.
  @Test(arguments: Array(1...6).sample(2))
  func `a read that fails once is tried again, and nothing is made anew or done twice`(number: Int) throws {
    try folders.drop("other.txt", "rocket.jpg\n")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    try folders.drop("job.txt", "coffee.jpg\nchelsea.jpg\n")
    try expectNoRebuild(run(ledger, "pread64", "error=EIO:when=\(number)"), number)
  }

  @Test(arguments: Array(1...6).sample(2))
  func `a journal that cannot be read at a start is no damage of the ledger`(number: Int) throws {
    try folders.drop("job.txt", "coffee.jpg\nchelsea.jpg\n")
    // In the middle of a commit, when the journal is complete.
    _ = try run(ledger, "pwrite64", "signal=KILL:when=3")
    let journal = try Data(contentsOf: URL(fileURLWithPath: ledger + "-journal"))
    #expect(journal.count > 512)
    try expectNoRebuild(run(ledger + "-journal", "pread64", "error=EIO:when=\(number)"), number)
  }
}
