import Foundation
import TestSupport
import Testing

/// What commands that are killed, and locks that flicker, leave behind.
@Suite(.blocking) struct LeftoverTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  private func words(_ arguments: [String]) -> String { arguments.map { "'\($0)'" }.joined(separator: " ") }

  @Test func `the spool of a run from standard input goes with the process, also when it is killed`() throws {
    let run = try DarkroomProcess.run(
      script: """
        mkdir tmp; mkfifo in; exec 3<>in
        TMPDIR=$PWD/tmp darkroom run - \(words(folders.options)) <in 3>&- & pid=$!
        echo '"coffee.jpg"' >&3
        until readlink /proc/$pid/fd/* | grep -q "^$PWD/tmp/"; do sleep 0.05; kill -0 $pid; done
        ls -A tmp; kill -9 $pid; wait $pid || true; ls -A tmp
        """, in: folders.folder)
    #expect(run.status == 0, "\(run.error)")
    #expect(run.output.isEmpty, "\(run.output)")
  }

  @Test func `a run from standard input leaves nothing, and calls it stdin.jsonl`() throws {
    let run = try DarkroomProcess.run(
      script: """
        mkdir tmp; echo '"coffee.jpg"' | TMPDIR=$PWD/tmp darkroom run - --filters none \(words(folders.options)) >report
        ls -A tmp inbox
        """, in: folders.folder)
    #expect(run.status == 0, "\(run.error)")
    #expect(run.output == "inbox:\n.darkroom-instance\n\ntmp:\n")
    #expect(try String(decoding: folders.contents("stdin/report.json"), as: UTF8.self).contains("\"stdin.jsonl\""))
    #expect(try folders.report("stdin").state == "succeeded")
  }

  @Test func `an add that is killed while it writes leaves nothing`() throws {
    let run = try DarkroomProcess.run(
      script: """
        strace -f -qq -o trace -e trace=fsync -e inject=fsync:signal=KILL \
          darkroom add --inbox inbox --name job http://h/a || true
        ls -A inbox; grep -c KILL trace
        """, in: folders.folder)
    #expect(run.output.split(separator: "\n").count == 1, "\(run.output)")
  }

  @Test func `what one left that is killed later goes after an hour`() throws {
    let run = try DarkroomProcess.run(
      script: """
        strace -f -qq -o trace -e trace=renameat2 -e inject=renameat2:signal=KILL \
          darkroom add --inbox inbox --name job http://h/a || true
        ls -A inbox | sed s/add-.*/add-/
        """, in: folders.folder)
    #expect(run.output == ".darkroom-add-\n")
    #expect(try folders.run().status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.inbox).count == 2)
    #expect(
      try DarkroomProcess.run(script: "touch -d '2 hours ago' inbox/.darkroom-add-*", in: folders.folder).status == 0)
    #expect(try folders.run().status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.inbox) == [".darkroom-instance"])
  }

  @Test func `a parked manifest of a job that has ended is not processed again`() throws {
    // Its removal fails, so that the manifest of a job that has ended stays.
    for suffix in [""] + (2...9).map({ "-\($0)" }) {
      try Data().write(to: URL(fileURLWithPath: folders.inbox + "/.darkroom-done" + suffix))
    }
    try folders.drop("job.txt", "coffee.jpg\n")
    _ = try folders.run(["--filters", "none"])
    #expect(try folders.inboxNames() == ["job.txt"])
    // As when the program dies between moving and removing it.
    let parked = try DarkroomProcess.run(
      script: "cd inbox; rm .darkroom-done*; mkdir -m 700 .darkroom-done; mv job.txt .darkroom-done",
      in: folders.folder)
    #expect(parked.status == 0)
    let run = try folders.run(["--filters", "none"])
    #expect(run.status == 0 && run.output.isEmpty, "\(run.output)\(run.error)")
    #expect(!folders.exists("job/history"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.inbox) == [".darkroom-instance"])
  }
}
