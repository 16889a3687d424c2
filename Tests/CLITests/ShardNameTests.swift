import Foundation
import TestSupport
import Testing

/// Entries whose given names are not those of their files, in shards and in a ledger that is made anew.
@Suite(.blocking) struct ShardNameTests: ShardedJob {
  let folders: DarkroomFolders

  init() throws {
    folders = try DarkroomFolders()
    _ = try folder.makeFolder("sources")
  }

  @Test(arguments: [true, false])
  func `an entry whose name was replaced is reused and replaced when the manifest is divided again`(splitKnows: Bool)
    throws
  {
    let count = Self.names.count
    try manifest(Self.names.map { ($0, "pic.jpg") })
    let more = splitKnows ? folders.named : ["--outbox", "none"]
    try serve("chelsea")
    #expect(try divide(into: "first", more).counts == Report.Counts(total: count, filtered: count))
    #expect(try divide(into: "second", more).counts == Report.Counts(total: count, filtered: count, reused: count))
    try serve("rocket")
    let last = try divide(into: "third", more)
    #expect(last.counts == Report.Counts(total: count, filtered: count))
    #expect(last.since_last == Report.SinceLast(changed: count))
    try folders.checkOutbox()
  }

  @Test func `rows of a lost machine are those of their entries, whatever the names are`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let lines = [
      #"{"url": "\#(server.url("0.jpg"))", "name": "D/n.jpg"}"#,
      #"{"url": "\#(server.url("1.jpg?404"))", "name": "x:y"}"#,
      #"{"url": "\#(server.url("2.jpg"))", "name": "v.t.jpg"}"#,
      #"{"url": "\#(server.url("3.jpg"))", "name": "v", "variants": [{"name": "t.jpg"}, {"name": "u"}]}"#,
    ]
    _ = try folder.write(lines.map { $0 + "\n" }.joined(), as: "cats.jsonl")
    _ = try DarkroomCommand.run(
      ["shard", "split", "--shards", "1", "--per-host", "1", "cats.jsonl", "shards"], in: folder
    ).expect(status: 0)
    let words = ["shard", "run", "shards"] + folders.options
    let first = try DarkroomProcess(words, in: folder)
    try server.release(3)
    let log = { (folder.text("shards/0/cats/entries.jsonl") ?? "").split(separator: "\n").count }
    _ = eventually(log, is: { $0 == 3 })
    try first.kill()
    let killed = Date.now
    let requests = try server.requestsSoFar()
    #expect(requests.prefix(3) == ["/0.jpg", "/1.jpg?404", "/2.jpg"])
    try FileManager.default.removeItem(atPath: folder.file("shards/0/.darkroom/state"))
    let second = try DarkroomProcess(words, in: folder)
    try server.release(2)
    _ = try second.finish().expect(status: 0)
    #expect(try server.requestsSoFar() == ["/3.jpg"])
    _ = try DarkroomCommand.run(["shard", "merge", "shards"] + folders.named, in: folder).expect(status: 1)
    let report = try folders.validReport("cats")
    #expect(
      report.entries.map { "\($0.name) \($0.variant ?? "-") \($0.state)" } == [
        "D/n.jpg - filtered", "x:y - failed", "v.t.jpg - filtered", "v t.jpg filtered", "v u filtered",
      ])
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    #expect(try format.parse(report.started_at) < killed, "the work began with the first process")
    try folders.checkOutbox()
  }

  @Test func `a ledger that is made anew knows the failures of entries whose names were replaced`() throws {
    let names = Self.names
    try manifest(names.map { ($0, "pic.jpg") } + [("there", "there.jpg")])
    try serve("chelsea")
    try FileManager.default.moveItem(atPath: folder.file("sources/pic.jpg"), toPath: folder.file("sources/there.jpg"))
    func run(status: Int32) throws -> Report {
      let words = ["run", folder.file("cats.json"), "--accept-failures", "known"] + options
      _ = try DarkroomProcess.run(words).expect(status: status)
      try FileManager.default.removeItem(atPath: folders.outbox + "/.darkroom/ledger.sqlite")
      return try folders.validReport("cats")
    }
    #expect(try runs(run(status: 1)) == Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
    #expect(try runs(run(status: 0)) == Dictionary(uniqueKeysWithValues: names.map { ($0, 2) }))
    try serve("rocket")
    #expect(try run(status: 0).since_last == Report.SinceLast(recovered: names.count, unchanged: 1))
  }

  @Test func `of two names that become one no failure is taken for the other's`() throws {
    try manifest([("x:y", "a.jpg"), ("x|y", "b.jpg")])
    func run() throws -> Report {
      let words = ["run", folder.file("cats.json"), "--accept-failures", "known"] + options
      _ = try DarkroomProcess.run(words).expect(status: 1)
      try FileManager.default.removeItem(atPath: folders.outbox + "/.darkroom/ledger.sqlite")
      return try folders.validReport("cats")
    }
    let both = try run()
    #expect(both.entries.map(\.state) == ["failed", "failed"])
    try FileManager.default.copyItem(
      atPath: packageRoot + "/Samples/chelsea.jpg", toPath: folder.file("sources/b.jpg"))
    #expect(try runs(run()) == ["x:y": 1])
    // The one that was delivered has the name that the other's row seems to have.
    try FileManager.default.moveItem(atPath: folder.file("sources/b.jpg"), toPath: folder.file("sources/a.jpg"))
    #expect(try runs(run()) == ["x|y": 1])
  }
}
