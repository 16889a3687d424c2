import Foundation
import TestSupport
import Testing

@testable import DarkroomCLI

/// What becomes of standard output that nobody reads, or that cannot be written.
@Suite(.blocking) struct StandardOutputTests {
  @Test(arguments: [["--quiet"], []])
  func `where results and log go to one place, a report's path and a failure are there once`(options: [String]) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "missing.jpg\n")
    try folders.drop("wrong.json", #"{"a": {"ulr": "coffee.jpg"}}"#)
    let run = try DarkroomProcess.run(script: folders.line("run", options) + " 2>&1", in: folders.folder)
    for report in ["job/report.json", "wrong/report.json"] {
      #expect(run.output.components(separatedBy: report).count == 2, "\(run.output)")
    }
    #expect(run.output.components(separatedBy: "missing: ").count == 2, "\(run.output)")
    #expect(run.output.components(separatedBy: "remedy").count == 2, "\(run.output)")
    #expect(!run.output.contains("to try again"), "\(run.output)")
  }

  @Test(arguments: ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
  func `the log is written into no file of the program where standard streams are closed`(closed: String) throws {
    let folders = try DarkroomFolders()
    let script = """
      exec 9>told
      \(folders.line("watch", [])) \(closed) &
      until grep -q '"running":true' outbox/.darkroom/status.json 2>/dev/null; do sleep 0.02; done
      for stream in 0 1 2; do readlink /proc/$!/fd/$stream >&9; done
      kill $!
      wait $! && echo ended >&9
      """
    _ = try DarkroomProcess.run(script: script, in: folders.folder)
    let told = try String(contentsOfFile: folders.folder.file("told"), encoding: .utf8).split(separator: "\n")
    let numbers = ["<&-": [0], ">&-": [1], "2>&-": [2]][closed] ?? [0, 1, 2]
    #expect(told.count == 4 && told.last == "ended" && numbers.allSatisfy { told[$0] == "/dev/null" }, "\(told)")
    try folders.checkOutbox()
  }

  /// Runs the program with a pipe as its standard output whose reader is gone, and prints how it ended, as Python says it:
  /// the negative of a signal's number.
  private static let withoutReader = """
    import os, subprocess, sys
    read, write = os.pipe()
    os.close(read)
    print(subprocess.run(["darkroom"] + sys.argv[1:], stdout=write).returncode)
    """

  private func endWithoutReader(_ words: [String], in folder: TemporaryFolder) throws -> DarkroomProcess.Finished {
    try Self.withoutReader.write(toFile: folder.file("without-reader.py"), atomically: true, encoding: .utf8)
    let quoted = words.map { "'\($0)'" }.joined(separator: " ")
    return try DarkroomProcess.run(script: "/usr/bin/python3 without-reader.py \(quoted)", in: folder)
  }

  /// Commands that only print.
  private static let printing = [
    ["filters"], ["help"], ["--version"], ["help", "run"], ["check", packageRoot + "/Samples/demo.plist"],
  ]

  @Test(arguments: printing)
  func `a command that only prints ends when its reader has gone`(words: [String]) throws {
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let failure = #expect(throws: StandardOutput.Failure.self) {
      try DarkroomCommand.run(words, output: pipe.fileHandleForWriting.fileDescriptor)
    }
    #expect(failure?.isReaderGone == true)
  }

  @Test func `that ends the program quietly, by SIGPIPE`() throws {
    let ended = try endWithoutReader(["filters"], in: TemporaryFolder())
    #expect(ended.output == "-\(SIGPIPE)\n")
    #expect(ended.error.isEmpty, "\(ended.error)")
  }

  @Test func `run goes on without a reader, and ends as it would with one`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    let ended = try endWithoutReader(["run", "--filters", "none", "--quiet"] + folders.options, in: folders.folder)
    #expect(ended.output == "0\n")
    #expect(ended.error.isEmpty, "\(ended.error)")
    #expect(try folders.report("job").state == "succeeded")
  }

  @Test(arguments: printing)
  func `a command that cannot write its output says so and ends with 73`(words: [String]) throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let run = try DarkroomCommand.run(words, output: full.fileDescriptor).expect(status: 73)
    #expect(run.error == "darkroom: standard output: No space left on device (write)\n")
  }

  @Test func `so does the program`() throws {
    let run = try DarkroomProcess.run(script: "darkroom filters > /dev/full", in: TemporaryFolder()).expect(status: 73)
    #expect(run.error == "darkroom: standard output: No space left on device (write)\n")
  }

  @Test(arguments: [[], ["--json"]])
  func `run does its work when standard output cannot be written, says so once, and ends with 73`(
    more: [String]
  ) throws {
    let folders = try DarkroomFolders()
    try folders.drop("a.txt", "coffee.jpg\n")
    try folders.drop("b.txt", "coffee.jpg\n")
    let line = folders.line("run", ["--filters", "none"] + more)
    let run = try DarkroomProcess.run(script: line + " > /dev/full", in: folders.folder).expect(status: 73)
    #expect(run.error.matches(of: /warning: standard output: No space left on device/).count == 1, "\(run.error)")
    for job in ["a", "b"] { #expect(try folders.report(job).state == "succeeded") }
  }

  @Test func `add drops all manifests, whether their names can be printed or not`() throws {
    let folder = try TemporaryFolder()
    try folder.makeFolder("inbox")
    for name in ["a.txt", "b.txt"] { try folder.write("https://h.example/a.jpg\n", as: name) }
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let words = ["add", "--inbox", folder.file("inbox"), folder.file("a.txt"), folder.file("b.txt")]
    #expect(try DarkroomCommand.run(words, output: full.fileDescriptor).status == 73)
    #expect(try folder.names(in: "inbox") == ["a.txt", "b.txt"])
  }
}
