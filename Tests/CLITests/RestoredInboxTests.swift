import Foundation
import TestSupport
import Testing

/// A job goes on after its folders were restored from a backup: its manifest has another inode.
@Suite(.blocking) struct RestoredInboxTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  /// What is in the inbox after the restoration.
  enum Restored: CaseIterable { case same, changed, changedInSize }

  @Test(arguments: Restored.allCases)
  func `a manifest with the same bytes is that of the job, and one with others is a new one`(restored: Restored)
    throws
  {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let urls = (0..<3).map { server.url("\($0).jpg") + "\n" }
    try folders.drop("cats.txt", urls.joined())
    let first = try folders.start("run", ["--downloads", "1"])
    try server.release(1)
    _ = try (server.nextRequest(), server.nextRequest())
    let rows = { (folders.folder.text("outbox/cats/entries.jsonl") ?? "").split(separator: "\n").count }
    _ = eventually(rows, is: { $0 == 1 })
    try first.kill()
    let other = server.url("9.jpg") + "\n"
    let content: [String] =
      switch restored {
      case .same: urls
      case .changed: urls.dropLast() + [other]
      case .changedInSize: urls + [other]
      }
    // Dropped under another name and renamed, as a restoration does.
    try folders.drop("cats.txt", content.joined())
    try server.release(9)
    try folders.run().expect(status: 0)
    let report = try folders.report("cats")
    #expect(report.counts.filtered == content.count && report.entries.map { $0.url + "\n" } == content)
    #expect(try folders.inboxNames().isEmpty)
    #expect(folders.exists("cats/history") == (restored != .same), "the same run goes on")
    let requests = try server.requestsSoFar()
    // A new run asks whether it has changed.
    #expect(restored != .same || !requests.contains("/0.jpg"), "\(requests)")
    try folders.checkOutbox()
  }
}
