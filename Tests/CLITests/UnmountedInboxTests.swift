import Foundation
import TestSupport
import Testing

/// The file system of the inbox is taken away while jobs are live, and given back.
@Suite(.blocking) struct UnmountedInboxTests {
  private let folders: DarkroomFolders

  /// Has the pictures.
  private let pictures: GatedServer

  /// Has a list of two of them.
  private let lists: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    let pictures = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    self.pictures = pictures
    let list = folders.folder.file("list.txt")
    try ["b0", "b1"].map { pictures.url($0) + "\n" }.joined().write(toFile: list, atomically: false, encoding: .utf8)
    lists = try GatedServer(serving: list)
  }

  /// What is mounted as the inbox, and how it is taken away: `umount --lazy`, or `mount --move` to another folder.
  enum Mounted: String, CaseIterable { case boundFolder, movedDisk }

  private var away: String { folders.folder.file("away") }
  private var store: String { folders.folder.file("store") }

  private func mountInbox(_ kind: Mounted) throws {
    for folder in [away, store] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }
    // A file system cannot be moved out of one whose mounts are shared with others.
    let path = folders.folder.path
    #expect(mount(path, path, "", UInt(MS_BIND), nil) == 0 && mount("", path, "", UInt(MS_PRIVATE), nil) == 0)
    switch kind {
    case .boundFolder: giveBack(kind)
    case .movedDisk: #expect(mount("tmpfs", folders.inbox, "tmpfs", 0, "size=1m") == 0)
    }
  }

  private func takeAway(_ kind: Mounted) {
    switch kind {
    case .boundFolder: #expect(umount2(folders.inbox, Int32(MNT_DETACH)) == 0)
    case .movedDisk: #expect(mount(folders.inbox, away, "", UInt(MS_MOVE), nil) == 0)
    }
  }

  private func giveBack(_ kind: Mounted) {
    switch kind {
    case .boundFolder: #expect(mount(store, folders.inbox, "", UInt(MS_BIND), nil) == 0)
    case .movedDisk: #expect(mount(away, folders.inbox, "", UInt(MS_MOVE), nil) == 0)
    }
  }

  /// Waits until the inbox has been scanned as often as it takes for a manifest that is missing to count as removed.
  private func waitForScans(_ watch: DarkroomProcess) throws {
    for _ in 0..<4 {
      watch.send(SIGHUP)
      guard try watch.waitForLine(containing: "configuration") == nil else { continue }
      Issue.record("it has ended: \(try watch.finish())")
      return
    }
  }

  /// The states of the jobs that have not ended, by their names.
  private func states() throws -> [String: String] {
    struct Status: Decodable {
      struct Job: Decodable { let job, state: String }
      let jobs: [Job]
    }
    let said = try folders.ask("status", ["--json"])
    let jobs = try JSONDecoder().decode(Status.self, from: Data(said.output.utf8)).jobs
    return Dictionary(jobs.map { ($0.job, $0.state) }) { first, _ in first }
  }

  private func wait(until isSo: () throws -> Bool) throws {
    #expect(try eventually(isSo, is: { $0 }))
  }

  private static let live = ["job": "running", "listed": "fetching"]

  @Test(
    .enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")"), arguments: Mounted.allCases, [false, true])
  func `unmounted while a job runs and a list is downloaded, nothing is cancelled, and nothing is asked for twice`(
    kind: Mounted, endsMeanwhile: Bool
  ) throws {
    try mountInbox(kind)
    defer { umount2(folders.folder.path, Int32(MNT_DETACH)) }
    // Both servers are one host.
    let options = ["--per-host", "3", "--first-byte-timeout", "600", "--filters", "none", "--verbose"]
    let watch = try folders.watch(options)
    try folders.drop("listed.json", #"{"source": "\#(lists.url("list.txt"))"}"#)
    #expect(try lists.nextRequest() == "/list.txt")
    try folders.drop("job.txt", (0..<4).map { pictures.url("a\($0)") + "\n" }.joined())
    let first = try (0..<2).map { _ in try pictures.nextRequest() }
    try wait { try states() == Self.live }
    // What the documentation says.
    #expect(umount2(folders.inbox, 0) == -1)
    takeAway(kind)
    #expect(try watch.waitForLine(containing: "the inbox cannot be read") != nil)
    try waitForScans(watch)
    #expect(try states() == Self.live)
    try pictures.release(endsMeanwhile ? 6 : 1)
    if endsMeanwhile {
      try lists.release(1)
      try wait { folders.exists("job/report.json") && folders.exists("listed/report.json") }
    } else {
      #expect(try watch.waitForLine(containing: ": filtered") != nil)
    }
    try waitForScans(watch)
    giveBack(kind)
    #expect(try watch.waitForLine(containing: "the inbox is back") != nil)
    try waitForScans(watch)
    if !endsMeanwhile {
      #expect(try states() == Self.live)
      try lists.release(1)
      try pictures.release(5)
    }
    // The manifests of what has ended go.
    try wait { try folders.inboxNames().isEmpty }
    watch.send(SIGTERM)
    let ended = try watch.finish()
    #expect(ended.status == 0 && !ended.error.contains("cancelled"), "\(ended.error)")
    for (job, count) in [("job", 4), ("listed", 2)] {
      let report = try folders.report(job)
      #expect(report.state == "succeeded" && report.counts == Report.Counts(total: count, filtered: count), "\(report)")
      #expect(!folders.exists(job + "/history"), "it is one run")
    }
    #expect(try (first + pictures.requestsSoFar()).sorted() == ["/a0", "/a1", "/a2", "/a3", "/b0", "/b1"])
    #expect(try lists.requestsSoFar().isEmpty && folders.staged().isEmpty)
  }
}
