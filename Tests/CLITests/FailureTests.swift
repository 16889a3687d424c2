import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct FailureTests {
  /// Entries that fail, each with its code and a text that its message holds.
  static let failures: [(url: String, code: String, message: String)] = [
    ("http://", "url-invalid", "http://"),
    ("gopher://127.0.0.1/x", "scheme-not-allowed", "gopher"),
    ("http://10.0.0.1/x.jpg", "address-not-allowed", "--allow-net 10.0.0.0/8"),
    ("BASE/nothing.jpg", "http-status", "404"),
    ("missing.jpg", "file-not-found", "missing.jpg"),
    ("../Package.swift", "address-not-allowed", "--file-root"),
    ("http://name.invalid/x.jpg", "host-not-found", "name.invalid"),
    ("http://127.0.0.1:1/x.jpg", "connect", "127.0.0.1"),
    ("BASE/page.jpg", "not-an-image", "HTML"),
    ("BASE/empty.jpg", "not-an-image", "empty"),
    ("BASE/animation.gif", "unsupported-format", "GIF"),
    ("BASE/half.jpg", "image-truncated", "end of input"),
    ("BASE/huge.png", "image-too-large", "max-pixels is 268402689"),
    ("BASE/large.bin", "too-large", "1048576"),
  ]

  @Test func `each failing entry ends in its code with a message that names the thing, and the others succeed`() throws
  {
    let pictures = try TemporaryFolder()
    let photo = try Data(contentsOf: URL(fileURLWithPath: packageRoot + "/Samples/coffee.jpg"))
    let files: [String: Data] = [
      "page.jpg": Data("<!DOCTYPE html><html><body>Sign in</body></html>".utf8),
      "empty.jpg": Data(),
      "animation.gif": Data("GIF89a\u{1}\0\u{1}\0\0\0\0;".utf8),
      "half.jpg": photo.prefix(photo.count / 2),
      "huge.png": Data(base64Encoded: "iVBORw0KGgoAAAANSUhEUgAA6mAAAOpgCAIAAAAPsOIV") ?? Data(),
      "large.bin": Data(count: (1 << 20) + 1),
      "good.jpg": photo,
    ]
    for (name, contents) in files { try contents.write(to: URL(fileURLWithPath: pictures.file(name))) }
    let server = try Nginx(serving: pictures.path)
    let folders = try DarkroomFolders()
    let urls = Self.failures.map { $0.url.replacing("BASE", with: "http://127.0.0.1:\(server.port)") }
    try folders.drop("job.jsonl", (urls + [server.url("good.jpg")]).map { "{\"url\": \"\($0)\"}\n" }.joined())
    let run = try folders.run(["--max-bytes", "1M"])
    #expect(run.status == 1)
    let report = try folders.report("job")
    #expect(report.state == "partial")
    #expect(report.counts == Report.Counts(total: urls.count + 1, filtered: 1, failed: urls.count))
    for (row, expected) in zip(report.entries, Self.failures) {
      #expect(row.error?.code == expected.code, "\(row.url): \(row.error?.message ?? "")")
      #expect(row.error?.message.contains(expected.message) == true, "\(row.url): \(row.error?.message ?? "")")
      #expect(row.output == nil)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job/images") == ["good.jpg"])
    let failed = try String(decoding: folders.contents("job/job.failed.jsonl"), as: UTF8.self)
    #expect(failed.split(separator: "\n").count == urls.count)
    #expect(try folders.staged().isEmpty)
  }

  @Test func `the list of failures is a manifest that can be dropped as it is`() throws {
    let folders = try DarkroomFolders()
    try folders.drop(
      "job.json",
      #"{"later/cat": {"url": "missing.png", "filters": "invert()", "metadata": {"a": [1, 0.1]}}, "x": "coffee.jpg"}"#)
    #expect(try folders.run().status == 1)
    let failed = try folders.contents("job/job.failed.jsonl")
    let mode = try FileManager.default.attributesOfItem(atPath: folders.outbox + "/job/job.failed.jsonl")
    #expect((mode[.posixPermissions] as? Int) == 0o600)
    try folders.drop(
      "again.jsonl", String(decoding: failed, as: UTF8.self).replacing("missing.png", with: "rocket.jpg"))
    #expect(try folders.run().status == 0)
    #expect(try folders.report("again").entries.map(\.output?.file) == ["images/later/cat.jpg"])
    let report = try String(decoding: folders.contents("again/report.json"), as: UTF8.self)
    #expect(report.contains(#""metadata":{"a":[1,0.1]}"#))
    #expect(report.contains(#""filters":"invert(1)""#))
  }

  @Test func `userinfo is in no report, log or ledger`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "http://somebody:hunter2@127.0.0.1:1/a.jpg\nhttp://x:hunter2@[/b.jpg\n")
    let run = try folders.run(["--verbose"])
    #expect(!run.error.contains("hunter2"))
    for path in ["job/report.json", "job/entries.jsonl", ".darkroom/ledger.sqlite"] {
      #expect(try folders.contents(path).range(of: Data("hunter2".utf8)) == nil, "\(path)")
    }
  }
}
