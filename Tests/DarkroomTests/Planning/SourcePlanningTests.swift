import Foundation
import Manifests
import System
import Testing
import TestSupport
import Transfer

@testable import JobIndex
@testable import Model
@testable import Planning

/// Manifests that only say where their entries are listed, and what is listed there.
@Suite struct SourcePlanningTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ text: String, as name: String) throws -> ManifestFile {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
    return ManifestFile(path: folder.file(name))
  }

  private func format(of name: String) throws -> any ManifestFormat { try #require(ManifestFileName(name)?.format) }

  /// Plans a manifest, and what it lists elsewhere.
  private func plan(
    _ text: String, as name: String = "m.json", list: (name: String, text: String)? = nil
  ) throws -> (ManifestFindings, JobIndex) {
    let index = try JobIndex(creating: .memory)
    let listed = try list.map { name, text in
      ManifestContent.List(format: try format(of: name), file: try write(text, as: name), url: "http://h/found")
    }
    let planner = Planner(
      format: try format(of: name), file: try write(text, as: name), list: listed, defaults: try Planned.defaults)
    return (try planner.plan(into: index), index)
  }

  @Test func `a source is read as an entry's is, with its mirrors, checksum, headers and key`() throws {
    let sum = String(repeating: "a", count: 64)
    let text = """
      {"_note": 1, "source": ["http://h/a.csv", "http://g/b"], "checksum": "sha-256=\(sum)", "cache-key": "list",
       "headers": {"X-A": "1"}, "defaults": {"quality": 7}}
      """
    let (findings, index) = try plan(text)
    #expect(findings.problems.isEmpty && findings.warnings.isEmpty)
    let source = try #require(findings.source)
    #expect(source.urls == ["http://h/a.csv", "http://g/b"] && source.key == "list" && source.checksum != nil)
    #expect(source.request.headers.map(\.line) == ["X-A: 1"])
    #expect(source.recipe.isEmpty && source.options.format == nil, "nothing is made of it")
    #expect(try index.count() == 1)
    #expect(try index.entry(at: 0)?.urls == source.urls)
    let list = PropertyList.xml(body: "<dict><key>source</key><string>http://h/a.csv</string></dict>")
    #expect(try plan(list, as: "m.plist").0.source?.urls == ["http://h/a.csv"])
  }

  @Test(arguments: [
    #"{"source": "http://h/a.jpg", "other": "http://h/b.jpg"}"#,
    #"{"source": {"url": "http://h/a.jpg"}, "checksum": "http://h/b.jpg"}"#,
    #"{"entries": {"source": "http://h/a.jpg", "b": "http://h/b.jpg"}}"#,
    // The names of fields, and values that no field has.
    #"{"source": "http://h/a.jpg", "filters": "http://h/(b).jpg"}"#, #"{"source": "a.jpg", "format": "b.jpg"}"#,
    #"{"source": "a.jpg", "priority": "b/c"}"#, #"{"source": "a.jpg", "metadata": {"url": "b.jpg"}}"#,
    #"{"source": "a.jpg", "cat": "sepia(1)"}"#,
  ])
  func `a picture may be called source beside others`(text: String) throws {
    let (findings, index) = try plan(text)
    #expect(findings.problems.isEmpty && findings.source == nil)
    #expect(try index.count() == 2)
    #expect(try index.entry(at: 0)?.name == "source")
  }

  @Test(arguments: [
    (#"{"source": "http://h/l", "filters": "sepia(0.8)"}"#, "filters", "belongs in \"defaults\""),
    (#"{"source": ["h/l", "g/l"], "_a": 1, "quality": 80, "cache-key": "k"}"#, "quality", "belongs in \"defaults\""),
    (#"{"defaults": {"quality": 1}, "source": "http://h/l", "metadata": {"a": "b"}}"#, "metadata", "belongs in"),
    (#"{"source": "l", "filters": "drop-shadow(rgb(0 0 0 / 50%) 1px 1px)"}"#, "filters", "belongs in"),
    (#"{"source": "l", "format": "png", "priority": "high"}"#, "format", "belongs in"),
    (#"{"source": "l", "filtres": "sepia(1)"}"#, "filtres", "did you mean \"filters\" in \"defaults\"?"),
    (#"{"source": "l", "check_sum": "sha-256=0"}"#, "check_sum", "did you mean \"checksum\"?"),
    (#"{"source": "l", "name": "cat"}"#, "name", "it is a field of the entries"),
    (#"{"source": "l", "after": ["cat"]}"#, "after", "it is a field of the entries"),
  ])
  func `a field beside the source that belongs elsewhere is named, and no picture of that name`(
    text: String, field: String, hint: String
  ) throws {
    let problem = try #require(try plan(text).0.problems.first)
    #expect(problem.code == .unknownField && problem.location == .keyPath([field]))
    #expect(problem.message.hasPrefix("unknown field \"\(field)\" beside \"source\"; "), "\(problem)")
    #expect(problem.message.contains(hint), "\(problem)")
  }

  @Test(arguments: [
    ("l.csv", "name,url,after\na,http://h/1,\nb,http://h/2,a\n"),
    ("l.json", #"{"a": "http://h/1", "b": {"url": "http://h/2", "after": ["a"]}}"#),
    ("l.txt", "http://h/1\n  out=a\nhttp://h/2\n  out=b\n"),
  ])
  func `what is listed is planned in the place of the source`(name: String, text: String) throws {
    let source = #"{"source": "http://h/l", "defaults": {"quality": 7}}"#
    let (findings, index) = try plan(source, list: (name, text))
    #expect(findings.problems.isEmpty && findings.source == nil)
    let entries = try (0..<index.count()).compactMap { try index.entry(at: $0) }
    #expect(entries.map(\.name) == ["a", "b"] && entries.map(\.options.quality) == [7, 7])
    #expect(index.hasDependencies == !name.hasSuffix("txt"))
  }

  @Test(arguments: [
    ("l.csv", "url,quality\nhttp://h/1,x\n", "wrong-type @ source: line 2: quality"),
    ("l.jsonl", "\"http://h/1\"\n{\n", "syntax @ source: line 2, column 1"),
    ("l.json", "", "syntax @ source: line 1, column 1"), ("l.json", "{\"a\": 7}", "wrong-type @ source: a"),
    ("l.json", #"{"source": "http://h/l2"}"#, "bad-value @ source: source"),
    ("l.json", #"{"a": {"url": "http://h/1", "after": ["b"]}}"#, "unknown-dependency @ source: a.after"),
    ("l.json", #"{"entries": [], "defaults": {"qualty": 1}}"#, "unknown-field @ source: defaults.qualty"),
    ("l.txt", "http://h/1\n  out=a\nhttp://h/2\n  out=a\n", "duplicate-name @ source: line 3"),
  ])
  func `what is wrong with a list says that it is there`(name: String, text: String, problem: String) throws {
    let (findings, _) = try plan(#"{"source": "http://h/l"}"#, list: (name, text))
    #expect(findings.problems.map { "\($0.code.rawValue) @ \($0.location)" } == [problem])
  }

  @Test(arguments: [
    ("l.json", "<!DOCTYPE html>\n<title>Log in</title>"), ("l.plist", "\u{FEFF}\n <HTML lang=en><p>No"),
    ("l.txt", "<?xml version=\"1.0\"?><!-- x -->\n<html xmlns=\"http://www.w3.org/1999/xhtml\">"),
    ("l.csv", "<head>url"),
  ])
  func `a list that is an HTML page is called so`(name: String, text: String) throws {
    let (findings, _) = try plan(#"{"source": "http://h/l"}"#, list: (name, text))
    let message =
      "http://h/found is an HTML page, not a list of entries; open it in a browser: it may say why there is no list"
    #expect(findings.problems == [ManifestProblem(.syntax, message, at: .source(.file))])
  }

  @Test func `a list that has HTML in it is none`() throws {
    let list = PropertyList.xml(body: "<dict><key>a</key><string>http://h/&lt;html</string></dict>")
    #expect(try plan(#"{"source": "http://h/l"}"#, list: ("l.plist", list)).0.problems == [])
    let json = #"{"a": {"url": "http://h/1", "metadata": "<html><body>"}}"#
    #expect(try plan(#"{"source": "http://h/l"}"#, list: ("l.json", json)).0.problems == [])
  }

  @Test(arguments: ["file:incoming/", "incoming/*.jpg", "file:///a/"])
  func `a folder is no mirror of a source`(folder: String) throws {
    let (findings, _) = try plan(#"{"source": ["http://h/l.txt", "\#(folder)"]}"#)
    #expect(findings.problems.map { "\($0.code.rawValue) @ \($0.location)" } == ["bad-value @ source"])
    let problem = "is a folder or a pattern, and cannot be one of several mirrors"
    #expect(findings.problems.first?.message.contains(problem) == true)
  }

  @Test func `the list's own defaults come before those beside the source, which stay where it has none`() throws {
    let source = #"{"source": "http://h/l", "defaults": {"quality": 7, "metadata": {"a": 1}, "headers": {"X-A": "1"}}}"#
    let list = #"{"defaults": {"format": "png"}, "entries": ["http://h/1"]}"#
    let entry = try #require(try plan(source, list: ("l.json", list)).1.entry(at: 0))
    #expect(entry.options.quality == 7 && entry.options.format?.rawValue == "png")
    #expect(entry.metadata?.text == #"{"a":1}"# && entry.request.headers.map(\.line) == ["X-A: 1"])
    let other = #"{"defaults": {"quality": 9, "headers": {"X-B": "2"}, "metadata": 4}, "entries": ["http://h/1"]}"#
    let second = try #require(try plan(source, list: ("l.json", other)).1.entry(at: 0))
    #expect(second.options.quality == 9 && second.metadata?.text == "4")
    #expect(second.request.headers.map(\.line) == ["X-B: 2"])
  }

  // MARK: Formats

  @Test(arguments: [
    ("http://h/a.CSV?x=1#y", "csv"), ("http://h/a.jsonl.gz", "jsonl"), ("a/list.tsv", "tsv"),
    ("file:///a/b.urls", "txt"),
    ("http://h/a.csv/list", nil), ("http://h/.csv", nil), ("http://h/?f=a.csv", nil), ("http://h/a.php", nil),
    ("http://h/a%2Ecsv", "csv"), ("what?", nil),
  ])
  func `an extension is that of the path's last component`(url: String, format: String?) {
    #expect(ListRecognition.format(ofURL: url)?.name == format)
  }

  @Test(arguments: [
    ("text/csv", "csv"), (" Text/CSV ; charset=\"utf-8\"", "csv"), ("application/json", "json"),
    ("application/vnd.api+json", "json"), ("application/x-ndjson", "jsonl"), ("text/tab-separated-values", "tsv"),
    ("application/x-plist", "plist"), ("text/plain", nil), ("application/octet-stream", nil), ("text/html", nil),
    ("", nil), (";", nil),
  ])
  func `a content type is one of a format, or says nothing`(type: String, format: String?) {
    #expect(ListRecognition.format(ofType: type)?.name == format)
  }

  @Test(arguments: [true, false])
  func `bytes tell whether a list is packed, whatever it is called`(isPacked: Bool) throws {
    let text = Data("url\nhttp://h/1\n".utf8)
    let path = folder.file("list")
    try (isPacked ? Gzip.packed([text]) : text).write(to: URL(fileURLWithPath: path))
    for (url, type) in [("http://h/a.csv", nil), ("http://h/a.csv.gz", nil), ("h/a", "text/csv"), ("h/a", nil)] {
      let found = try ListRecognition.format(url: url, contentType: type, path: path)
      #expect(found.format.name == "csv" && found.isCompressed == isPacked)
    }
  }
}
