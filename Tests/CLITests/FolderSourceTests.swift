import Foundation
import TestSupport
import Testing

/// Manifests whose entries are the files of a folder.
@Suite(.blocking) struct FolderSourceTests {
  private let folders: DarkroomFolders

  /// The file root.
  private let root: TemporaryFolder

  init() throws {
    (folders, root) = (try DarkroomFolders(), try TemporaryFolder())
    try FileManager.default.createDirectory(atPath: root.file("incoming/sub"), withIntermediateDirectories: true)
  }

  private func add(_ name: String, of sample: String = "coffee.jpg") throws {
    try FileManager.default.copyItem(atPath: "\(packageRoot)/Samples/\(sample)", toPath: root.file(name))
  }

  private func drop(_ source: String, _ more: String = "") throws {
    try folders.drop("job.json", #"{"source": "\#(source)"\#(more)}"#)
  }

  private var options: [String] { ["--file-root", root.path] }

  private func waitForImage(_ name: String) throws {
    for _ in 0..<2400 {
      if (try? images().contains(name)) == true { return }
      usleep(50_000)
    }
    Issue.record("\(name) was not delivered")
  }

  private func images() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job/images").sorted()
  }

  private func run(_ source: String = "file:incoming/", options more: [String] = []) throws -> Report {
    try drop(source)
    try folders.run(options + more).expect(status: 0)
    return try folders.report("job")
  }

  @Test(arguments: [
    ("file:incoming/", ["a", "a-2", "b%20c #1", "z"]), ("incoming/", ["a", "a-2", "b%20c #1", "z"]),
    ("ROOT/incoming/", ["a", "a-2", "b%20c #1", "z"]), ("file://ROOT/incoming/", ["a", "a-2", "b%20c #1", "z"]),
    ("file:incoming/*.jpg", ["a", "z"]), ("incoming/[ab]*", ["a", "a-2", "b%20c #1"]),
    ("./incoming/?.*", ["a", "a-2", "z"]), ("file://ROOT/incoming/?.*", ["a", "a-2", "z"]),
    ("file:incoming/none*", []), ("file:%69ncoming/z*", ["z"]),
  ])
  func `a folder's files are the entries, in the order of their names`(source: String, names: [String]) throws {
    let ignored = [".hidden.jpg", "y.jpg.part", "README.txt", "x.tmp", "sub/s.jpg"]
    for name in ["a.jpg", "b%20c #1.png", "z.JPG"] + ignored {
      try add("incoming/" + name)
    }
    try add("incoming/a.png", of: "rocket.jpg")
    let link = root.file("incoming/l")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/etc/hostname")
    let report = try run(source.replacing("ROOT", with: root.path))
    #expect(report.state == "succeeded" && (report.warnings ?? []).map(\.code) == (names.isEmpty ? ["no-files"] : []))
    #expect(report.entries.map(\.name) == names)
    #expect(try ReportSchema.violations(of: folders.contents("job/report.json")) == "")
    #expect(try folders.inboxNames().isEmpty && folders.staged().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/.darkroom/jobs") == [])
  }

