import Foundation
import Synchronization
import System
import TestSupport
import Testing

@testable import Sandbox

/// Runs of programs that are not confined.
@Suite(.blocking) struct ProgramRunTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(
    _ text: String, limit: Double = 60, wait: () -> Bool = { true }
  ) throws -> (ProgramRun.Ending, lines: [String]) {
    let never = try Mailbox<Void>()
    var lines: [String] = []
    let environment = ["PATH": "/usr/bin:/bin", "NAME": "a b"]
    let run = ProgramRun(
      try folder.writeProgram("#!/bin/sh\n" + text, as: "program"), environment: environment, limit: limit)
    let ending = try run.run(print: { lines.append($0) }) { watch in
      never.wait(by: watch)
      return wait()
    }
    return (ending, lines)
  }

  @Test func `it has its variables, no argument, no input, its output, and no other descriptor`() throws {
    let file = open("/dev/null", O_RDONLY)
    defer { close(file) }
    let text =
      #"echo "$NAME" $#; cat; echo error >&2; for n in 3 4 5 6 7 8 9; do [ -e /dev/fd/$n ] && echo $n; done; env | wc -l"#
    let (ending, lines) = try run("exec 2>&1; " + text)
    #expect(ending == .ended(.exited(0)))
    // The shell adds PWD, and some others of its own.
    #expect(lines.dropLast() == ["a b 0", "error"] && Int(lines.last ?? "") ?? 99 < 8)
  }

  @Test(arguments: [("exit 3", ChildProcess.Ending.exited(3)), ("kill -TERM $$", .signalled(15))])
  func `how it ends is known`(text: String, ending: ChildProcess.Ending) throws {
    #expect(try run(text).0 == .ended(ending))
  }

  @Test func `when its time is over its whole group is killed, and what it has printed is there`() throws {
    let (ending, lines) = try run("sleep 1000 & echo $!; echo half >&2; wait", limit: 0.5)
    #expect(ending == .timedOut && lines.last == "half")
    let child = try #require(lines.first.flatMap { Int32($0) })
    #expect(eventually({ kill(child, 0) }, is: { $0 == -1 }) == -1)
  }

  @Test func `when the caller does not go on it is killed`() throws {
    #expect(try run("sleep 1000", wait: { false }).0 == .stopped)
  }

  @Test func `what it leaves in the background is not awaited`() throws {
    let (ending, lines) = try run("sleep 1000 & echo $!")
    #expect(ending == .ended(.exited(0)))
    kill(try #require(lines.first.flatMap { Int32($0) }), SIGKILL)
  }

  @Test func `one that ends its output early is awaited`() throws {
    let (ending, lines) = try run("echo a; exec >&- 2>&-; sleep 0.2; exit 4")
    #expect(ending == .ended(.exited(4)) && lines == ["a"])
  }

  @Test func `of much output the first lines and the last are printed, and the rest is read`() throws {
    let (ending, lines) = try run("head -c 3000 /dev/zero | tr '\\0' x; echo; seq 100000")
    #expect(ending == .ended(.exited(0)) && lines.count == OutputLines.maxLines + 2)
    #expect(lines[0] == String(repeating: "x", count: OutputLines.maxBytes) + "…" && lines[1] == "1")
    #expect(lines.suffix(2) == ["… and 99900 more lines", "100000"])
  }

  @Test(arguments: [(100, ["99", "100"]), (101, ["100", "101"]), (102, ["… and 1 more line", "102"])])
  func `no line is said to be left out that is printed`(count: Int, end: [String]) throws {
    #expect(try run("seq \(count)").1.suffix(2) == end)
    let last = try run("seq \(count); seq 3 | tr -d 0-9").1.last
    #expect(last == (count > 100 ? end[1] : "… and \(count - 97) more lines"))
  }

  @Test func `one that cannot be started is an error that names it`() throws {
    let path = try folder.write("#!/nowhere", as: "program")
    #expect(throws: SystemError.self) {
      try ProgramRun(path, environment: [:], limit: 1).run(print: { _ in }, wait: { _ in true })
    }
  }
}
