import Foundation
import TestSupport
import Testing

/// The inbox is another folder for a while.
@Suite(.blocking) struct InboxExchangeTests {
  private let folders: DarkroomFolders
  private var away: String { folders.folder.file("away") }

  init() throws { folders = try DarkroomFolders() }

  private func move(_ from: String, _ target: String) throws {
    try FileManager.default.moveItem(atPath: from, toPath: target)
  }

  /// Waits until the inbox has been scanned.
  private func waitForScan(_ watch: DarkroomProcess) throws {
    for _ in 0..<4 {
      watch.send(SIGHUP)
      #expect(try watch.waitForLine(containing: "configuration") != nil)
    }
  }

  @Test(arguments: [false, true])
  func `under watch it is told once, nothing of the other folder is taken, and the inbox is when it is back`(
    isReplaced: Bool
  ) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("live.txt", server.url("a") + "\n")
    let watch = try folders.start("watch", ["--filters", "none", "--verbose"])
    _ = try server.nextRequest()
    try move(folders.inbox, away)
    if isReplaced {
      try FileManager.default.createDirectory(atPath: folders.inbox, withIntermediateDirectories: false)
      try folders.drop("other.txt", "coffee.jpg\n")
    }
    #expect(try watch.waitForLine(containing: "the inbox cannot be read") != nil)
    try waitForScan(watch)
    if isReplaced {
      // It is written once a second.
      let told = "the inbox cannot be read: \(folders.inbox)"
      #expect(try eventually({ try folders.ask("status").output }, is: { $0.contains(told) }).contains(told))
    }
    // A job that is live ends, and its manifest goes when the inbox is back.
    try server.release(10)
    #expect(try watch.waitForLine(containing: "live: succeeded") != nil)
    if isReplaced { try FileManager.default.removeItem(atPath: folders.inbox) }
    try move(away, folders.inbox)
    #expect(try watch.waitForLine(containing: "the inbox is back") != nil)
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    let ended = try watch.stop()
    let troubles = ended.error.split(separator: "\n").filter { $0.contains("the inbox cannot be read") }
    #expect(troubles.count { $0.contains("another folder is in its place") } == (isReplaced ? 1 : 0), "\(ended.error)")
    #expect(troubles.count <= (isReplaced ? 2 : 1), "it may have been looked for before the other one was there")
    #expect(ended.error.split(separator: "\n").count { $0.contains("the inbox is back") } == 1, "\(ended.error)")
    #expect(!folders.exists("other") && !folders.exists("live/history"))
    #expect(try folders.run().status == 0)
    #expect(try folders.inboxNames().isEmpty)
    #expect(!folders.exists("live/history"))
  }

  @Test(.enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")"))
  func `unmounted under watch it is told, and mounted again it is the inbox, also under another device number`() throws
  {
    // Two mounts of what a share would hold.
    let store = try folders.folder.makeFolder("store")
    func mountInbox() throws { #expect(mount(store, folders.inbox, "", UInt(MS_BIND), nil) == 0) }
    try mountInbox()
    defer { umount2(folders.inbox, Int32(MNT_DETACH)) }
    let watch = try folders.watch(["--filters", "none"])
    for isOther in [false, true] {
      umount2(folders.inbox, Int32(MNT_DETACH))
      #expect(try watch.waitForLine(containing: "the inbox cannot be read") != nil)
      if isOther {
        let disk = folders.folder.file("disk")
        #expect(
          try DarkroomProcess.run(script: "cp -a store disk; rm -r store; mv disk store", in: folders.folder).status
            == 0)
        #expect(!FileManager.default.fileExists(atPath: disk))
      }
      try mountInbox()
      #expect(try watch.waitForLine(containing: "the inbox is back") != nil)
      try folders.drop("job-\(isOther).txt", "coffee.jpg\n")
      #expect(try watch.waitForLine(containing: "job-\(isOther): succeeded") != nil)
    }
    try watch.stop()
    #expect(try folders.inboxNames().isEmpty)
  }
}
