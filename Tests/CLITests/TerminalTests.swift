import Foundation
import TestSupport
import Testing

/// What a person sees on a terminal.
@Suite(.blocking) struct TerminalTests {
  /// A way in which a run can end.
  struct End: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What its second entry is answered with.
    var answer = ""
    var signal: Int32?
    let code: Int32
    /// What the last lines say.
    let saying: [String]
  }

  static let ends = [
    End(testDescription: "success", code: 0, saying: ["a-job: succeeded: 2 filtered", "outbox/a-job/report.json"]),
    End(
      testDescription: "a failure", answer: "?404", code: 1,
      saying: ["1 failed with http-status (404): a-job: b", "  remedy: "]),
    End(testDescription: "SIGINT", signal: SIGINT, code: 130, saying: ["stopping; "]),
    End(testDescription: "SIGTERM", signal: SIGTERM, code: 143, saying: ["stopping; "]),
  ]

  private static func isOfDisplay(_ line: String) -> Bool {
    line.contains(/\[[=> ]{8,}\]|[0-9]\/[0-9]|so far|^paused: x.lock/)
  }

  @Test(arguments: ends)
  func `progress is shown while it runs, and nothing is left of it`(end: End) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("a-job.txt", server.url("a") + "\n" + server.url("b") + end.answer + "\n")
    let steps: [PseudoTerminal.Step] =
      [.until("] 0/2")] + (end.signal.map { [.signal($0), .until("stopping")] } ?? []) + [.until("so far")]
    let terminal = try PseudoTerminal(
      ["run", "--filters", "none"] + folders.options, in: folders.folder, columns: 250, steps: steps)
    #expect(try terminal.waitForStep(steps.count))
    try server.release(2)
    let screen = try terminal.finish()
    #expect(screen.code == end.code, "\(screen.lines)")
    #expect(!screen.lines.contains(where: Self.isOfDisplay), "\(screen.lines)")
    #expect(screen.column == 0, "the cursor is in the first column")
    for said in end.saying { #expect(screen.lines.contains { $0.contains(said) }, "\(said): \(screen.lines)") }
    #expect(
      screen.lines.first?.contains("a-job: 2 entries") == true, "what is said stays in its place: \(screen.lines)")
  }

  @Test(arguments: [20, 40, 200])
  func `a pause is shown, lines never wrap, and an error that ends the program leaves nothing of it`(columns: Int)
    throws
  {
    let folders = try DarkroomFolders()
    try folders.drop("写真-日本語の仕事.txt", "coffee.jpg\nchelsea.jpg\n")
    try folders.drop("x.lock", "until the nightly backup of 写真 is done\n")
    let terminal = try PseudoTerminal(
      ["run", "--filters", "none", "--lock-wait", "4"] + folders.options, in: folders.folder, columns: columns,
      steps: [.until("0/2")])
    let screen = try terminal.finish()
    #expect(screen.code == 75, "\(screen.lines)")
    #expect(!screen.lines.contains { $0.contains(/0\/2|so far/) }, "\(screen.lines)")
    #expect(screen.lines.count { $0.hasPrefix("paused: x.lock") } == 1, "that of the log: \(screen.lines)")
    #expect(screen.lines.joined().contains("darkroom: "), "\(screen.lines)")
  }

  @Test func `a second Ctrl-C leaves no progress behind, on a narrow terminal`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("a-job-with-a-rather-long-name.txt", server.url("a") + "\n" + server.url("b") + "\n")
    let terminal = try PseudoTerminal(
      ["run", "--filters", "none"] + folders.options, in: folders.folder, columns: 40,
      steps: [.until("0/2"), .signal(SIGINT), .until("stopping"), .until("so far"), .signal(SIGINT)])
    let screen = try terminal.finish()
    #expect(screen.code == 130)
    #expect(!screen.lines.contains(where: Self.isOfDisplay), "\(screen.lines)")
    #expect(screen.column == 0)
  }

  @Test func `colours are there unless NO_COLOR is set, and with TERM=dumb no sequence at all`() throws {
    for (term, noColour, expected) in [("xterm", "", "\u{1B}[32m"), ("xterm", "1", "\u{1B}["), ("dumb", "", "")] {
      let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
      let folders = try DarkroomFolders()
      try folders.drop("job.txt", "coffee.jpg\n" + server.url("b") + "\n")
      let terminal = try PseudoTerminal(
        ["run", "--filters", "none", "--verbose"] + folders.options, in: folders.folder, term: term,
        environment: ["NO_COLOR": noColour],
        steps: term == "dumb" ? [.until("coffee: filtered")] : [.until("coffee: filtered"), .until("1/2")])
      #expect(try server.nextRequest() == "/b")
      #expect(try terminal.waitForStep(term == "dumb" ? 1 : 2))
      try server.release(1)
      let screen = try terminal.finish()
      #expect(screen.code == 0, "\(screen.lines)")
      #expect(expected.isEmpty || screen.raw.contains(expected))
      #expect(screen.raw.contains(/\u{1B}\[[0-9]+m/) == (expected == "\u{1B}[32m"), "\(screen.raw)")
      #expect(screen.raw.contains("\u{1B}") == !expected.isEmpty)
    }
  }

  @Test func `wait shows the progress of another process, and Ctrl-C ends it without a trace, by the signal`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", server.url("a") + "\n" + server.url("b") + "\n")
    let watch = try folders.start("watch", ["--filters", "none"])
    _ = try server.nextRequest()
    let stopped = try PseudoTerminal(
      ["wait", "job"] + folders.named, in: folders.folder, steps: [.until("] 0/2"), .signal(SIGINT)]
    ).finish()
    #expect(stopped.code == -SIGINT && stopped.lines.isEmpty, "\(stopped)")
    let terminal = try PseudoTerminal(
      ["wait", "job"] + folders.named, in: folders.folder, steps: [.until("] 0/2")])
    #expect(try terminal.waitForStep(1))
    try server.release(2)
    let ended = try terminal.finish()
    #expect(ended.code == 0)
    #expect(ended.lines.joined() == folders.outbox + "/job/report.json", "\(ended.lines)")
    try watch.stop()
  }

  @Test func `status is a table, which --watch keeps in place until Ctrl-C`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\nmissing.jpg\n" + server.url("a") + "\n")
    let watch = try folders.start("watch", ["--filters", "none", "--verbose"])
    for _ in 0..<2 { #expect(try watch.waitForLine(containing: "job: ") != nil) }
    let terminal = try PseudoTerminal(
      ["status", "--watch"] + folders.named, in: folders.folder, columns: 300,
      steps: [.until("job  running   2/3       1"), .until("job  partial   2/3       1"), .signal(SIGINT)])
    #expect(try terminal.waitForStep(1))
    try server.release(1)
    let screen = try terminal.finish()
    #expect(screen.code == -SIGINT)
    #expect(screen.lines.count { $0.hasPrefix("JOB  STATE    DONE  FAILED") } == 1, "\(screen.lines)")
    #expect(screen.lines.contains { $0.hasPrefix("job  partial   2/3       1  ended ") }, "what was there stays")
    let once = try PseudoTerminal(["status"] + folders.named, in: folders.folder, columns: 300, steps: []).finish()
    #expect(once.code == 0 && once.lines == screen.lines, "\(once.lines)")
    try watch.stop()
  }
}
