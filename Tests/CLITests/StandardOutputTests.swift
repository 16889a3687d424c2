import Foundation
import TestSupport
import Testing

/// What becomes of standard output that nobody reads, or that cannot be written.
@Suite(.blocking) struct StandardOutputTests {
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

  @Test(arguments: [["filters"], ["help"], ["--version"], ["check", packageRoot + "/Samples/demo.plist"]])
  func `a command that only prints ends quietly when its reader has gone`(words: [String]) throws {
    let ended = try endWithoutReader(words, in: TemporaryFolder())
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

  @Test(arguments: ["filters", "help", "--version", "help run", "check '\(packageRoot)/Samples/demo.plist'"])
  func `a command that cannot write its output says so and ends with 73`(words: String) throws {
    let run = try DarkroomProcess.run(script: "darkroom \(words) > /dev/full", in: TemporaryFolder())
    #expect(run.status == 73)
    #expect(run.error == "darkroom: standard output: No space left on device (write)\n")
  }

  @Test(arguments: [[], ["--json"]])
  func `run does its work when standard output cannot be written, says so once, and ends with 73`(
    more: [String]
  ) throws {
    let folders = try DarkroomFolders()
    try folders.drop("a.txt", "coffee.jpg\n")
    try folders.drop("b.txt", "coffee.jpg\n")
    let words = (["run", "--filters", "none"] + more + folders.options).map { "'\($0)'" }.joined(separator: " ")
    let run = try DarkroomProcess.run(script: "darkroom \(words) > /dev/full", in: folders.folder)
    #expect(run.status == 73)
    #expect(run.error.matches(of: /warning: standard output: No space left on device/).count == 1, "\(run.error)")
    for job in ["a", "b"] { #expect(try folders.report(job).state == "succeeded") }
  }

  @Test func `add drops all manifests, whether their names can be printed or not`() throws {
    let folder = try TemporaryFolder()
    for name in ["a.txt", "b.txt"] {
      try "https://h.example/a.jpg\n".write(toFile: folder.file(name), atomically: false, encoding: .utf8)
    }
    let add = try DarkroomProcess.run(script: "mkdir inbox; darkroom add a.txt b.txt > /dev/full", in: folder)
    #expect(add.status == 73)
    let dropped = try FileManager.default.contentsOfDirectory(atPath: folder.file("inbox"))
    #expect(Set(dropped) == ["a.txt", "b.txt"])
  }
}
