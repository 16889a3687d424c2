import Foundation
import TestSupport
import Testing

/// `script/check-outbox`: finds what is wrong with an outbox, and nothing where nothing is.
@Suite(.blocking) struct OutboxCheckTests {
  private static let program = "'\(TestPython.interpreter)' '\(packageRoot)/script/check-outbox'"
  private let folders: DarkroomFolders

  /// An outbox as the program leaves it: `a` has run twice, an entry of `b` has failed. Each test has a copy.
  private static let made = Shared {
    let folders = try DarkroomFolders()
    let picture = "coffee.jpg\n"
    try folders.drop("a.txt", picture)
    try folders.drop("b.txt", "rocket.jpg\nmissing.jpg\nchelsea.jpg\n")
    #expect(try folders.run(["--filters", "none"]).status == 1)
    try folders.drop("a.csv", "url,name\nchelsea-small.png,one\nrocket.jpg,two\nrocket.jpg,three\n")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    return folders
  }

  init() throws {
    folders = try DarkroomFolders()
    let made = try Self.made.value.folder.path
    #expect(try SpawnedProcess.run("/bin/cp", ["-a", made + "/.", folders.folder.path]) == 0)
  }

  /// Runs it as a user does.
  private func check(_ options: [String] = []) throws -> (status: Int32, result: Result) {
    let words = [folders.outbox, "--json"] + options
    let finished = try DarkroomProcess.run(
      script: Self.program + " " + words.map { "'\($0)'" }.joined(separator: " "), in: folders.folder)
    return (finished.status, try JSONDecoder().decode(Result.self, from: Data(finished.output.utf8)))
  }

  private struct Result: Decodable {
    struct Problem: Decodable {
      let kind, path, message: String
    }
    let ok, running, decoded: Bool
    let jobs, runs, rows, files: Int
    let problems: [Problem]
  }

  @Test func `an outbox as the program leaves it has no problems`() throws {
    let (status, result) = try check(["--inbox", folders.inbox, "--done"])
    #expect(status == 0 && result.ok && result.decoded && !result.running, "\(result.problems)")
    #expect(result.jobs == 2 && result.runs == 3 && result.rows == 7 && result.files == 5)
  }

  @Test func `what the program ignores in the inbox is no manifest that should have ended`() throws {
    let names = [
      "index.html.json", "a\u{7}b.txt", String(repeating: "x", count: 201) + ".csv", "README.txt", ".x.json",
    ]
    for name in names { try Data("x".utf8).write(to: URL(fileURLWithPath: folders.inbox + "/" + name)) }
    let notText =
      Array((folders.inbox + "/").utf8CString.dropLast()) + [CChar(bitPattern: 0xff)] + Array(".txt".utf8CString)
    close(open(notText, O_CREAT | O_WRONLY, 0o644))
    #expect(try check(["--inbox", folders.inbox, "--done"]).result.problems.isEmpty)
    try Data("x".utf8).write(to: URL(fileURLWithPath: folders.inbox + "/x.txt"))
    #expect(try check(["--inbox", folders.inbox, "--done"]).result.problems.map(\.kind) == ["inbox-manifest"])
  }

  @Test func `damage is found and named`() throws {
    for damage in OutboxDamage.all {
      let copy = try DarkroomFolders(copying: folders)
      // The checker runs in the worker that has Pillow loaded, after the damage.
      let script = """
        \(OutboxDamage.prelude)\(damage.script)
        import runpy
        sys.argv = ["check-outbox", out, "--json", "--inbox", inbox, "--done"]
        try:
            runpy.run_path("\(packageRoot)/script/check-outbox", run_name="__main__")
        except SystemExit as end:
            if end.code != 1: raise
        else:
            sys.exit("the checker has not said how it ended")
        """
      let printed = try TestPython.run(script, [copy.outbox, copy.inbox])
      let result = try JSONDecoder().decode(Result.self, from: printed)
      let kinds = Set(result.problems.map(\.kind))
      #expect(kinds == Set([damage.kind] + damage.consequences), "\(damage.kind): \(result.problems)")
    }
  }

  @Test func `runs are in the order of their names, also when the clock was set back between them`() throws {
    let script = "report(lambda value: value.update(started_at='9999', finished_at='9999'), earlier() + '/report.json')"
    _ = try TestPython.run(OutboxDamage.prelude + script, [folders.outbox, folders.inbox])
    let (status, result) = try check()
    #expect(status == 0 && result.ok, "\(result.problems)")
  }

