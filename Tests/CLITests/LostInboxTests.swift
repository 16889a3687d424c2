import Foundation
import TestSupport
import Testing

/// Another folder has the inbox's path while an instance works.
@Suite(.blocking) struct LostInboxTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  @Test func `commands say that the instance does not see what they put there, and pause and cancel do not succeed`()
    throws
  {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let watch = try folders.watch(["--filters", "none"])
    try folders.drop("job.txt", server.url("a") + "\n")
    #expect(try server.nextRequest() == "/a")
    #expect(rename(folders.inbox, folders.inbox + "-gone") == 0 && mkdir(folders.inbox, 0o755) == 0)
    let said = try eventually({ try folders.ask("status").output }, is: { $0.contains("another folder") })
    #expect(said.contains("another folder"), "\(said)")

    let blind = "does not see this: \(folders.inbox): Stale file handle (another folder is in its place)"
    for (words, status) in [(["pause"], 75), (["cancel", "job"], 75), (["resume"], 75)] as [([String], Int32)] {
      let asked = try DarkroomProcess.run(words + folders.named).expect(status: status)
      #expect(asked.error.contains("process \(watch.processID) ") && asked.error.contains(blind), "\(asked.error)")
      #expect(!asked.error.contains("no instance is running"), "\(asked.error)")
    }
    let added = try DarkroomProcess.run(["add", "http://127.0.0.1/x.jpg"] + folders.named).expect(status: 0)
    #expect(added.error.contains(blind), "\(added.error)")
    let doctor = try DarkroomProcess.run(["doctor"] + folders.named)
    #expect(
      doctor.status == 1 && doctor.output.contains("process \(watch.processID) works on the outbox"), "\(doctor.output)"
    )

    #expect(rmdir(folders.inbox) != 0, "the manifest is there")
    #expect(rename(folders.inbox, folders.inbox + "-other") == 0 && rename(folders.inbox + "-gone", folders.inbox) == 0)
    try server.release(1)
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    try watch.stop()
  }
}
