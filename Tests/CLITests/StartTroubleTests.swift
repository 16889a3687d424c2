import Foundation
import TestSupport
import Testing

/// What the machine fails at the start is tried again, and signals are taken in from the beginning.
@Suite(.blocking) struct StartTroubleTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  /// Runs the program under `strace`, which has a call fail.
  private func run(_ fault: String, _ words: [String]) throws -> DarkroomProcess.Finished {
    let line = (words + folders.options + ["--filters", "none"]).map { "'\($0)'" }.joined(separator: " ")
    return try DarkroomProcess.run(script: "strace -f -qq -o /dev/null \(fault) darkroom \(line)", in: folders.folder)
  }

  static let faults = [
    "-e trace=ftruncate -e inject=ftruncate:error=EIO:when=1",
    "-e trace=ftruncate -e inject=ftruncate:error=EROFS:when=1",
    "-P OUTBOX -e trace=openat -e inject=openat:error=EMFILE:when=1",
    "-P INBOX -e trace=openat -e inject=openat:error=EIO:when=1",
    "-e trace=mkdirat -e inject=mkdirat:error=EIO:when=1",
  ]

  @Test(arguments: faults)
  func `one error of the machine at the start delays it by a second, and is told`(fault: String) throws {
    let fault = fault.replacing("OUTBOX", with: folders.outbox).replacing("INBOX", with: folders.inbox)
    try folders.drop("job.txt", "coffee.jpg\n")
    let ended = try run(fault, ["run"]).expect(status: 0)
    #expect(ended.error.matches(of: /the start fails now, and is tried again in 1 s/).count == 1, "\(ended.error)")
    #expect(try folders.report("job").counts == Report.Counts(total: 1, filtered: 1))
  }

  /// As without a free inode.
  @Test func `want of space for a new ledger is one to try again later`() throws {
    let ledger = folders.outbox + "/.darkroom/ledger.sqlite"
    let ended = try run("-P \(ledger) -e trace=openat -e inject=openat:error=ENOSPC", ["run"]).expect(status: 75)
    #expect(ended.error.contains("ledger.sqlite") && ended.error.contains("No space left on device"), "\(ended.error)")
  }

  @Test func `a manifest that was named and cannot be read now is read later, and is not missing`() throws {
    let path = folders.folder.file("named.txt")
    try Data("coffee.jpg\n".utf8).write(to: URL(fileURLWithPath: path))
    let ended = try run("-P \(path) -e trace=openat -e inject=openat:error=EIO:when=1", ["run", path]).expect(status: 0)
    #expect(ended.error.contains("the start fails now"), "\(ended.error)")
    #expect(try folders.report("named").counts == Report.Counts(total: 1, filtered: 1))
  }

  @Test func `a manifest that cannot be examined is neither ignored nor gone: it waits for the next scan`() throws {
    try folders.drop("a.txt", "coffee.jpg\n")
    try folders.drop("b.txt", "coffee.jpg\n")
    let calls = "faccessat,faccessat2"
    let ended = try run("-P a.txt -e trace=\(calls) -e inject=\(calls):error=EIO:when=1..3", ["run"]).expect(status: 0)
    let told = ended.error.matches(of: /a.txt in the inbox cannot be examined now, and is tried again/).count
    #expect(told == 1, "\(ended.error)")
    #expect(!ended.error.contains("ignored"), "\(ended.error)")
    for job in ["a", "b"] { #expect(try folders.report(job).counts.filtered == 1) }
  }

  /// The exit code of a script that was too late: the job had begun.
  private static let tooLate: Int32 = 99

  @Test(arguments: ["watch", "run"])
  func `a SIGHUP that arrives while the program starts does not end it`(command: String) throws {
    var finished = DarkroomProcess.Finished(status: Self.tooLate, output: "", error: "")
    // The lock of the outbox, the second, is taken once that has its folder, and here some seconds later; a busy machine
    // needs more.
    for seconds in [4, 20, 100] where finished.status == Self.tooLate {
      let folders = try DarkroomFolders()
      let words = ([command] + folders.options + ["--filters", "none"]).map { "'\($0)'" }.joined(separator: " ")
      try folders.drop("job.txt", "coffee.jpg\n")
      finished = try DarkroomProcess.run(
        script: """
          strace -f -qq -o /dev/null -e trace=flock -e inject=flock:delay_enter=\(seconds)000000:when=2 \
            darkroom \(words) 2>said &
          tracer=$!
          until [ -d outbox/.darkroom ]; do sleep 0.05; done
          kill -HUP $(pgrep -P $tracer) || exit \(Self.tooLate)
          [ ! -e outbox/job ] || { pkill -KILL -P $tracer || true; exit \(Self.tooLate); }
          until [ -e outbox/job/report.json ]; do kill -0 $tracer || break; sleep 0.05; done
          [ \(command) = run ] || { until grep -q reloaded said; do kill -0 $tracer || break; sleep 0.05; done; pkill -P $tracer; }
          code=0; wait $tracer || code=$?
          cat said >&2
          exit $code
          """, in: folders.folder)
      #expect(finished.status == Self.tooLate || folders.exists("job/report.json"))
    }
    #expect(finished.status == 0, "\(finished.error)")
    #expect(finished.error.contains("the configuration was reloaded") == (command == "watch"), "\(finished.error)")
  }

  @Test func `others may read the status and nothing else of the hidden folder`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    let finished = try DarkroomProcess.run(
      script: "umask 022; darkroom run \((folders.options).map { "'\($0)'" }.joined(separator: " "))",
      in: folders.folder)
    #expect(finished.status == 0, "\(finished.error)")
    #expect(try folders.mode(".darkroom") == 0o711)
    #expect(try folders.mode(".darkroom/status.json") == 0o644)
    let names = try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/.darkroom")
    for name in names where name != "status.json" {
      #expect(try folders.mode(".darkroom/" + name) & 0o077 == 0, "\(name)")
    }
    let status = try String(decoding: folders.contents(".darkroom/status.json"), as: UTF8.self)
    #expect(!status.contains("coffee.jpg"))
  }
}