  @Test func `every kind of problem has an outbox that is broken so`() throws {
    let kinds = try DarkroomProcess.run(script: "\(Self.program) --kinds", in: folders.folder).output
    let names = kinds.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(Set(names) == Set(OutboxDamage.all.map(\.kind)))
  }

  @Test func `what is under way while an instance runs is no problem`() throws {
    let watch = try folders.watch(["--filters", "none", "--verbose"])
    let damage = ["staging-left", "snapshot-left"].compactMap { kind in OutboxDamage.all.first { $0.kind == kind } }
    for damage in damage {
      _ = try TestPython.run(OutboxDamage.prelude + damage.script, [folders.outbox, folders.inbox])
    }
    let (status, result) = try check(["--inbox", folders.inbox])
    #expect(status == 0 && result.running, "\(result.problems)")
    try watch.stop()
  }

  /// What a delivery of an original leaves that was interrupted: the file in staging, and the copy that it makes where files cannot
  /// have two names.
  private func leaveEarlyOriginal() throws {
    let hidden = folders.outbox + "/.darkroom"
    let snapshot = try #require(try FileManager.default.contentsOfDirectory(atPath: hidden + "/jobs").first)
    let runID = snapshot.prefix { $0 != "." }
    let staging = try #require(try FileManager.default.contentsOfDirectory(atPath: hidden + "/staging").first)
    for name in ["1.early", "1.early.copy"] {
      try Data("x".utf8).write(to: URL(fileURLWithPath: "\(hidden)/staging/\(staging)/\(runID)-\(name)"))
    }
  }

  @Test func `a job that was interrupted is no problem unless all must be done`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("c.txt", server.url("1") + "\n" + server.url("2") + "\n")
    let run = try folders.start("run", ["--downloads", "2", "--filters", "none"])
    for _ in 0..<2 { _ = try server.nextRequest() }
    try run.kill()
    try leaveEarlyOriginal()
    #expect(try check().status == 0)
    let (status, result) = try check(["--done", "--inbox", folders.inbox])
    #expect(status == 1)
    #expect(result.problems.contains { $0.kind == "job-unfinished" })
    #expect(result.problems.contains { $0.kind == "inbox-manifest" })
  }

  @Test func `what the program ignores in the inbox is no manifest`() throws {
    for name in ["c.txt.tmp", "~$d.csv", "README.txt", "notes.docx", "x.lock"] { try folders.drop(name, "x") }
    let link = folders.inbox + "/link.txt"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: packageRoot + "/Package.swift")
    let (status, result) = try check(["--inbox", folders.inbox, "--done"])
    #expect(status == 0 && result.ok, "\(result.problems)")
  }

  @Test func `a picture that is copied has the size in which it is stored, whatever turns it`() throws {
    let script =
      "from PIL import Image; import sys\nexif = Image.Exif(); exif[274] = 6\n"
      + "Image.new('RGB', (30, 20)).save(sys.argv[1], exif=exif)"
    _ = try TestPython.run(script, [folders.folder.file("turned.tif")])
    try folders.drop("turned.txt", folders.folder.file("turned.tif") + "\n")
    let options = ["--filters", "none", "--metadata", "all", "--file-root", folders.folder.path]
    try DarkroomProcess.run(["run"] + folders.named + options, in: folders.folder).expect(status: 0)
    #expect(try folders.report("turned").entries.first?.output?.width == 30)
    let (status, result) = try check()
    #expect(status == 0 && result.ok, "\(result.problems)")
  }

  @Test func `a reader that ends early is no error`() throws {
    let words = "'\(folders.outbox)' --kinds | head -n 1"
    let finished = try DarkroomProcess.run(
      script: "for turn in $(seq 20); do \(Self.program) \(words); done", in: folders.folder)
    #expect(finished.error.isEmpty, "\(finished.error)")
  }

  @Test(arguments: [("--wrong", Int32(64)), ("", 64), ("'/nowhere'", 66)])
  func `mistakes have exit codes of their own`(arguments: String, status: Int32) throws {
    let finished = try DarkroomProcess.run(
      script: "\(Self.program) \(arguments)", in: folders.folder)
    #expect(finished.status == status, "\(finished.error)")
  }
}
