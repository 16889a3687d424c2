import Foundation
import TestSupport
import Testing

/// The index of a job is made from its snapshot: when it is damaged it is made again.
@Suite(.blocking) struct DamagedIndexTests {
  @Test func `a job whose index is damaged while it runs ends whole, and no other is concerned`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/chelsea-small.png")
    let folders = try DarkroomFolders()
    let filler = String(repeating: "x", count: 2000)
    let lines = (0..<100).map { "{\"url\": \"\(server.url("p\($0)"))\", \"metadata\": {\"x\": \"\(filler)\"}}\n" }
    // Packed, so that the index lies in a file.
    try folders.drop("large.jsonl.gz", try Gzip.packed([lines.joined().utf8]))
    try folders.drop("small.txt", server.url("a") + "\n" + server.url("b") + "\n")
    let run = try folders.start("run", ["--filters", "none", "--per-host", "4"])
    for _ in 0..<4 { _ = try server.nextRequest() }
    let jobs = folders.outbox + "/.darkroom/jobs"
    let index = try #require(
      FileManager.default.contentsOfDirectory(atPath: jobs).first { $0.hasSuffix(".index") })
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: jobs + "/" + index))
    let size = try file.seekToEnd()
    try file.seek(toOffset: 4096)
    try file.write(contentsOf: Data(repeating: 0xff, count: Int(size) - 4096))
    try file.close()
    try server.release(100_000)
    let ended = try run.finish().expect(status: 0)
    #expect(ended.error.contains("large.jsonl.gz cannot be worked on now, and is tried again"), "\(ended.error)")
    #expect(try folders.report("large").counts == Report.Counts(total: 100, filtered: 100))
    #expect(try folders.report("small").counts == Report.Counts(total: 2, filtered: 2))
    #expect(try folders.inboxNames().isEmpty)
    let checked = try folders.checkOutbox(["--done"])
    #expect(checked.contains("2 jobs, 2 runs, 102 rows, 102 files: 0 problems"), "\(checked)")
  }
}
