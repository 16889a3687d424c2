import Foundation
import TestSupport
import Testing

/// An inbox from which nothing can be taken now, because its file system is full: that concerns the jobs whose manifests
/// they are, and nothing else waits.
@Suite(.blocking, .disabled(if: SmallDisk.obstacle != nil, Comment(rawValue: SmallDisk.obstacle ?? "")))
struct InboxTroubleTests {
  private let folders: DarkroomFolders
  private let disk: SmallDisk
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    disk = try SmallDisk(over: folders.inbox, in: folders.folder, kilobytes: 1024, files: 16)
    server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
  }

  /// Leaves no room for another file or folder.
  private func fill() {
    for number in 0..<100 where mknod(folders.inbox + "/.fill\(number)", S_IFREG | 0o600, 0) != 0 {
      #expect(errno == ENOSPC)
      return
    }
    Issue.record("the inbox is not full")
  }

  private func empty() throws {
    for name in try folders.inboxNames() where name.hasPrefix(".fill") {
      try FileManager.default.removeItem(atPath: folders.inbox + "/" + name)
    }
  }

  @Test func `watch goes on with other jobs, and takes the manifests out when there is room`() throws {
    let watch = try folders.start("watch", ["--filters", "none"])
    try folders.drop("a.txt", packageRoot + "/Samples/chelsea.jpg\n" + server.url("a") + "\n")
    _ = try server.nextRequest()
    try folders.drop("b.txt", server.url("b") + "\n")
    _ = try server.nextRequest()
    fill()
    try server.release(100)
    for job in ["a", "b"] {
      #expect(try watch.waitForLine(containing: "cannot end now, which is tried again") != nil, "\(job)")
    }
    for job in ["a", "b"] { #expect(try folders.report(job).state == "succeeded") }
    let status = try eventually(
      { try folders.ask("status").output }, is: { $0.matches(of: /job [ab] is in trouble/).count == 2 })
    #expect(status.matches(of: /job [ab] is in trouble/).count == 2, "\(status)")
    try empty()
    for _ in 0..<2 { #expect(try watch.waitForLine(containing: ": succeeded") != nil) }
    watch.send(SIGTERM)
    let ended = try watch.finish()
    #expect(ended.status == 0 && !ended.error.contains("paused"), "\(ended.error)")
    #expect(try folders.inboxNames().isEmpty)
  }

  @Test func `run gives up after a minute, and the next takes the manifest out and does nothing twice`() throws {
    let clock = try MovedClock(.monotonic)
    try folders.drop("a.txt", server.url("a") + "\n")
    let run = try DarkroomProcess(["run"] + folders.options + ["--filters", "none"], environment: clock.environment)
    _ = try server.nextRequest()
    fill()
    try server.release(100)
    #expect(try run.waitForLine(containing: "job a cannot end now, which is tried again") != nil)
    try clock.set(120)
    let ended = try run.finish().expect(status: 73)
    #expect(ended.error.contains("the manifest cannot be moved out of the inbox"), "\(ended.error)")
    #expect(!ended.error.contains("paused"), "\(ended.error)")
    #expect(ended.error.contains("a: succeeded"), "\(ended.error)")
    try empty()
    try folders.run(["--filters", "none"]).expect(status: 0)
    #expect(try folders.inboxNames().isEmpty && !folders.exists("a/history"))
  }
}
