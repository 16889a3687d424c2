import Foundation
import TestSupport
import Testing

/// Disks that are full, read-only, or gone: nothing is lost, and the program says what it waits for.
@Suite(.blocking, .disabled(if: SmallDisk.obstacle != nil, Comment(rawValue: SmallDisk.obstacle ?? "")))
struct DiskTests {
  /// What lies on the disk that is full.
  enum Full: CaseIterable { case everything, pictures, ledger }

  static let pictures = ["astronaut.jpg", "chelsea.jpg", "coffee.jpg", "rocket.jpg"]

  private let folders: DarkroomFolders
  private let state: String

  init() throws {
    folders = try DarkroomFolders()
    state = folders.folder.file("state")
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
  }

  /// A small disk, and the options that put things on it.
  private func disk(_ full: Full, kilobytes: Int) throws -> (disk: SmallDisk, options: [String]) {
    let path = full == .ledger ? state : folders.outbox
    let disk = try SmallDisk(over: path, in: folders.folder, kilobytes: kilobytes)
    return (
      disk,
      ["--filters", "none", "--metadata", "all", "--min-free", "0"] + (full == .everything ? [] : ["--state", state])
    )
  }

  /// Expects that every picture is there once, whole, and that the report tells of the disk.
  private func expectAll(_ count: Int = pictures.count, tellingPauses: Bool = true) throws {
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: count, filtered: count))
    if tellingPauses {
      #expect(report.pauses?.isEmpty == false && report.pauses?.allSatisfy { $0.cause == "disk" } == true)
    }
    for row in report.entries {
      let file = try #require(row.output?.file)
      let source = packageRoot + "/Samples/" + (row.url as NSString).lastPathComponent
      #expect(try folders.contents("job/" + file) == Data(contentsOf: URL(fileURLWithPath: source)))
    }
    let lines = try String(decoding: folders.contents("job/entries.jsonl"), as: UTF8.self)
    #expect(lines.split(separator: "\n").count == count)
    #expect(!folders.exists("job/history"))
    #expect(try folders.inboxNames().isEmpty)
    #expect(try folders.staged().isEmpty)
  }

  static let sizes = [
    (Full.everything, 204), (.everything, 236), (.everything, 276), (.pictures, 4), (.pictures, 60), (.pictures, 120),
    (.ledger, 156),
  ]

  @Test(arguments: sizes)
  func `run ends with 75 when the disk stays full, and the next run does the rest`(
    full: Full, kilobytes: Int
  ) throws {
    try folders.drop("job.txt", Self.pictures.map { $0 + "\n" }.joined())
    let (disk, options) = try disk(full, kilobytes: kilobytes)
    let first = try folders.run(options + ["--lock-wait", "0.2"]).expect(status: 75)
    #expect(first.error.contains("disk (a write failed: no space left)"), "\(first.error)")
    #expect(!folders.exists("job/report.json"))
    #expect(try folders.inboxNames() == ["job.txt"])
    try disk.resize(kilobytes: 8192)
    try folders.run(options).expect(status: 0)
    // A ledger without room for anything cannot remember the pause beyond the end of the process. How much pictures and pages
    // have left of a small disk depends on their order.
    try expectAll(tellingPauses: full == .pictures || kilobytes > 270)
  }

  @Test(arguments: sizes)
  func `watch waits for room and then finishes everything`(full: Full, kilobytes: Int) throws {
    let (disk, options) = try disk(full, kilobytes: kilobytes)
    let watch = try folders.start("watch", options)
    try folders.drop("job.txt", Self.pictures.map { $0 + "\n" }.joined())
    #expect(try watch.waitForLine(containing: "paused: disk (a write failed") != nil)
    try disk.resize(kilobytes: 8192)
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    let finished = try watch.stop()
    // What failed while there was no room is no reason to wait once more when there is.
    #expect(finished.error.matches(of: /paused: disk/).count == 1, "\(finished.error)")
    // A job that could not even be accepted meanwhile was not paused.
    try expectAll(tellingPauses: full != .ledger)
  }

  /// Room for the picture and the line of `entries.jsonl`, but not for the copy of the manifest, or the report.
  @Test(arguments: ["run", "watch"], [200, 310])
  func `a report that does not fit is written when there is room`(command: String, kilobytes: Int) throws {
    let (disk, options) = try disk(.pictures, kilobytes: kilobytes)
    let entry = ["url": "chelsea.jpg", "metadata": ["text": String(repeating: "x", count: 100 << 10)]] as [String: Any]
    try folders.drop("job.jsonl", JSONSerialization.data(withJSONObject: entry))
    if command == "run" {
      try folders.run(options + ["--lock-wait", "0.2"]).expect(status: 75)
      #expect(folders.exists("job/images/chelsea.jpg") && !folders.exists("job/report.json"))
      #expect(!folders.exists("job/manifest.jsonl"), "all documents fit, or none is delivered")
      #expect(try folders.inboxNames() == ["job.jsonl"])
      try disk.resize(kilobytes: 8192)
      #expect(try folders.run(options).status == 0)
    } else {
      let watch = try folders.start("watch", options)
      #expect(try watch.waitForLine(containing: "paused: disk (a write failed") != nil)
      #expect(!folders.exists("job/report.json"))
      try disk.resize(kilobytes: 8192)
      #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
      try watch.stop()
    }
    try expectAll(1)
  }

  @Test func `a job whose report is being written is told as finishing, and waited for`() throws {
    let (disk, options) = try disk(.pictures, kilobytes: 200)
    let entry = ["url": "chelsea.jpg", "metadata": ["text": String(repeating: "x", count: 100 << 10)]] as [String: Any]
    // A manifest outside the inbox: there nothing tells of the job but the status.
    let manifest = folders.folder.file("job.jsonl")
    try JSONSerialization.data(withJSONObject: entry).write(to: URL(fileURLWithPath: manifest))
    let run = try folders.start("run", options + [manifest])
    #expect(try run.waitForLine(containing: "paused: disk (a write failed") != nil)
    let named = folders.named + ["--state", state]
    func job() throws -> [String: Any]? {
      let status = try DarkroomProcess.run(["status", "--json"] + named)
      #expect(try JSONSchema.violations(of: Data(status.output.utf8), name: "status.schema.json") == "")
      let object = try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
      return (object?["jobs"] as? [[String: Any]])?.first
    }
    let limit = Date() + 60
    while try job()?["state"] as? String != "finishing", Date() < limit {}
    let finishing = try job()
    #expect(finishing?["state"] as? String == "finishing" && finishing?["filtered"] as? Int == 1)
    #expect(
      try DarkroomProcess.run(["status"] + named).output.contains("job job: 1 of 1, the report is being written"))
    let wait = try DarkroomProcess(["wait", "job", "--poll-interval", "0.05"] + named)
    for _ in 0..<3 { #expect(try job() != nil) }
    try disk.resize(kilobytes: 8192)
    #expect(try run.finish().status == 0)
    let waited = try wait.finish()
    #expect(waited.status == 0 && waited.output == folders.outbox + "/job/report.json\n", "\(waited.error)")
  }

  @Test func `a ledger that cannot even begin is a reason to try again later`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    let (disk, options) = try disk(.everything, kilobytes: 4)
    #expect(try folders.run(options).status == 75)
    try disk.resize(kilobytes: 8192)
    #expect(try folders.run(options).status == 0)
    #expect(try folders.report("job").state == "succeeded")
  }

  @Test func `less than --min-free is told in units that people know`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    let (disk, options) = try disk(.everything, kilobytes: 2048)
    let run = try folders.run(options + ["--min-free", "256M", "--lock-wait", "0"]).expect(status: 75)
    #expect(
      run.error.contains(/disk \(1(\.[0-9])? MiB free in the outbox, and --min-free is 256 MiB\)/), "\(run.error)")
    withExtendedLifetime(disk) {}
  }

  @Test(arguments: ["run", "watch"], [false, true])
  func `a read-only outbox ends with 73 and is named`(command: String, hasStateElsewhere: Bool) throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    let (disk, options) = try disk(hasStateElsewhere ? .pictures : .everything, kilobytes: 512)
    try disk.makeReadOnly()
    let ended = try folders.start(command, options).finish().expect(status: 73)
    #expect(ended.error.contains("\(folders.outbox)/.darkroom: Read-only file system"), "\(ended.error)")
    #expect(try folders.inboxNames() == ["job.txt"])
  }
}
