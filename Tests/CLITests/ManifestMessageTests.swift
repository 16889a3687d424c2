import Foundation
import TestSupport
import Testing

/// What is told of a manifest that is wrong or doubtful, wherever it is looked at.
@Suite(.blocking) struct ManifestMessageTests {
  @Test(arguments: [10, 11, 250])
  func `of many problems the first ten are told, then how many more; the report has up to 100`(count: Int) throws {
    let folders = try DarkroomFolders()
    let lines = (0..<count).map { #"{"url":"a.jpg","quality":0,"name":"n\#($0)"}"# }.joined(separator: "\n")
    try folders.drop("job.jsonl", lines)
    let check = try DarkroomCommand.run(["check", folders.inbox + "/job.jsonl"])
    let run = try folders.run()
    #expect(check.status == 65 && run.status == 65)
    #expect(try folders.report("job").errors?.count == min(count, 100))
    let told = run.error.split(separator: "\n")
    #expect(told.filter { $0.contains("job: rejected: line ") }.count == 10)
    #expect(check.output.split(separator: "\n").filter { $0.hasPrefix("  line ") }.count == 10)
    let more = min(count, 100) - 10
    let rest = "rejected: and \(more) more problem\(more == 1 ? "" : "s"); see \(folders.outbox)/job/report.json"
    #expect(told.contains { $0.hasSuffix(rest) } == (more > 0), "\(run.error)")
    #expect(check.output.contains("\n  and \(more) more; --json prints all") == (more > 0), "\(check.output)")
    let json = try DarkroomCommand.run(["check", "--json", folders.outbox + "/job/manifest.jsonl"]).output
    #expect(json.components(separatedBy: "bad-value").count - 1 == min(count, 100))
  }

  @Test func `a misspelt column is a warning in check, run, its events and the report`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.csv", "url,filter\ncoffee.jpg,none\n")
    let message = "the column \"filter\" is not a field and goes to \"metadata\"; did you mean \"filters\"?"
    let file = folders.inbox + "/job.csv"
    let check = try DarkroomCommand.run(["check", "--file-root", packageRoot + "/Samples", file])
    #expect(
      check.status == 0 && check.output.contains("\n  warning: line 1, column 5: \(message)\n"), "\(check.output)")
    let json = try DarkroomCommand.run(["check", "--json", file]).output.split(separator: "\n")
    #expect(json.first?.contains(#""warnings":[{"code":"unknown-column","message":"the column"#) == true)
    let run = try folders.run(["--json"])
    #expect(run.status == 0 && run.error.contains("job: warning: line 1, column 5: \(message)"), "\(run.error)")
    #expect(run.output.contains(#""event":"manifest-doubtful""#) && run.output.contains(#""where":"line 1, column 5""#))
    let warning = try #require(try folders.report("job").warnings?.first)
    #expect(warning.code == "unknown-column" && warning.message == message && warning.where == "line 1, column 5")
    #expect(try ReportSchema.violations(of: folders.contents("job/report.json")) == "")
  }

  @Test(arguments: [
    (#"{"defaults": {"metadata": "none"}, "entries": ["coffee.jpg", "rocket.jpg"]}"#, "none"),
    (#"[{"url": "coffee.jpg", "metadata": "all"}, {"url": "rocket.jpg", "metadata": "copyright"}]"#, "all"),
    (#"[{"url": "coffee.jpg", "metadata": "none of it"}, {"url": "rocket.jpg", "metadata": {"keep": "none"}}]"#, nil),
  ])
  func `metadata that look like a setting are a warning, once`(manifest: String, value: String?) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.json", manifest)
    try folders.run().expect(status: 0)
    let warnings = try folders.validReport("job").warnings ?? []
    #expect(warnings.map(\.code) == (value == nil ? [] : ["metadata-policy"]))
    #expect(warnings.first.map { $0.message.hasSuffix("is set by --metadata \(value ?? "")") } ?? true, "\(warnings)")
    #expect(warnings.first.map { $0.where?.hasSuffix("metadata") == true } ?? true, "\(warnings)")
  }

  @Test(arguments: [
    ("Nom;URL\nchat;coffee.jpg\n", "Nom"), ("URL;Bezeichnung\ncoffee.jpg;Katze\n", "Bezeichnung"),
    ("url;TITEL;name\ncoffee.jpg;Katze;k\n", nil), ("url;photographer name\ncoffee.jpg;Eva\n", nil),
  ])
  func `a column that names the pictures in another language is a warning, unless another one does`(
    table: String, column: String?
  ) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.csv", table)
    try folders.run().expect(status: 0)
    let expected = column.map {
      "the column \"\($0)\" is not a field and goes to \"metadata\"; call it \"name\" if it names the pictures"
    }
    #expect(try folders.validReport("job").warnings?.map(\.message) == expected.map { [$0] })
  }

  @Test func `warnings of every code are in the report of a job that was rejected, too, and follow its schema`() throws
  {
    let folders = try DarkroomFolders()
    let fine = "name,url,Filter\na:b,coffee.jpg,é\na?b,coffee.jpg,\n"
    try folders.drop("fine.csv", #require(fine.data(using: .windowsCP1252)))
    try folders.drop("bad.csv", #require((fine + "c\n").data(using: .windowsCP1252)))
    #expect(try folders.run().status == 65)
    #expect(
      try folders.report("fine").warnings?.map(\.code) == ["unknown-column", "encoding", "name-changed", "name-clash"])
    #expect(try folders.report("fine").entries.map(\.name) == ["a:b", "a?b"])
    #expect(
      try folders.files().filter { $0.hasPrefix("fine/images") }.sorted() == [
        "fine/images/a_b-2.jpg", "fine/images/a_b.jpg",
      ])
    #expect(try folders.report("bad").warnings?.map(\.code) == ["unknown-column", "encoding"])
    for job in ["fine", "bad"] {
      #expect(try ReportSchema.violations(of: folders.contents(job + "/report.json")) == "")
    }
  }

  @Test func `U+0000 in metadata comes out escaped, in a URL it fails the entry, and both can be dropped again`() throws
  {
    let folders = try DarkroomFolders()
    try folders.drop("job.json", #"[{"url":"coffee.jpg","tag":"a\u0000b"},{"url":"cof\u0000fee.jpg","tag":"\u0000"}]"#)
    try folders.run().expect(status: 1)
    let report = try folders.contents("job/report.json")
    #expect(String(decoding: report, as: UTF8.self).contains(#"a\u0000b"#) && !report.contains(0))
    #expect(try folders.report("job").entries.map { $0.error?.code } == [nil, "url-invalid"])
    #expect(try ReportSchema.violations(of: report) == "")
    try folders.drop("job.jsonl", folders.contents("job/job.failed.jsonl"))
    #expect(try folders.run().status == 1)
    #expect(try String(decoding: folders.contents("job/report.json"), as: UTF8.self).contains(#"\u0000"#))
  }

  @Test(arguments: [
    ("a:b", "a_b~6783"), ("con", "_~1143"), ("cats.", "cats_~93a2"), ("x\u{202e}y", "x_y~0a32"),
    ("nul.tar", "_.tar~db6f"), ("plain", "plain"),
  ])
  func `a job's name can be stored everywhere, whatever its file is called`(stem: String, job: String) throws {
    let folders = try DarkroomFolders()
    try folders.drop(stem + ".txt", "coffee.jpg\n")
    let check = try DarkroomCommand.run(["check", "--json", folders.inbox + "/\(stem).txt"]).output
    #expect(check.contains(#""job":"\#(job)""#), "\(check)")
    let run = try folders.run(["--filters", "none"])
    #expect(run.status == 0 && run.output == folders.outbox + "/\(job)/report.json\n", "\(run.error)")
    #expect(try folders.report(job).job == job && folders.exists(job + "/images/coffee.jpg"))
    #expect(try folders.inboxNames().isEmpty)
    #expect(try folders.ask("wait", [stem]).status == 0)
    // What an argument names, or `add` drops, is the same job.
    let file = folders.folder.file(stem + ".txt")
    try Data("coffee.jpg\n".utf8).write(to: URL(fileURLWithPath: file))
    #expect(
      try DarkroomProcess.run(["run", file] + folders.options).output == folders.outbox + "/\(job)/report.json\n")
    #expect(try DarkroomCommand.run(["add", file, "--inbox", folders.inbox]).output == job + "\n")
    #expect(try folders.inboxNames() == [job + ".txt"])
  }

  @Test(arguments: [
    ("www.example.com/x.jpg", "; if it is on the web, write https://www.example.com/x.jpg"),
    ("pictures.example/a/x.jpg", "; if it is on the web, write https://pictures.example/a/x.jpg"),
    ("//example.com/x.jpg", "; if it is on the web, write https://example.com/x.jpg"),
    ("example.com:8080/x.jpg", "; if it is on the web, write https://example.com:8080/x.jpg"),
    ("localhost:8080/x.jpg", "; if it is on the web, write http://localhost:8080/x.jpg"),
    ("www.example.com", "; if it is on the web, write https://www.example.com"),
    ("https//example.com/x.jpg", "; if it is on the web, write https://example.com/x.jpg"),
    ("HTTP//example.com/x.jpg", "; if it is on the web, write http://example.com/x.jpg"),
    ("127.0.0.1:8123/x.jpg", "; if it is on the web, write http://127.0.0.1:8123/x.jpg"),
    ("192.168.1.4/x.jpg", "; if it is on the web, write http://192.168.1.4/x.jpg"), ("1.2.3/x.jpg", nil),
    ("http:x.jpg", "; a URL has two slashes before its host: http://HOST/…"),
    ("“http://h/x.jpg”", "; a URL begins with http://, not with “"),
    ("see HTTPS://h/x.jpg", "; a URL begins with https://, not with see "),
    (
      "web.archive.org/web/2020/http://example.com/x.jpg",
      "; if it is on the web, write https://web.archive.org/web/2020/http://example.com/x.jpg"
    ), ("https//h/?u=http://x", "; if it is on the web, write https://h/?u=http://x"),
    ("view-source:http://h/x.jpg", "; a URL begins with http://, not with view-source:"),
    ("photos/x.jpg", nil), ("x.jpg", nil), ("../x.jpg", nil), ("v1.2/x.jpg", nil), ("C:/x.jpg", nil),
    ("ftp://h/x.jpg", nil),
    ("mailto:a@example.com", nil),
  ])
  func `a web address that does not begin with its scheme is told with it`(url: String, hint: String?) throws {
    let folder = try TemporaryFolder()
    try Data((url + "\n").utf8).write(to: URL(fileURLWithPath: folder.file("job.txt")))
    for options in [[], ["--file-root", packageRoot + "/Samples"]] {
      let check = try DarkroomCommand.run(["check", "job.txt"] + options, in: folder)
      let told = check.output.split(separator: "\n").first { $0.contains("would fail: ") } ?? ""
      #expect(!told.isEmpty, "\(check.output)")
      #expect(told.contains(/on the web|two slashes|URL begins with/) == (hint != nil), "\(check.output)")
      if let hint { #expect(told.hasSuffix(hint)) }
    }
  }

  @Test(arguments: ["http:/example.com/x.jpg", "https:///example.com/x.jpg"])
  func `check warns of a URL with one slash or three, which need not fail`(url: String) throws {
    let folder = try TemporaryFolder()
    try Data("\(url)\nhttp://example.com/y.jpg\n".utf8)
      .write(to: URL(fileURLWithPath: folder.file("job.txt")))
    let check = try DarkroomCommand.run(["check", "job.txt"], in: folder).output
    let hint = "a URL has two slashes before its host: \(url.prefix { $0 != ":" })://HOST/…"
    #expect(check.contains("/x.jpg\n    warning: \(hint)\n"), "\(check)")
    #expect(check.matches(of: /warning/).count == 1, "\(check)")
  }

  @Test func `add tells a web address without its scheme, too`() throws {
    let folders = try DarkroomFolders()
    let add = try DarkroomCommand.run(["add", "www.example.com/x.jpg", "--inbox", folders.inbox])
    #expect(add.status == 66 && add.error.contains("write https://www.example.com/x.jpg"), "\(add.error)")
  }

  @Test(
    arguments: [
      ("https://h.example/a.jpg", ["it is a URL", "darkroom add URL", #"{"source": "URL"}"#]),
      ("https://h.example/list.json", ["it is a URL", #"{"source": "URL"}"#]),
      ("www.example.com/x.jpg", ["write https://www.example.com/x.jpg"]),
      ("picture.jpg", ["a JPEG picture", ".txt", "--file-root"]), ("folder/", [#"{"source": "file:FOLDER/**"}"#]),
      ("folder", ["it is a folder", "--file-root"]), ("book.xlsx", ["it is a spreadsheet (.xlsx)", "CSV"]),
      ("sitemap.xml", ["a sitemap", ".txt"]), ("notes.docx", [": its extension is not that of a manifest"]),
      ("missing.tx", ["No such file or directory, and its extension is not that of a manifest"]),
      ("picture.jpg/a.tx", ["Not a directory, and its extension is not that of a manifest"]),
    ], ["run", "check", "add"])
  func `what is no manifest is told with what to do`(given: (name: String, words: [String]), command: String) throws {
    if command == "add", given.name.contains("://") { return }
    let folders = try DarkroomFolders()
    try FileManager.default.createDirectory(
      atPath: folders.folder.file("folder"), withIntermediateDirectories: false)
    try FileManager.default.copyItem(
      atPath: packageRoot + "/Samples/coffee.jpg", toPath: folders.folder.file("picture.jpg"))
    for (name, text) in [("book.xlsx", ""), ("notes.docx", ""), ("sitemap.xml", "<urlset></urlset>")] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: folders.folder.file(name)))
    }
    let options = command == "check" ? [] : ["--inbox", folders.inbox]
    let told = try DarkroomCommand.run([command, given.name] + options, in: folders.folder).expect(status: 66)
    for words in given.words { #expect(told.error.contains(words), "\(told.error)") }
    #expect(told.output.isEmpty)
  }

  @Test func `the formats and the filters are listed within 80 columns`() throws {
    let lines = try DarkroomCommand.run(["filters"]).output.split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines.filter { $0.count > 80 })")
    #expect(lines.prefix(2) == ["reads: JPEG, PNG, WebP, GIF, BMP, TIFF, AVIF, HEIC", "writes: JPEG, PNG, WebP, AVIF"])
    #expect(lines.contains("resize([fit | fill | cover | exact]? [<integer> | -]{2} <position>? enlarge?)"))
    #expect(lines.filter { !$0.hasPrefix(" ") }.count == 20)
  }
}
