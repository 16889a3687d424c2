import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct DoubtfulAnswerTests {
  private let folders: DarkroomFolders
  private let pictures: TemporaryFolder
  private let nginx: Nginx

  init() throws {
    folders = try DarkroomFolders()
    pictures = try TemporaryFolder()
    nginx = try Nginx(
      serving: pictures.path, directives: "location /gone/ { rewrite ^ /placeholder.png break; }")
    let script = """
      import sys
      from PIL import Image
      for name, side in zip(sys.argv[2::2], sys.argv[3::2]):
          Image.new("RGB", (int(side), 3)).save(sys.argv[1] + "/" + name)
      """
    _ = try TestPython.run(
      script, [pictures.path, "placeholder.png", "2", "tiny.png", "1", "small.jpg", "3", "good.png", "4"])
  }

  private func run(_ lines: [String], _ options: [String] = [], status: Int32 = 0) throws -> Report {
    try folders.drop("job.jsonl", lines.map { $0 + "\n" }.joined())
    let run = try folders.run(options)
    #expect(run.status == status, "\(run.error)")
    let report = try folders.contents("job/report.json")
    #expect(try ReportSchema.violations(of: report) == "")
    return try folders.report("job")
  }

  private func url(_ name: String, key: String? = nil) -> String {
    #"{"url": "\#(nginx.url(name))"\#(key.map { #", "cache-key": "\#($0)""# } ?? "")}"#
  }

  @Test(arguments: [[], ["--cache-size", "0"], ["--filters", "none"]])
  func `a placeholder under many URLs is a warning, again with each run`(options: [String]) throws {
    let lines = [url("good.png")] + (0..<7).map { url("gone/\($0).png") } + [url("gone/0.png"), url("gone/1.png")]
    for _ in 0..<2 {
      let report = try run(lines, options)
      let warning = try #require(report.warnings?.first)
      #expect(report.warnings?.count == 1 && report.state == "succeeded")
      #expect(warning.code == "same-source" && warning.where == "entries[1]")
      #expect(warning.message.hasPrefix("7 different URLs gave the same bytes"), "\(warning.message)")
      #expect(warning.message.contains(try #require(report.entries[1].source?.sha256).prefix(12)))
      #expect(warning.message.contains(#""0", "1", "2" and 4 more"#), "\(warning.message)")
    }
  }

  @Test func `four URLs, one URL many times, and one key many times are no reason for doubt`() throws {
    let (several, one) = ((0..<4).map { url("gone/\($0).png") }, (0..<9).map { _ in url("gone/0.png") })
    let lines = several + one + (0..<9).map { url("good.png?\($0)", key: "good") }
    for options in [["--cache-size", "0", "--downloads", "1"], []] {
      #expect(try run(lines, options).warnings == nil)
    }
  }

  @Test func `after a kill the rows of both processes count`() throws {
    try folders.drop("job.jsonl", (0..<6).map { url("gone/\($0).png") + "\n" }.joined())
    // The cache renames a file with bytes that it has already.
    let killed = try folders.run(["--downloads", "1"], injecting: "rename:signal=KILL:when=1")
    #expect(killed.status == SIGKILL, "\(killed.status)")
    #expect(try folders.run().status == 0)
    #expect(try folders.report("job").warnings?.first?.message.hasPrefix("6 different") == true)
  }

  @Test(arguments: ["sepia(1)", "none"])
  func `a picture below --min-pixels fails, whether it is filtered, copied or was delivered before`(
    recipe: String
  ) throws {
    let lines = ["tiny.png", "placeholder.png", "small.jpg", "good.png"].map { url($0) }
    #expect(try run(lines, ["--filters", recipe]).counts.filtered == 4)
    for count in 0..<2 {
      let report = try run(lines, ["--filters", recipe, "--min-pixels", "9"], status: 1)
      #expect(report.entries.map { $0.error?.code } == ["image-too-small", "image-too-small", nil, nil])
      #expect(report.entries.map { $0.reused ?? false } == [false, false, true, true])
      #expect(report.entries[0].error?.message == "--min-pixels is 9 pixels; the picture has fewer: 1 × 3")
      #expect(report.entries[0].error?.retryable == false)
      #expect(report.since_last?.failed_again == 2 * count)
    }
    #expect(try run(lines, ["--filters", recipe]).since_last == Report.SinceLast(recovered: 2, unchanged: 2))
    #expect(try folders.staged().isEmpty)
  }

  @Test(arguments: ["sepia(1)", "none", "resize(fit 1 1)"])
  func `a picture above --max-pixels fails, whether it is filtered, copied or was delivered before`(
    recipe: String
  ) throws {
    let lines = ["tiny.png", "good.png"].map { url($0) }
    #expect(try run(lines, ["--filters", recipe]).counts.filtered == 2)
    for _ in 0..<2 {
      let report = try run(lines, ["--filters", recipe, "--max-pixels", "9"], status: 1)
      #expect(report.entries.map { $0.error?.code } == [nil, "image-too-large"])
      #expect(report.entries[1].error?.message.hasPrefix("--max-pixels is 9 pixels") == true)
    }
    #expect(try run(lines, ["--filters", recipe]).since_last == Report.SinceLast(recovered: 1, unchanged: 1))
    #expect(try folders.staged().isEmpty)
  }
}
