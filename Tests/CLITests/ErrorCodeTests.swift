import Foundation
import Imaging
import Manifests
import Testing
import TestSupport
import Transfer

/// Every error code comes out of the real program, where it belongs.
@Suite(.blocking) struct ErrorCodeTests {
  static let entries: [EntryFault] = [
    EntryFault("url-invalid", url: "http://", saying: "http://"),
    EntryFault("scheme-not-allowed", url: "gopher://127.0.0.1/x", saying: "gopher"),
    EntryFault("address-not-allowed", url: "http://10.0.0.1/x.jpg", saying: "--allow-net 10.0.0.0/8"),
    EntryFault("file-not-found", url: "missing.jpg", saying: "missing.jpg"),
    EntryFault("host-not-found", url: "http://name.invalid/x.jpg", saying: "there is no host name.invalid"),
    EntryFault("host-not-found", url: "http:/name.invalid/x.jpg", saying: "two slashes before its host: http://HOST/"),
    EntryFault(
      "dns", "download", saying: "proxy.invalid", isRetryable: true, options: ["--proxy", "http://proxy.invalid"]
    ) { _ in ("http://name.invalid/x.jpg", nil) },
    EntryFault("connect", url: "http://127.0.0.1:1/x.jpg", saying: "127.0.0.1", isRetryable: true),
    EntryFault("tls", "download", saying: "certificate", prepare: EntryFault.selfSigned),
    EntryFault("timeout", faultAt: "stall", saying: "1", isRetryable: true, options: ["--timeout", "1"]),
    EntryFault("http-status", "download", saying: "404") { _ in
      let server = try Nginx(serving: packageRoot + "/Samples")
      return (server.url("nothing.jpg"), server)
    },
    EntryFault(
      "too-many-redirects", faultAt: "loop", saying: "3", isRetryable: false, options: ["--max-redirects", "3"]),
    EntryFault(
      "too-large", "download", serving: { try EntryFault.sample("coffee.jpg") }, saying: "--max-bytes is 1 KiB",
      options: ["--max-bytes", "1K"]),
    EntryFault("truncated", faultAt: "short", saying: "95 bytes remaining", isRetryable: true),
    EntryFault(
      "checksum-mismatch", "download", serving: { Data("hello".utf8) }, saying: "5d41402abc4b2a76b9719d911017c592",
      fields: #", "checksum": "md5=00000000000000000000000000000000""#),
    EntryFault("network", faultAt: "garbage", saying: "127.0.0.1", isRetryable: true),
    EntryFault("not-an-image", "filter", serving: { Data("<!DOCTYPE html><p>Sign in".utf8) }, saying: "HTML"),
    EntryFault("unsupported-format", "filter", serving: { Data("\0\0\u{1}\0\u{1}\0".utf8) }, saying: "ICO"),
    EntryFault(
      "image-corrupt", "filter",
      serving: {
        var picture = try EntryFault.sample("chelsea-small.png")
        picture[picture.count / 2] ^= 0xff
        return picture
      }, saying: "PNG"),
    EntryFault(
      "image-truncated", "filter", serving: { try EntryFault.sample("coffee.jpg").prefix(9999) }, saying: "end"),
    EntryFault(
      "image-too-large", "filter", serving: { try EntryFault.sample("coffee.jpg") },
      saying: "--max-pixels is 100 pixels",
      options: ["--max-pixels", "100"]),
    EntryFault(
      "image-too-small", "filter", serving: { try #require(pixel) },
      saying: "--min-pixels is 2 pixels; the picture has fewer: 1 × 1",
      options: ["--min-pixels", "2"]),
    EntryFault("io", "outbox", serving: { Data(count: 1 << 20) }, saying: "File too large", fileLimit: 512),
    EntryFault("name-conflict", "outbox", saying: "images/rocket.jpg") { folders in
      let images = folders.outbox + "/job/images"
      try FileManager.default.createDirectory(atPath: images, withIntermediateDirectories: true)
      try Data("mine".utf8).write(to: URL(fileURLWithPath: images + "/rocket.jpg"))
      return ("rocket.jpg", nil)
    },
  ]

  /// A picture of two pixels, which passes the limits that others meet.
  private static let good = Data(
    base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGNQaDgARAAIZwLByNQeHwAAAABJRU5ErkJggg==")

  /// A picture of one pixel.
  private static let pixel = Data(
    base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

  @Test(arguments: entries)
  func `an entry ends in the code, and the entry beside it is delivered`(_ fault: EntryFault) throws {
    let folders = try DarkroomFolders()
    let root = folders.folder.file("root")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    try #require(Self.good).write(to: URL(fileURLWithPath: root + "/good.png"))
    try EntryFault.sample("rocket.jpg").write(to: URL(fileURLWithPath: root + "/rocket.jpg"))
    let (url, server) = try fault.prepare(folders)
    try folders.drop("job.jsonl", "{\"url\": \"\(url)\"\(fault.fields)}\n{\"url\": \"good.png\"}\n")
    let options = folders.options.map { $0 == packageRoot + "/Samples" ? root : $0 } + fault.options
    let limit = fault.fileLimit.map { "ulimit -f \($0); " } ?? ""
    let run = try withExtendedLifetime(server) {
      try DarkroomProcess.run(
        script: limit + "darkroom run " + options.map { "'\($0)'" }.joined(separator: " "), in: folders.folder)
    }
    #expect(run.status == 1, "\(run.error)")
    let report = try folders.report("job")
    #expect(report.state == "partial")
    #expect(report.counts == Report.Counts(total: 2, filtered: 1, failed: 1))
    let error = try #require(report.entries.first?.error)
    #expect(error.code == fault.code, "\(error)")
    #expect(error.stage == fault.stage, "\(error)")
    #expect(error.message.contains(fault.message), "\(error)")
    #expect(error.retryable == fault.isRetryable, "\(error)")
    #expect(report.entries.first?.output == nil)
    #expect(folders.exists("job/images/good.png"))
    let failed = try String(decoding: folders.contents("job/job.failed.jsonl"), as: UTF8.self)
    #expect(failed.contains("\"code\":\"\(fault.code)\""), "\(failed)")
    #expect(failed.split(separator: "\n").count == 1)
    #expect(try folders.staged().isEmpty)
  }

  /// Manifests that are rejected: the file, its contents, and the code, place and words of the message.
  static let manifests: [(file: String, contents: String, code: String, place: String, message: String)] = [
    ("bad.json", "[\"a\",\n oops]", "syntax", "line 2, column 2", "double quotes"),
    ("bad.jsonl", "\"a\"\n{\n", "syntax", "line 2, column 1", "the text ends too early"),
    (
      "bad.plist", "<plist><dict><key>a</key><string/><key>a</key><string/></dict></plist>", "syntax", "line 1", "\"a\""
    ),
    ("bad.csv", "url,name\nx\n", "syntax", "line 2, column 2", "1 cell, the header 2; empty"),
    ("bad.tsv", "url\tname\nx\t\"\n", "syntax", "line 2, column 3", "never closed"),
    ("bad.urls", " out=a\n", "syntax", "line 1", "there is none"),
    ("bad.json.gz", "[]", "syntax", "", "not gzip"),
    ("bad.txt", "\u{feff}a\nBAD\n", "encoding", "line 2", "UTF-8"),
    ("bad.csv", "url\nBAD\n", "encoding", "line 2, column 1", "UTF-8"),
    ("bad.txt", String(repeating: "x", count: 1 << 21), "too-large", "line 1", "1048576"),
    ("bad.json", String(repeating: "[", count: 40) + String(repeating: "]", count: 40), "too-deep", "[0]", "32"),
    ("bad.json", #"{"a": {"url": "x", "filtres": "none"}}"#, "unknown-field", "a.filtres", "\"filters\""),
    ("bad.urls", "http://h/a\n outt=b\n", "unknown-field", "line 2: outt", "\"out\""),
    ("bad.jsonl", #"{"url": 7}"#, "wrong-type", "line 1: url", "a string"),
    ("bad.json", #"{"a": {"url": "x", "quality": 101}}"#, "bad-value", "a.quality", "from 1 to 100"),
    ("bad.json", #"[{"url": "x", "metadata": 1e999}]"#, "bad-value", "line 1, column 31", "as a string"),
    ("bad.csv", "name\na\n", "bad-value", "line 1, column 1", "\"url\""),
    ("bad.json", #"{"a": "x", "A": "y"}"#, "duplicate-name", "A", "\"a\""),
    ("bad.jsonl", #"{"url": "x", "after": ["y"]}"#, "unknown-dependency", "line 1: after", "\"y\""),
    (
      "bad.json", #"{"a": {"url": "x", "after": ["b"]}, "b": {"url": "y", "after": "a"}}"#, "cycle", "a.after",
      "\"a\" after \"b\" after \"a\""
    ),
    ("bad.csv", "url,filters\nx,sepai(1)\n", "bad-recipe", "line 2: filters", "sepia"),
  ]

  @Test(arguments: manifests)
  func `a manifest is rejected with the code, and the manifest beside it is processed`(
    file: String, contents: String, code: String, place: String, message: String
  ) throws {
    let folders = try DarkroomFolders()
    var bytes = Data(contents.utf8)
    if let bad = bytes.range(of: Data("BAD".utf8)) { bytes.replaceSubrange(bad, with: [0x81]) }
    try folders.drop(file, bytes)
    try folders.drop("good.txt", "coffee.jpg\n")
    let checked = try DarkroomCommand.run(["check", folders.inbox + "/" + file]).expect(status: 65)
    #expect(place.isEmpty || (checked.output + checked.error).contains(place))
    try folders.run(["--filters", "none"]).expect(status: 65)
    #expect(try folders.inboxNames().isEmpty)
    let report = try folders.report("bad")
    #expect(report.state == "rejected")
    #expect(report.counts.total == 0)
    let problem = try #require(report.errors?.first)
    #expect(problem.code == code)
    #expect(place.isEmpty ? problem.where == nil : problem.where?.hasPrefix(place) == true, "\(problem)")
    #expect(problem.message.contains(message), "\(problem)")
    #expect(try folders.contents("bad/manifest." + file.dropFirst(4)) == bytes)
    #expect(!folders.exists("bad/images"))
    #expect(try folders.report("good").state == "succeeded")
  }

  @Test func `every code of the source has its row above, unless it is reserved or cannot be had on purpose`() throws {
    let page = try Documentation.text("Documentation/report.md")
    let reserved = Set(page.matches(of: /\n\| `([a-z-]+)` \| reserved/).map { String($0.1) })
    // An encoder that refuses rows of a decoder is a mistake of ours, and so is a decoder that crashes (see WorkerTests). An
    // entry whose dependency failed is not the only one that fails (see DependencyTests).
    let ours: Set = ["cancelled", "filter-failed", "decoder-crashed", "dependency-failed"]
    let entryCodes = Set(ImagingError.Code.allCases.map(\.rawValue)).union(TransferError.Code.allCases.map(\.rawValue))
      .union(try ReportSchema().entryErrorCodes)
    #expect(Set(Self.entries.map(\.code)) == entryCodes.subtracting(reserved).subtracting(ours))
    let manifestCodes = Set(ManifestProblem.Code.allCases.map(\.rawValue))
    #expect(manifestCodes == (try ReportSchema().manifestErrorCodes))
    // What is no manifest's own fault, `check` does not see (see SourceTests).
    #expect(Set(Self.manifests.map(\.code)) == manifestCodes.subtracting(reserved).subtracting(["source-failed"]))
  }
}