  @Test func `symbolic links to pictures are named, and no result of such a file is pruned`() throws {
    for name in ["a.jpg", "b.jpg", "c.jpg"] { try add("incoming/" + name) }
    #expect(try run().counts == Report.Counts(total: 3, filtered: 3))
    for name in ["b.jpg", "c.jpg"] {
      let file = root.file("incoming/" + name)
      try FileManager.default.moveItem(atPath: file, toPath: root.file(name))
      try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "../" + name)
    }
    let report = try run(options: ["--prune"])
    #expect(report.counts == Report.Counts(total: 1, filtered: 1, reused: 1))
    #expect(report.warnings?.map(\.code).first == "left-out")
    #expect(report.warnings?.first?.message.hasPrefix("incoming/b.jpg and 1 other are symbolic links") == true)
    #expect(folders.exists("job/images/b.jpg") && folders.exists("job/images/c.jpg"))
  }

  @Test func `a pipe with the name of a picture is named, and nothing else that is no file`() throws {
    try add("incoming/a.jpg")
    for name in ["pipe.jpg", "pipe"] { #expect(mkfifo(root.file("incoming/" + name), 0o600) == 0) }
    let report = try run()
    #expect(report.counts == Report.Counts(total: 1, filtered: 1))
    #expect(
      report.warnings?.map(\.message) == [
        "incoming/pipe.jpg is no file but a pipe, a socket or a device, and is left out"
      ])
  }

  @Test func `dropped again, only what is new or has changed is made`() throws {
    for name in ["a.jpg", "b.jpg", "c.jpg"] { try add("incoming/" + name) }
    #expect(try run().counts == Report.Counts(total: 3, filtered: 3))
    let again = try run()
    #expect(again.counts == Report.Counts(total: 3, filtered: 3, reused: 3) && again.bytes.downloaded == 0)
    try FileManager.default.removeItem(atPath: root.file("incoming/a.jpg"))
    try FileManager.default.removeItem(atPath: root.file("incoming/b.jpg"))
    try add("incoming/b.jpg", of: "rocket.jpg")
    try add("incoming/d.jpg")
    let report = try run()
    #expect(report.counts == Report.Counts(total: 3, filtered: 3, reused: 1))
    #expect(report.entries.map(\.name) == ["b", "c", "d"])
    #expect(report.entries.map { $0.reused ?? false } == [false, true, false])
  }

  @Test func `dropped again while it runs, what has changed is made again`() throws {
    let gate = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    for name in ["a.jpg", "b.jpg"] { try add("incoming/" + name) }
    let entries = #"{"a": "incoming/a.jpg", "b": "incoming/b.jpg", "gate": "\#(gate.url("g"))"}"#
    try folders.drop("job.json", entries)
    let watch = try folders.start("watch", options + ["--verbose"])
    for name in ["a", "b"] { try waitForImage(name + ".jpg") }
    #expect(try gate.nextRequest() == "/g")
    try FileManager.default.removeItem(atPath: root.file("incoming/b.jpg"))
    try add("incoming/b.jpg", of: "rocket.jpg")
    try folders.drop("job.json", entries + "\n")
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try gate.release(1)
    #expect(try watch.waitForLine(containing: "job: succeeded: 3 filtered") != nil)
    let rows = try folders.report("job").entries
    #expect(rows.map { $0.reused ?? false } == [true, false, true])
    #expect(rows[0].source?.sha256 != rows[1].source?.sha256)
    #expect(try gate.requestsSoFar() == [])
    try watch.stop()
  }

  @Test(arguments: ["file:incoming/", "file:incoming/*.png"])
  func `a folder without files succeeds with a warning`(source: String) throws {
    if source.contains("*") { try add("incoming/a.jpg") }
    try add("incoming/sub/b.png", of: "chelsea-small.png")
    let report = try run(source)
    #expect(report.state == "succeeded" && report.counts.total == 0)
    let warning = try #require(report.warnings?.first)
    #expect(warning.code == "no-files" && warning.where == "source")
    #expect(report.warnings?.count == (source.contains("*") ? 1 : 2), "the folder in it is a hint")
    #expect(warning.message == source.replacing("file:", with: "./") + " has no pictures", "\(warning)")
    #expect(try ReportSchema.violations(of: folders.contents("job/report.json")) == "")
  }

  @Test(arguments: [
    ("incoming/", #"1 folder is not looked into; "source": "file:incoming/**" takes those beneath, too"#),
    ("file:incoming/s*", #"1 folder is not looked into; "source": "file:incoming/**/s*" takes those beneath, too"#),
    (
      "incoming/*.{jpg,png}",
      #"braces are not expanded in *.{jpg,png}; write ["file:incoming/*.jpg","file:incoming/*.png"] as "source""#
    ),
  ])
  func `where no picture is found, the warning says which source would find some`(source: String, hint: String) throws {
    try add("incoming/sub/s.jpg")
    if source.contains("{") { try add("incoming/s.jpg") }
    #expect(try run(source).warnings?.map(\.message).last == hint)
    let advised = try #require(hint.firstMatch(of: /\[.*\]|"file:[^"]*"/)).output
    try folders.drop("job.json", #"{"source": \#(advised)}"#)
    try folders.run(options).expect(status: 0)
    #expect(try folders.report("job").entries.map { $0.name.suffix(1) } == ["s"])
  }

  @Test(arguments: [
    (
      #"["incoming/*.png", "file:other/", "!drafts/"]"#,
      #"1 folder is not looked into; "file:other/**" in "source" takes those beneath, too"#
    ),
    (
      #"["incoming/*.{png,webp}", "!drafts/"]"#,
      #"braces are not expanded in *.{png,webp}; write "file:incoming/*.png", "file:incoming/*.webp" in "source""#
    ),
    (#""own/""#, nil),
  ])
  func `in an array, the warning names the pattern that would find some, and never the program's own folders`(
    source: String, hint: String?
  ) throws {
    try add("incoming/sub/s.jpg")
    for folder in ["other/deep", "own/inbox"] {
      try FileManager.default.createDirectory(atPath: root.file(folder), withIntermediateDirectories: true)
    }
    let manifest = root.file("job.json")
    try Data(#"{"source": \#(source)}"#.utf8).write(to: URL(fileURLWithPath: manifest))
    let check = try DarkroomCommand.run(
      ["check", "--json", manifest, "--inbox", root.file("own/inbox"), "--outbox", folders.outbox] + options)
    #expect(check.status == 0, "\(check.error)")
    let messages = check.output.matches(of: /"code":"left-out","message":("(?:[^"\\]|\\.)*")/).map { match in
      (try? JSONDecoder().decode(String.self, from: Data(match.1.utf8))) ?? ""
    }
    #expect(messages.last == hint)
  }

  @Test func `a file that is being written is left for the next time, and the report says so`() throws {
    for name in ["a.jpg", "b.jpg"] { try add("incoming/" + name) }
    let writer = try #require(FileHandle(forUpdatingAtPath: root.file("incoming/a.jpg")))
    let first = try run()
    #expect(first.entries.map(\.name) == ["b"])
    let warning = try #require(first.warnings?.first)
    #expect(warning.code == "left-out" && warning.message.hasPrefix("incoming/a.jpg is being written"))
    #expect(warning.where == "source")
    #expect(try ReportSchema.violations(of: folders.contents("job/report.json")) == "")
    try writer.close()
    #expect(try run().counts == Report.Counts(total: 2, filtered: 2, reused: 1))
  }

  @Test func `what is being written is not pruned`() throws {
    for name in ["a.jpg", "b.jpg", "c.jpg"] { try add("incoming/" + name) }
    #expect(try run().counts == Report.Counts(total: 3, filtered: 3))
    try FileManager.default.removeItem(atPath: root.file("incoming/c.jpg"))
    let writer = try #require(FileHandle(forUpdatingAtPath: root.file("incoming/a.jpg")))
    try drop("file:incoming/")
    #expect(try folders.run(options + ["--prune"]).status == 0)
    #expect(try images() == ["a.jpg", "b.jpg", "c.jpg"])
    try writer.close()
    try drop("file:incoming/")
    #expect(try folders.run(options + ["--prune"]).status == 0)
    #expect(try images() == ["a.jpg", "b.jpg"])
  }

  @Test(arguments: ["a\nb.jpg", "a\tb.jpg", "a\u{7f}b.jpg", "a.jpg "])
  func `a name that no manifest can have is left out, and the report says so`(name: String) throws {
    for name in [name, "c.jpg"] { try add("incoming/" + name) }
    let report = try run("file:incoming/*")
    #expect(report.state == "succeeded" && report.entries.map(\.name) == ["c"])
    #expect(report.entries.map(\.url) == ["./incoming/c.jpg"])
    #expect(report.warnings?.first?.message.contains("has a name that no manifest can have") == true)
  }

  @Test func `a file that is closed within the settling time is waited for`() throws {
    try add("incoming/a.jpg")
    let writer = try #require(FileHandle(forUpdatingAtPath: root.file("incoming/a.jpg")))
    try drop("file:incoming/")
    let watch = try folders.start("watch", options + ["--settle", "30", "--verbose"])
    #expect(try watch.waitForLine(containing: "job: planning job.json") != nil)
    try writer.close()
    #expect(try watch.waitForLine(containing: "job: succeeded: 1 filtered") != nil)
    try watch.stop()
  }

  @Test(arguments: [
    ("file:gone/", "file-not-found"), ("file:incoming/a.jpg/", "file-not-found"), ("file:../", "address-not-allowed"),
    ("file:///etc/*.conf", "address-not-allowed"), ("file:out/", "address-not-allowed"),
    ("file:incoming", "file-not-found"), ("file://host/incoming/", "url-invalid"),
  ])
  func `a folder that cannot be listed is the job's failure`(source: String, code: String) throws {
    try add("incoming/a.jpg")
    try FileManager.default.createSymbolicLink(atPath: root.file("out"), withDestinationPath: "/etc")
    try drop(source)
    #expect(try folders.run(options).status == 65)
    let report = try folders.validReport("job")
    let errors = try #require(report.errors)
    #expect(report.state == "rejected" && errors.map(\.code) == ["source-failed"])
    #expect(errors[0].message.contains(code), "\(errors[0].message)")
    let hint = "incoming is a folder, not a regular file; as the \"source\" of a manifest it ends in"
    #expect(errors[0].message.contains(hint) == (source == "file:incoming"), "\(errors[0].message)")
    #expect(try folders.inboxNames().isEmpty && folders.staged().isEmpty)
  }

  @Test func `without a file root no folder is listed, and a folder has no checksum`() throws {
    try drop("file:incoming/")
    #expect(try DarkroomProcess.run(["run", "--settle", "0"] + folders.named).status == 65)
    #expect(try folders.report("job").errors?.first?.message.contains("scheme-not-allowed") == true)
    try drop("file:incoming/", #", "checksum": "sha-256=\#(String(repeating: "0", count: 64))""#)
    #expect(try folders.run(options).status == 65)
    #expect(try folders.report("job").errors?.map(\.where) == ["checksum"])
  }

  @Test func `a restart plans what was listed, whatever is in the folder by then`() throws {
    for name in ["a.jpg", "b.jpg"] { try add("incoming/" + name) }
    try folders.drop("pause.lock", "")
    let watch = try folders.start("watch", options + ["--verbose"])
    #expect(try watch.waitForLine(containing: "paused") != nil)
    try drop("file:incoming/")
    #expect(try watch.waitForLine(containing: "job: 2 entries") != nil)
    try watch.kill()
    try add("incoming/c.jpg")
    try FileManager.default.removeItem(atPath: folders.inbox + "/pause.lock")
    #expect(try folders.run(options).status == 0)
    #expect(try folders.report("job").entries.map(\.name) == ["a", "b"])
  }

  private func folder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: root.file(name), withIntermediateDirectories: true)
  }

  @Test func `patterns take files of folders beneath, whose names keep the folders, and each file once`() throws {
    for name in ["incoming/2024/05", "incoming/tmp", "incoming/.git", "other"] { try folder(name) }
    for name in ["a.jpg", "2024/b.JPG", "2024/05/a.jpg", "tmp/t.jpg", ".git/g.jpg", "2024/05/b-edited.jpg"] {
      try add("incoming/" + name)
    }
    try add("other/o.jpg")
    try FileManager.default.createSymbolicLink(atPath: root.file("incoming/l"), withDestinationPath: root.file("other"))
    try folders.drop(
      "job.json", #"{"source": ["file:incoming/**/*.jpg", "incoming/2024/**", "!file:incoming/tmp/**", "!*-edited.*"]}"#
    )
    try folders.run(options).expect(status: 0)
    let report = try folders.validReport("job")
    #expect(report.entries.map(\.name) == ["2024/05/a", "2024/b", "a"] && report.warnings == nil)
    #expect(report.entries.map { $0.output?.file } == ["images/2024/05/a.jpg", "images/2024/b.jpg", "images/a.jpg"])
    #expect(report.entries.map(\.url) == ["./incoming/2024/05/a.jpg", "./incoming/2024/b.JPG", "./incoming/a.jpg"])
  }

  @Test func `a tree that holds the inbox and the outbox does not take what they hold`() throws {
    try folder("in")
    try folder("out")
    try add("incoming/a.jpg")
    try Data(#"{"source": "file:**"}"#.utf8).write(to: URL(fileURLWithPath: root.file("in/job.json")))
    let line = ["run", "--settle", "0", "--inbox", root.file("in"), "--outbox", root.file("out")] + options
    for reused in [0, 1] {
      try DarkroomProcess.run(line).expect(status: 0)
      let data = try Data(contentsOf: URL(fileURLWithPath: root.file("out/job/report.json")))
      let report = try JSONDecoder().decode(Report.self, from: data)
      #expect(report.entries.map(\.name) == ["incoming/a"] && report.counts.reused == reused)
      try Data(#"{"source": "file:**"}"#.utf8).write(to: URL(fileURLWithPath: root.file("in/job.json")))
    }
  }

  @Test func `a warning about skipped files advises no pattern that means others, and says when it does not name all`()
    throws
  {
    try add("incoming/a.jpg")
    for name in ["jpg", "*", "a[b]"] + (0..<9).map({ "x.k\($0)" }) {
      try Data("text".utf8).write(to: URL(fileURLWithPath: root.file("incoming/" + name)))
    }
    let report = try run()
    let message = try #require(report.warnings?.first?.message)
    #expect(message.contains("12 (1 *, 1 .k0, 1 .k1,") && message.contains(", …); "), "\(message)")
    #expect(message.contains(#"["./incoming/","!*.k0","!*.k1","#) && !message.contains("!*jpg"), "\(message)")
    #expect(message.hasSuffix(#"] leaves some of them out without a warning"#), "\(message)")
    // What it says of a name leaves out that file only.
    try folders.drop("job.json", #"{"source": ["./incoming/","!*.k?","!jpg"]}"#)
    try folders.run(options).expect(status: 0)
    let rest = try folders.report("job")
    #expect(rest.entries.map(\.name) == ["a"])
    #expect(rest.warnings?.map(\.message) == ["skipped as no pictures, by their names: 2 (1 *, 1 a[b])"])
  }

  @Test func `what is no picture by its name is skipped with one warning, or fails when the manifest says so`() throws {
    try add("incoming/a.jpg")
    for name in ["a.xmp", "b.XMP", "c.txt", "Makefile", "clip.mov"] {
      try Data("text".utf8).write(to: URL(fileURLWithPath: root.file("incoming/" + name)))
    }
    let report = try run()
    #expect(report.state == "succeeded" && report.entries.map(\.name) == ["a"])
    #expect(
      report.warnings?.map(\.message) == [
        "skipped as no pictures, by their names: 5 (1 .mov, 1 .txt, 2 .xmp, 1 Makefile); "
          + #""source": ["./incoming/","!*.mov","!*.txt","!*.xmp","!Makefile"] leaves them out without a warning"#
      ])
    // What it says works.
    try folders.drop("job.json", #"{"source": ["./incoming/","!*.mov"]}"#)
    try folders.run(options).expect(status: 0)
    let rest =
      "4 (1 .txt, 2 .xmp, 1 Makefile); "
      + #""!*.txt","!*.xmp","!Makefile" in "source" leaves them out without a warning"#
    #expect(try folders.report("job").warnings?.first?.message.hasSuffix(rest) == true)
    #expect(try ReportSchema.violations(of: folders.contents("job/report.json")) == "")
    try folders.drop("job.json", #"{"source": ["./incoming/","!*.mov","!*.txt","!*.xmp","!Makefile"]}"#)
    try folders.run(options).expect(status: 0)
    #expect(try folders.report("job").warnings == nil && folders.report("job").counts.total == 1)
    try drop("file:incoming/*.txt")
    try folders.run(options).expect(status: 1)
    #expect(try folders.report("job").counts.total == 1, "a pattern that names the extension takes such files")
    try drop("file:incoming/", #", "others": "fail""#)
    try folders.run(options).expect(status: 1)
    #expect(try folders.report("job").counts == Report.Counts(total: 6, filtered: 1, failed: 5, reused: 1))
  }

  @Test(arguments: [
    (#""source": "incoming/", "others": "pass""#, "\"others\" is \"skip\" or \"fail\""),
    (#""source": "incoming/", "Others": "pass""#, "\"others\" is \"skip\" or \"fail\""),
    (#""source": "incoming/", "other": "fail""#, "did you mean \"others\"?"),
    (#""source": "list.csv", "others": "skip""#, "\"others\" is for folders"),
    (#""source": ["incoming/", "list.csv"]"#, "incoming/ is a folder or a pattern"),
    (
      #""source": "incoming/", "defaults": {"variants": [{"name": "a"}, {"name": "a"}]}"#,
      "the entry has another variant"
    ),
  ])
  func `what cannot be meant rejects the manifest, with one problem`(members: String, problem: String) throws {
    for name in ["a.jpg", "b.jpg"] { try add("incoming/" + name) }
    try folders.drop("job.json", "{\(members)}")
    #expect(try folders.run(options).status == 65)
    let errors = try #require(try folders.validReport("job").errors)
    #expect(errors.count == 1 && errors[0].message.contains(problem), "\(errors)")
  }

  @Test func `a folder that cannot be read is left out, and the others are not, and nothing is pruned`() throws {
    for name in ["a.jpg", "sub/c.jpg"] { try add("incoming/" + name) }
    #expect(try run("file:incoming/**").counts.filtered == 2)
    try FileManager.default.removeItem(atPath: root.file("incoming/a.jpg"))
    // Its path is longer than the system takes.
    let nested = "import os, sys\nos.chdir(sys.argv[1])\nfor _ in range(20): os.mkdir('n' * 250); os.chdir('n' * 250)"
    try DarkroomProcess.run(script: "python3 -c \"\(nested)\" \(root.file("incoming"))", in: root).expect(status: 0)
    try drop("file:incoming/**")
    try folders.run(options + ["--prune"]).expect(status: 0)
    let report = try folders.validReport("job")
    #expect(report.entries.map(\.name) == ["sub/c"] && folders.exists("job/images/a.jpg"))
    #expect(report.warnings?.first?.message.hasSuffix("n/ cannot be read: File name too long") == true)
    try DarkroomProcess.run(script: "rm -r \(root.file("incoming"))", in: root).expect(status: 0)
  }

  @Test func `--quiet mails of skipped files once, whatever their number, and patterns do not count a file twice`()
    throws
  {
    for name in ["a.jpg", "a.xmp", "a.dng"] { try add("incoming/" + name) }
    let source = #"{"source": ["file:incoming/**", "incoming/*.dng", "incoming/sub/"]}"#
    for (number, mails) in [(1, true), (2, false), (3, false)] {
      if number == 3 { try add("incoming/b.xmp") }
      try folders.drop("job.json", source)
      let run = try folders.run(options + ["--quiet"])
      #expect(run.error.contains("skipped as no pictures, by their names: 1 (1 .xmp)") == mails, "\(run.error)")
    }
    let report = try folders.validReport("job")
    #expect(report.entries.map(\.name) == ["a.dng", "a"] && report.warnings?.count == 1)
  }

  @Test(arguments: [("file:gone/", "file-not-found"), ("file:../**", "address-not-allowed")])
  func `check rejects what a run would reject`(source: String, code: String) throws {
    let path = root.file("job.json")
    try Data(#"{"source": "\#(source)"}"#.utf8).write(to: URL(fileURLWithPath: path))
    let checked = try DarkroomProcess.run(["check", path] + options)
    #expect(checked.status == 65 && checked.output.contains("the source cannot be read: \(code)"), "\(checked.output)")
  }

  @Test func `variants in the defaults make several results of each file, and those of an entry take their place`()
    throws
  {
    let sizes =
      #"{"filters": "none", "variants": [{"name": "640", "filters": "resize(fit 64 64)"}, {"name": "png", "format": "png"}]}"#
    for name in ["a.jpg", "b.jpg"] { try add("incoming/" + name) }
    try drop("file:incoming/", #", "defaults": \#(sizes)"#)
    try folders.run(options).expect(status: 0)
    let names = ["images/a.640.jpg", "images/a.png.png", "images/b.640.jpg", "images/b.png.png"]
    #expect(try folders.validReport("job").entries.map { $0.output?.file } == names)
    let entries =
      #"["incoming/a.jpg", {"url": "incoming/b.jpg", "variants": [{"name": "own"}]}, {"url": "incoming/none.jpg"}]"#
    try folders.drop("job.json", #"{"defaults": \#(sizes), "entries": \#(entries)}"#)
    try folders.run(options).expect(status: 1)
    let rows = try folders.validReport("job").entries
    #expect(rows.map(\.name) == ["a", "a", "b", "none", "none"])
    let failed = String(decoding: try folders.contents("job/job.failed.jsonl"), as: UTF8.self)
    #expect(failed.split(separator: "\n").count == 1 && failed.contains("\"640\"") && failed.contains("\"png\""))
  }

  @Test func `check lists the folder, and creates nothing`() throws {
    for name in ["a.jpg", "sub/b.png", "notes.txt"] { try add("incoming/" + name) }
    let path = root.file("job.json")
    try Data(#"{"source": "file:incoming/**", "defaults": {"variants": [{"name": "s"}]}}"#.utf8).write(
      to: URL(fileURLWithPath: path))
    let checked = try DarkroomProcess.run(["check", path] + options)
    #expect(
      checked.status == 0 && checked.output.hasPrefix("job.json: job job, 2 entries of ./incoming/**\n"),
      "\(checked.output)")
    for line in [
      "  images/a.s.*  sepia(0.8)  ./incoming/a.jpg", "  images/sub/b.s.*  sepia(0.8)  ./incoming/sub/b.png",
      "by their names: 1 (1 .txt)",
    ] {
      #expect(checked.output.contains(line), "\(checked.output)")
    }
    let json = try DarkroomProcess.run(["check", "--json", path] + options).output
    #expect(json.contains(#""total":2"#) && json.contains(#""source":"./incoming/**""#), "\(json)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: root.path).sorted() == ["incoming", "job.json"])
  }

  @Test func `defaults hold for files, and a list in the file root may be a relative file URL`() throws {
    try add("incoming/a.jpg")
    try drop("file:incoming/", #", "defaults": {"filters": "grayscale()", "format": "png"}"#)
    #expect(try folders.run(options).status == 0)
    #expect(try folders.report("job").entries.map { $0.output?.file } == ["images/a.png"])
    try Data("incoming/a.jpg\n".utf8).write(to: URL(fileURLWithPath: root.file("list[1].txt")))
    #expect(try run("file:list[1].txt").entries.map(\.name) == ["a"], "a file may be called like a pattern")
  }
}
