import Foundation
import TestSupport
import Testing

/// The events of rows of entries that were not done when their job was cancelled.
@Suite(.blocking) struct CancelledRowEventTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/chelsea-small.png")
  }

  private func lines(_ names: some Sequence<Int>) -> String { names.map { server.url("\($0)") + "\n" }.joined() }

  private struct Told: Decodable {
    struct Row: Decodable, Hashable { let name: String, state: String, index: Int }
    let event: String
    let entry: Row?
  }

  @Test(arguments: ["cancel", "removal"])
  func `each row has one event, those of entries that were not done included`(how: String) throws {
    try folders.drop("job.txt", lines(0..<1200))
    let watch = try folders.start(
      "watch", ["--downloads", "2", "--per-host", "2", "--filters", "none", "--gallery", "off", "--verbose", "--json"])
    for _ in 0..<2 { _ = try server.nextRequest() }
    try server.release(1)
    #expect(try watch.waitForLine(containing: ": filtered") != nil)
    if how == "cancel" {
      #expect(try folders.ask("cancel", ["job"]).status == 0)
    } else {
      try FileManager.default.removeItem(atPath: folders.inbox + "/job.txt")
    }
    #expect(try watch.waitForLine(containing: " filtered, 0 failed, 1199 cancelled") != nil)
    #expect(try folders.ask("wait", ["job"]).status == 1)
    watch.send(SIGTERM)
    let output = try watch.finish().output
    #expect(try JSONSchema.violations(of: Data(output.utf8), name: "events.schema.json") == "")
    let told = try output.split(separator: "\n").map { try JSONDecoder().decode(Told.self, from: Data($0.utf8)) }
    let rows = told.compactMap { $0.event == "entry-ended" ? $0.entry : nil }
    let cancelled = rows.filter { $0.state == "cancelled" }
    #expect(rows.count == 1200 && Set(rows.map(\.name)).count == 1200, "each is told once")
    #expect(rows.count { $0.state == "filtered" } == 1 && cancelled.count == 1199)
    #expect(cancelled.first { "\($0.index)" != $0.name } == nil)
    let last = try #require(told.lastIndex { $0.entry?.state == "cancelled" })
    #expect(told[last...].contains { $0.event == "job-ended" }, "before the end of their run")
  }
}
