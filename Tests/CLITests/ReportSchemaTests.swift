import Foundation
import TestSupport
import Testing

/// Reports of real jobs follow the schema.
@Suite("The report's schema", .blocking)
struct ReportSchemaTests {
  /// A manifest, what it is called, and the state of its report.
  struct Case: Sendable, CustomTestStringConvertible {
    let state: String
    let file: String
    let manifest: String
    var testDescription: String { "\(state): \(file)" }
  }

  static let cases = [
    Case(
      state: "succeeded", file: "all.json",
      manifest: #"{"a/b": "coffee.jpg", "c": {"url": "chelsea-small.png", "filters": "none", "metadata": [null]}}"#),
    Case(
      state: "partial", file: "some.jsonl",
      manifest: """
        "coffee.jpg"
        {"url": "http://user:password@127.0.0.1:9/a.jpg", "priority": "high"}
        {"url": "CREDITS.md", "name": "../none.jpg", "metadata": {"id": 1.5}}
        "ftp://server.example/a.jpg"
        ""
        """),
    Case(state: "failed", file: "none.txt", manifest: "not-there.jpg\n"),
    Case(state: "succeeded", file: "empty.txt", manifest: ""),
    Case(state: "rejected", file: "syntax.plist", manifest: "<plist>"),
    Case(state: "rejected", file: "fields.json", manifest: #"[{"ulr": "a", "quality": 0, "filters": "blurr()"}, 7]"#),
  ]

  @Test("is followed by reports of every state", arguments: cases)
  func states(_ job: Case) throws {
    let folder = try TemporaryFolder()
    try job.manifest.write(toFile: folder.file(job.file), atomically: false, encoding: .utf8)
    let run = try DarkroomProcess.run(["run", "--file-root", Documentation.samples, job.file], in: folder)
    let report = try report(of: job.file, in: folder)
    #expect(try ReportSchema.violations(of: report.data) == "", "\(run.error)")
    #expect(report.object["state"] as? String == job.state)
  }

  @Test(
    "is followed by the report of an animation, or of a file of several pictures, which it counts",
    arguments: [("webp-animation", "webp", 2), ("jpeg-several", "jpeg", 3)], ["keep", "webp", "png"])
  func animation(_ picture: (name: String, format: String, frames: Int), _ format: String) throws {
    let folder = try TemporaryFolder()
    try #"["\#(picture.name)"]"#.write(toFile: folder.file("job.json"), atomically: false, encoding: .utf8)
    let corpus = packageRoot + "/Tests/Fuzz/Corpus/pictures"
    let run = try DarkroomProcess.run(["run", "--file-root", corpus, "--format", format, "job.json"], in: folder)
    #expect(run.status == 0, "\(run.error)")
    let report = try report(of: "job.json", in: folder)
    #expect(try ReportSchema.violations(of: report.data) == "")
    let row = try #require((report.object["entries"] as? [[String: Any]])?.first)
    let (source, output) = (row["source"] as? [String: Any], row["output"] as? [String: Any])
    #expect(source?["frames"] as? Int == picture.frames && source?["format"] as? String == picture.format)
    let ending = format != "keep" ? format : picture.format == "jpeg" ? "jpg" : picture.format
    #expect(output?["file"] as? String == "images/\(picture.name).\(ending)")
  }

  @Test("is followed by the report of a job that was paused")
  func paused() throws {
    let folder = try TemporaryFolder()
    let script = """
      mkdir inbox
      darkroom pause backup --reason 'nightly backup'
      echo coffee.jpg > inbox/job.txt
      darkroom run --settle 0 --poll-interval 0.05 2> log &
      until grep -q paused log && grep -q "1 entry" log; do sleep 0.02; done
      darkroom resume backup
      wait %1
      """
    let run = try DarkroomProcess.run(
      script: script, in: folder, environment: ["DARKROOM_FILE_ROOT": Documentation.samples])
    #expect(run.status == 0, "\(run.error)")
    let report = try report(of: "job.txt", in: folder)
    #expect(try ReportSchema.violations(of: report.data) == "")
    let pauses = report.object["pauses"] as? [[String: Any]]
    #expect(pauses?.map { $0["lock"] as? String } == ["backup.lock"])
    #expect(pauses?.map { $0["reason"] as? String } == ["nightly backup"])
  }

  @Test("is followed by the report that the documentation shows")
  func example() throws {
    let blocks = try Documentation.blocks(of: "Documentation/report.md").filter { $0.isTagged("report") }
    let example = try #require(blocks.first)
    #expect(try ReportSchema.violations(of: Data(example.text.utf8)) == "")
  }

  @Test(
    "is followed by a report with keys of a later version, which the tests do not take for this one's",
    arguments: ["\"job\": \"cats\",", "\"counts\": {", "\"error\": {", "\"output\": {", "\"index\": 0,"])
  func unknownKey(_ place: String) throws {
    let blocks = try Documentation.blocks(of: "Documentation/report.md").filter { $0.isTagged("report") }
    let example = try #require(blocks.first).text
    try #require(example.contains(place))
    let report = Data(example.replacing(place, with: place + " \"later\": { \"version\": 2 },").utf8)
    #expect(try JSONSchema.violations(ofDocument: report, name: "report.schema.json", isClosed: false) == "")
    #expect(try ReportSchema.violations(of: report).contains("later"))
  }

  @Test("leaves room for keys of later versions", arguments: ["report", "status", "events", "notification"])
  func laterVersions(_ name: String) throws {
    let schema = try Documentation.text("Documentation/\(name).schema.json")
    #expect(!schema.contains(/"(additional|unevaluated)Properties": *false/))
  }

  @Test(
    "is not followed by a report that was damaged",
    arguments: [
      ("\"schema_version\": 1", "\"schema_version\": 2"), ("\"job\": \"cats\",", ""),
      ("\"paused_s\": 60.25", "\"paused\": 60.25"), ("30:00.012Z", "30:00Z"), ("\"http-status\"", "\"http-staus\""),
      ("\"stage\": \"download\"", "\"stage\": \"filter\""), ("\"state\": \"filtered\"", "\"state\": \"cancelled\""),
      ("images/whiskers.jpg", "/etc/passwd"), ("\"state\": \"partial\"", "\"state\": \"rejected\""),
    ])
  func damaged(_ original: String, _ replacement: String) throws {
    let blocks = try Documentation.blocks(of: "Documentation/report.md").filter { $0.isTagged("report") }
    let example = try #require(blocks.first).text
    try #require(example.contains(original))
    #expect(try ReportSchema.violations(of: Data(example.replacing(original, with: replacement).utf8)) != "")
  }

  private func report(of manifest: String, in folder: TemporaryFolder) throws -> (data: Data, object: [String: Any]) {
    let job = (manifest as NSString).deletingPathExtension
    let data = try Data(contentsOf: URL(fileURLWithPath: folder.file("outbox/\(job)/report.json")))
    return (data, try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any]))
  }
}
