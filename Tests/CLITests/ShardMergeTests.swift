import Foundation
import TestSupport
import Testing

/// What a merge tells of all shards together, and of the job's last run.
@Suite(.blocking) struct ShardMergeTests: ShardedJob {
  let folders: DarkroomFolders

  init() throws {
    folders = try DarkroomFolders()
    _ = try folder.makeFolder("sources")
  }

  @Test func `a merge is compared with the job's last run, once however often it is repeated`() throws {
    let names = Self.names
    try manifest(names.map { ($0, "pic.jpg") } + [("back.jpg", "back.jpg"), ("there", "there.jpg")])
    try serve("chelsea")
    let (gone, there) = (folder.file("sources/pic.jpg"), folder.file("sources/there.jpg"))
    try FileManager.default.moveItem(atPath: gone, toPath: there)
    func run(status: Int32) throws -> Report {
      let words = ["run", folder.file("cats.json"), "--accept-failures", "known"] + options
      _ = try DarkroomProcess.run(words).expect(status: status)
      return try folders.validReport("cats")
    }
    let first = try run(status: 1)
    _ = try run(status: 0)
    try FileManager.default.copyItem(atPath: there, toPath: folder.file("sources/back.jpg"))
    let merged = try divide(into: "shards")
    let expected = Dictionary(uniqueKeysWithValues: names.map { ($0, 3) })
    #expect(runs(merged) == expected)
    let seen = [first, merged].map { $0.entries.dropLast(2).map { $0.error?.first_seen } }
    #expect(seen[0] == seen[1])
    #expect(merged.since_last == Report.SinceLast(failedAgain: names.count, recovered: 1, unchanged: 1))
    #expect(merged.entries.first { $0.name == "back.jpg" }?.recovered == true)
    #expect(try runs(merge("shards")) == expected, "a second merge is no run")
    try folders.checkOutbox()
    #expect(try runs(run(status: 0)) == expected.mapValues { $0 + 1 })
  }

  @Test func `URLs that give the same bytes are counted in all shards together`() throws {
    let server = try RestartedServer(answering: 1_000_000)
    let lines =
      (0..<8).map { #"{"url": "\#(server.url("\($0).jpg", host: "127.0.0.\(1 + $0 / 2)"))"}"# }
      + (0..<6).map { #"{"url": "\#(server.url("k.jpg?\($0)", host: "127.0.0.9"))", "cache-key": "one"}"# }
    _ = try folder.write(lines.map { $0 + "\n" }.joined(), as: "cats.jsonl")
    _ = try DarkroomCommand.run(
      ["shard", "split", "--shards", "3", "--per-host", "1", "cats.jsonl", "shards"], in: folder
    ).expect(status: 0)
    _ = try DarkroomProcess(["shard", "run", "shards"] + folders.options, in: folder).finish().expect(status: 0)
    _ = try DarkroomCommand.run(["shard", "merge", "shards"] + folders.named, in: folder).expect(status: 0)
    let warnings = try folders.validReport("cats").warnings ?? []
    #expect(warnings.map(\.code) == ["same-source"] && warnings.first?.where == "entries[0]", "\(warnings)")
    #expect(warnings.first?.message.hasPrefix("9 different URLs gave the same bytes") == true, "\(warnings)")
  }

  @Test func `a merge before anything was done says that shards are not complete, also without an outbox`() throws {
    try manifest([("a", "pic.jpg"), ("b", "pic.jpg")])
    _ = try DarkroomCommand.run(["shard", "split", "--shards", "2", "cats.json", "shards"], in: folder)
      .expect(status: 0)
    let merge = try DarkroomCommand.run(["shard", "merge", folder.file("shards")], in: TemporaryFolder())
    #expect(merge.status == 75 && merge.error.contains("2 shards of 2 are not complete"), "\(merge.error)")
  }
}
