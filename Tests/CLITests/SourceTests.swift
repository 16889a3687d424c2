import Foundation
import TestSupport
import Testing

/// Manifests that only say where their entries are listed.
@Suite(.blocking) struct SourceTests {
  private let folders: DarkroomFolders
  private let served: TemporaryFolder
  private let nginx: Nginx

  init() throws {
    folders = try DarkroomFolders()
    served = try TemporaryFolder()
    nginx = try Nginx(
      serving: served.path,
      directives: """
        location /csv/ { alias \(served.path)/; default_type "text/csv; charset=utf-8"; types {} }
        location /json/ { alias \(served.path)/; default_type application/json; types {} }
        location /text/ { alias \(served.path)/; default_type text/plain; types {} }
        location /moved/ { return 302 /list; }
        """)
    for name in ["coffee.jpg", "rocket.jpg"] {
      try FileManager.default.copyItem(atPath: packageRoot + "/Samples/" + name, toPath: served.file(name))
    }
  }

  private func serve(_ name: String, _ contents: Data) throws {
    try contents.write(to: URL(fileURLWithPath: served.file(name)))
  }

  private func serve(_ name: String, _ contents: String) throws { try serve(name, Data(contents.utf8)) }

  private func drop(_ url: String, _ more: String = "", as job: String = "job") throws {
    try folders.drop("\(job).json", #"{"source": "\#(url)"\#(more)}"#)
  }

  private func run(_ options: [String] = []) throws -> Report {
    try folders.run(options).expect(status: 0)
    return try folders.report("job")
  }

  /// What the report says of the source.
  private func source() throws -> [String: Any] {
    let report = try JSONSerialization.jsonObject(with: folders.contents("job/report.json")) as? [String: Any]
    return try #require((report?["manifest"] as? [String: Any])?["source"] as? [String: Any])
  }

  /// The requests for a path since the server was last asked, with the statuses.
  private func statuses(_ path: String) throws -> [String] {
    try nginx.accessLog().map { $0.split(separator: " ") }.filter { $0[6] == path }.map { String($0[8]) }
  }

  private var urls: [String] { ["coffee.jpg", "rocket.jpg"].map(nginx.url) }

  private var csv: String { "name,url,quality\none,\(urls[0]),70\ntwo,\(urls[1]),70\n" }
  private var lines: String { #"{"name":"one","url":"\#(urls[0])"}"# + "\n" + #"{"name":"two","url":"\#(urls[1])"}"# }
  private var json: String { #"{"one":"\#(urls[0])","two":"\#(urls[1])"}"# }

  // MARK: Formats

  /// A list and where it is.
  enum List: String, CaseIterable {
    case extensionCSV, extensionPacked, extensionBeatsType, typeCSV, typeJSON, typeCSVPacked, typeText
    case contentLines, contentJSON, contentPacked, redirected
  }

  @Test(arguments: List.allCases)
  func `the format is told by the extension, else the content type, else the content`(list: List) throws {
    let (name, path, contents, format): (String, String, Data, String)
    switch list {
    case .extensionCSV: (name, path, contents, format) = ("a.csv", "a.csv?v=1.json", Data(csv.utf8), "csv")
    case .extensionPacked:
      (name, path, contents, format) = ("a.jsonl.gz", "a.jsonl.gz", try Gzip.packed([Data(lines.utf8)]), "jsonl")
    case .extensionBeatsType: (name, path, contents, format) = ("a.jsonl", "csv/a.jsonl", Data(lines.utf8), "jsonl")
    case .typeCSV: (name, path, contents, format) = ("list", "csv/list", Data(csv.utf8), "csv")
    case .typeJSON: (name, path, contents, format) = ("list.php", "json/list.php", Data(json.utf8), "json")
    case .typeCSVPacked: (name, path, contents, format) = ("list", "csv/list", try Gzip.packed([Data(csv.utf8)]), "csv")
    case .typeText: (name, path, contents, format) = ("list", "text/list", Data(lines.utf8), "jsonl")
    case .contentLines: (name, path, contents, format) = ("list", "list", Data(lines.utf8), "jsonl")
    case .contentJSON: (name, path, contents, format) = ("list", "list", Data(json.utf8), "json")
    case .contentPacked: (name, path, contents, format) = ("list", "list", try Gzip.packed([Data(csv.utf8)]), "csv")
    case .redirected: (name, path, contents, format) = ("list", "moved/a.csv", Data(csv.utf8), "csv")
    }
    try serve(name, contents)
    try drop(nginx.url(path))
    let report = try run()
    #expect(report.state == "succeeded" && report.entries.map(\.name) == ["one", "two"])
    let source = try self.source()
    #expect(source["format"] as? String == format && source["url"] as? String == nginx.url(path))
    #expect(source["http_status"] as? Int == 200 && source["bytes"] as? Int == contents.count)
    #expect(list != .redirected || source["final_url"] as? String == nginx.url("list"))
    #expect(report.transfers?.requests == (list == .redirected ? 4 : 3), "the source is counted, too")
    #expect(try ReportSchema.violations(of: folders.contents("job/report.json")) == "")
    #expect(try String(decoding: folders.contents("job/manifest.json"), as: UTF8.self).contains(path))
    #expect(try folders.inboxNames().isEmpty && folders.staged().isEmpty)
    let state = try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/.darkroom/jobs")
    #expect(state == [], "nothing is left of it")
  }

  @Test func `defaults hold for what the source lists, and the list's own before them`() throws {
    try serve(
      "a.json",
      #"{"defaults": {"quality": 40}, "entries": {"one": "\#(urls[0])", "two": {"url": "\#(urls[1])", "filters": "none"}}}"#
    )
    try drop(nginx.url("a.json"), #", "defaults": {"filters": "grayscale()", "quality": 90, "metadata": {"a": 1}}"#)
    let report = try run()
    #expect(report.entries.map(\.filters) == ["grayscale(1)", "none"])
    let rows = try JSONSerialization.jsonObject(with: folders.contents("job/report.json")) as? [String: Any]
    let entries = try #require(rows?["entries"] as? [[String: Any]])
    #expect((entries.first?["metadata"] as? [String: Int]) == ["a": 1])
  }

  // MARK: Once more

  @Test(arguments: ["a.csv", "csv/list", "list"])
  func `dropped again unchanged, a list and its pictures cost no body`(path: String) throws {
    try serve(String(path.split(separator: "/").last ?? ""), csv)
    try drop(nginx.url(path))
    _ = try run()
    try drop(nginx.url(path))
    let again = try run()
    #expect(again.counts == Report.Counts(total: 2, filtered: 2, reused: 2))
    #expect(again.transfers?.bytes == 0 && again.transfers?.requests == 3)
    #expect(try statuses("/" + path) == ["200", "304"])
    let source = try self.source()
    #expect(source["http_status"] as? Int == 304 && source["format"] as? String == "csv")
    #expect(try ReportSchema.violations(of: folders.contents("job/report.json")) == "")
  }

  @Test func `a list in a file is read beneath the file root, by its path or as a file URL`() throws {
    try serve("list.txt", "coffee.jpg\nrocket.jpg\n")
    for path in ["list.txt", "file://" + served.file("list.txt")] {
      try drop(path)
      let report = try run(["--file-root", served.path])
      #expect(report.counts.filtered == 2, "\(path)")
      #expect(try source()["http_status"] == nil)
    }
  }

  @Test(arguments: ["coffee.jpg", "./coffee.jpg", "FILE"])
  func `a list that a server has sent may not name files, and its other entries are made`(path: String) throws {
    let file = path == "FILE" ? "file://" + served.file("coffee.jpg") : path
    try serve(
      "list.json",
      #"{"file": "\#(file)", "mirror": {"url": ["\#(file)", "\#(urls[0])"]}, "web": "\#(urls[1])"}"#)
    try drop(nginx.url("list.json"))
    try folders.run(["--file-root", served.path]).expect(status: 1)
    let rows = try folders.report("job").entries
    #expect(rows.map(\.state) == ["failed", "filtered", "filtered"])
    #expect(rows[0].error?.code == "scheme-not-allowed", "\(rows[0].error?.message ?? "")")
    #expect(rows[0].error?.message.contains("a list from a server") == true)
    #expect(!folders.exists("job/images/file.jpg"))
  }

  // MARK: Failures

  /// Why a source fails.
  enum Fault: String, CaseIterable {
    case missing, address, scheme, file, tooLarge, checksum, mirrors
  }

  @Test(arguments: Fault.allCases) func `a source that fails is the job's failure, with its code`(fault: Fault) throws {
    try serve("a.csv", csv)
    let url = nginx.url("a.csv")
    var options: [String] = []
    let code: String
    switch fault {
    case .missing: (_, code) = (try drop(nginx.url("gone.csv")), "http-status")
    case .address: (_, code) = (try drop("http://10.1.2.3/a.csv"), "address-not-allowed")
    case .scheme: (_, code) = (try drop("ftp://example.org/a.csv"), "scheme-not-allowed")
    case .file: (_, code) = (try drop("gone.csv"), "file-not-found")
    case .tooLarge: (_, code, options) = (try drop(url), "too-large", ["--max-bytes", "20"])
    case .checksum:
      let sum = String(repeating: "0", count: 64)
      (_, code) = (try drop(url, #", "checksum": "sha-256=\#(sum)""#), "checksum-mismatch")
    case .mirrors:
      try folders.drop("job.json", #"{"source": ["\#(nginx.url("gone"))", "\#(nginx.url("gone.csv"))"]}"#)
      code = "http-status"
    }
    #expect(try folders.run(options).status == 65)
    let report = try folders.validReport("job")
    #expect(report.state == "rejected" && report.entries.isEmpty)
    let errors = try #require(report.errors)
    #expect(errors.map(\.code) == ["source-failed"] && errors.map(\.where) == ["source"])
    #expect(errors[0].message.contains(code))
    let whole = try JSONSerialization.jsonObject(with: folders.contents("job/report.json")) as? [String: Any]
    let error = (whole?["errors"] as? [[String: Any]])?.first?["error"] as? [String: Any]
    #expect(error?["code"] as? String == code && error?["stage"] as? String == "download")
    let statuses = ["http-status": 404, "too-large": 200, "checksum-mismatch": 200]
    #expect(error?["http_status"] as? Int == statuses[code])
    #expect(folders.exists("job/manifest.json") && !folders.exists("job/images"))
    #expect(try folders.inboxNames().isEmpty && folders.staged().isEmpty)
    try folders.checkOutbox()
  }

  @Test func `what a source lists is checked as a manifest, and says where it is wrong`() throws {
    try serve("a.csv", "url,quality\n\(urls[0]),high\n")
    try drop(nginx.url("a.csv"))
    #expect(try folders.run().status == 65)
    #expect(try folders.report("job").errors?.map(\.where) == ["source: line 2: quality"])
    try serve("b.json", #"{"source": "\#(nginx.url("a.csv"))"}"#)
    try drop(nginx.url("b.json"))
    #expect(try folders.run().status == 65)
    let errors = try #require(try folders.report("job").errors)
    #expect(errors.map(\.code) == ["bad-value"] && errors.map(\.where) == ["source: source"])
    #expect(try statuses("/a.csv") == ["200"], "a source of a source is not asked for")
    try drop(nginx.url("a.csv"), #", "checksum": 7"#)
    #expect(try folders.run().status == 65)
    #expect(try folders.report("job").errors?.map(\.where) == ["checksum"])
  }

  @Test func `a source is tried again as an entry is, and the mirrors after it`() throws {
    try serve("list.txt", urls[0] + "\n")
    let flaky = try FlakyServer()
    let mirrors = ["\(flaky.url("a?503,503,404"))", nginx.url("list.txt")]
    try folders.drop("job.json", #"{"source": ["\#(mirrors[0])", "\#(mirrors[1])"]}"#)
    let report = try run(["--retries", "2"])
    #expect(report.counts.filtered == 1)
    #expect(try source()["url"] as? String == mirrors[1])
    #expect(report.transfers?.requests == 5 && report.transfers?.retries == 2)
  }

  @Test func `secrets of a source are neither in the report nor readable by others`() throws {
    try serve("list.txt", urls[0] + "\n")
    let url = nginx.url("list.txt").replacing("http://", with: "http://me:geheim@")
    try drop(url, #", "headers": {"Authorization": "Bearer geheim"}"#)
    _ = try run()
    #expect(try folders.mode("job/manifest.json") == 0o600)
    for file in ["job/report.json", "job/entries.jsonl"] {
      #expect(try !String(decoding: folders.contents(file), as: UTF8.self).contains("geheim"))
    }
  }

  @Test func `check says where the entries are listed, and asks for nothing`() throws {
    let file = folders.folder.file("m.json")
    try Data(#"{"source": "\#(nginx.url("a.csv"))"}"#.utf8).write(to: URL(fileURLWithPath: file))
    let check = try DarkroomCommand.run(["check", "--json", file]).expect(status: 0)
    let result = try JSONSerialization.jsonObject(with: Data(check.output.utf8)) as? [String: Any]
    #expect(result?["source"] as? String == nginx.url("a.csv") && result?["state"] as? String == "accepted")
    #expect((result?["error"] as? [String: Any])?["code"] as? String == "address-not-allowed")
    #expect(try DarkroomCommand.run(["check", file]).output.contains("listed by " + nginx.url("a.csv")))
    #expect(try nginx.accessLog().isEmpty)
  }
}
