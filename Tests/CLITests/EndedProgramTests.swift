import Foundation
import TestSupport
import Testing

/// `--exec`: a program is run when a job has ended.
@Suite(.blocking) struct EndedProgramTests {
  private let folders: DarkroomFolders
  private var log: String { folders.folder.file("log") }

  init() throws { folders = try DarkroomFolders() }

  /// Writes a script that begins with adding its job and state to `log`.
  private func program(_ text: String = "", as name: String = "program") throws -> String {
    let start = "#!/bin/sh\necho \"$DARKROOM_JOB_NAME $DARKROOM_JOB_STATE\" >>'\(log)'\n"
    return try folders.folder.writeProgram(start + text, as: name)
  }

  private func logged() throws -> [String] {
    try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test func `it knows the job, its state and its report, not the key, and what it says is in the log`() throws {
    let text = #"""
      echo "report $DARKROOM_JOB_REPORT: $(grep -c schema_version "$DARKROOM_JOB_REPORT")"
      echo "key ${DARKROOM_NOTIFY_SECRET-none}, arguments $#"
      printf 'a\033[31mb\n' >&2
      """#
    try folders.drop("a.txt", "coffee.jpg\n")
    let run = try DarkroomProcess.run(
      ["run", "--json"] + folders.options + ["--exec", program(text)], environment: ["DARKROOM_NOTIFY_SECRET": "x"]
    ).expect(status: 0)
    #expect(try logged() == ["a succeeded"])
    #expect(run.error.contains("a: --exec: report \(folders.outbox)/a/report.json: 1\n"))
    #expect(run.error.contains("a: --exec: key none, arguments 0\n") && run.error.contains("a: --exec: a\\x1b[31mb\n"))
    #expect(run.output.contains(#""event":"program-output""#) && !run.error.contains("warning"))
    #expect(try JSONSchema.violations(of: Data(run.output.utf8), name: "events.schema.json") == "")
  }

  @Test func `run waits for one after another, in the order in which jobs ended, whatever their state`() throws {
    for (name, text) in ["a.txt": "coffee.jpg\n", "b.json": "{", "c.txt": "missing.jpg\n"] {
      try folders.drop(name, text)
    }
    let run = try folders.run(["--exec", program("sleep 0.2; echo end >>'\(log)'")])
    let ended = run.output.split(separator: "\n").map { $0.split(separator: "/").dropLast().last ?? "" }
    let states = ["a": "succeeded", "b": "rejected", "c": "failed"]
    #expect(try logged() == ended.flatMap { ["\($0) \(states[String($0)] ?? "")", "end"] } && ended.count == 3)
  }

  @Test func `of several runs of a job each has its own report, also when it is in the history by then`() throws {
    let folder = folders.folder
    for count in 1...3 {
      try folder.makeFolder("\(count)")
      let rows = (0..<count).map { #"{"url": "coffee.jpg", "name": "\#($0)"}"# }
      try folder.write("[" + rows.joined(separator: ",") + "]", as: "\(count)/a.json")
    }
    // The first one waits until the others have ended.
    let text = #"""
      until [ "$(ls '\#(folders.outbox)/a/history' | wc -l)" = 2 ]; do sleep 0.02; done
      echo "$(grep -c '^{"index"' "$DARKROOM_JOB_REPORT") $(grep -c "$DARKROOM_JOB_RUN_ID" "$DARKROOM_JOB_REPORT")" >>'\#(log)'
      """#
    let files = (1...3).map { folder.file("\($0)/a.json") }
    try folders.run(["--exec", program(text)] + files).expect(status: 0)
    let told = try logged().filter { $0 != "a succeeded" }
    #expect(told.dropFirst() == ["2 1", "3 1"], "\(told)")
  }

  @Test func `after two seconds run says that it waits for it`() throws {
    try folders.drop("a.txt", "coffee.jpg\n")
    let awaited = folders.folder.file("awaited")
    let program = try program("until [ -e '\(awaited)' ]; do sleep 0.02; done")
    let run = try folders.start("run", ["--json", "--exec", program])
    #expect(try run.waitForLine(containing: "waiting for the program of --exec, for 1 job") != nil)
    let status = try folders.statusText()
    #expect(status.contains(#""notices":{"exec":1}"#), "\(status)")
    let lines = try folders.ask("status").expect(status: 0).output
    #expect(lines.contains("\nthe program of --exec has not ended for 1 job\n"), "\(lines)")
    #expect(!lines.contains("nothing to do"), "\(lines)")
    try folders.folder.write("", as: "awaited")
    let ended = try run.finish()
    #expect(ended.status == 0 && ended.output.contains(#""event":"notices-awaited""#), "\(ended.output)")
    #expect(try JSONSchema.violations(of: Data(ended.output.utf8), name: "events.schema.json") == "")
  }

  @Test func `its failure is a warning, changes no exit code, and is not repeated`() throws {
    try folders.drop("a.txt", "coffee.jpg\n")
    let program = try program("echo disk is full; exit 3")
    let run = try folders.run(["--quiet", "--exec", program]).expect(status: 0)
    let line = "a: warning: the program of --exec, \(program), exited with 3; it says: disk is full\n"
    #expect(run.error.hasSuffix(line) && run.error.split(separator: "\n").count == 1, "\(run.error)")
    try folders.run(["--exec", program]).expect(status: 0)
    #expect(try logged() == ["a succeeded"])
  }

  /// The policy is the 41st field of `stat`. One that children do not inherit is not the usual one.
  @Test(arguments: [("chrt --other 0 ", "3"), ("chrt --other --reset-on-fork 0 ", "0")])
  func `the process has the policy SCHED_BATCH, and programs inherit it, unless another one was chosen`(
    start: String, policy: String
  ) throws {
    try folders.drop("a.txt", "coffee.jpg\n")
    let program = try program("awk '{print $41}' /proc/$PPID/stat /proc/self/stat >>'\(log)'")
    let command = folders.line("run", ["--exec", program])
    try DarkroomProcess.run(script: start + command, in: folders.folder).expect(status: 0)
    #expect(try logged() == ["a succeeded", policy, policy])
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func `one that had not ended when the process ended is run again by the next`(signal: Int32) throws {
    let watch = try folders.watch(["--grace", "0.2", "--exec", program("echo $$; exec sleep 1000")])
    try folders.drop("a.txt", "coffee.jpg\n")
    let line = try #require(try watch.waitForLine(containing: "--exec: "))
    let process = try #require(line.split(separator: " ").last.flatMap { Int32($0) })
    if signal == SIGTERM {
      #expect(try watch.stop().error.contains("the program of --exec was not run for 1 job: left for the next start"))
      #expect(kill(process, 0) == -1)
    } else {
      try watch.kill()
      kill(process, SIGKILL)
    }
    try folders.run(["--exec", program()]).expect(status: 0)
    #expect(try logged() == ["a succeeded", "a succeeded"])
  }

  @Test func `a second signal ends it, too, so that it does not run beside that of the next start`() throws {
    try folders.drop("a.txt", "coffee.jpg\n")
    let run = try folders.start("run", ["--exec", program("echo $$; exec sleep 1000")])
    let line = try #require(try run.waitForLine(containing: "--exec: "))
    let process = try #require(line.split(separator: " ").last.flatMap { Int32($0) })
    run.send(SIGTERM)
    #expect(try run.waitForLine(containing: "stopping") != nil)
    let status = try eventually({ try folders.statusText() }, is: { $0.contains("stopping") })
    #expect(status.contains(#""stopping":true"#), "\(status)")
    run.send(SIGTERM)
    #expect(try run.finish().status == 143)
    // It may stay as a zombie, whoever has to wait for it.
    let state = eventually(
      { (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? "" },
      is: { $0.isEmpty || $0.contains(") Z ") })
    #expect(state.isEmpty || state.contains(") Z "), "\(state)")
    let next = try folders.run(["--exec", program()]).expect(status: 0)
    #expect(try logged() == ["a succeeded", "a succeeded"], "\(next.error)")
  }

  @Test func `in the configuration file its path is relative to the file's folder`() throws {
    _ = try program()
    let config = try folders.folder.write(#"{ "exec": "program" }"#, as: "config.json")
    try folders.drop("a.txt", "coffee.jpg\n")
    try folders.run(["--config", config]).expect(status: 0)
    #expect(try logged() == ["a succeeded"])
  }

  @Test(arguments: [("none", "No such file"), ("inbox", "is not a program"), ("data", "is not executable")])
  func `one that cannot be run is an error at the start`(name: String, says: String) throws {
    try folders.folder.write("", as: "data")
    try folders.drop("a.txt", "coffee.jpg\n")
    let run = try folders.run(["--exec", folders.folder.file(name)]).expect(status: 66)
    #expect(run.error.hasPrefix("darkroom: --exec: ") && run.error.contains(says), "\(run.error)")
    #expect(!folders.exists("a"))
  }
}
