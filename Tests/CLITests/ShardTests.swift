import Foundation
import TestSupport
import Testing

/// The command `shard`.
@Suite(.blocking) struct ShardTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let urls = (0..<200).map { "http://\($0 < 120 ? "big" : "h\($0)").example/\($0).jpg" }
    try urls.joined(separator: "\n").write(toFile: folder.file("cats.txt"), atomically: true, encoding: .utf8)
  }

  private func shard(_ words: String...) throws -> DarkroomProcess.Finished {
    try DarkroomCommand.run(["shard"] + words, in: folder)
  }

  @Test func `split tells the shards' sizes and the hosts that several share`() throws {
    let told = try shard("split", "--shards", "10", "--per-host", "3", "cats.txt", "out").expect(status: 0)
    let lines = told.output.split(separator: "\n")
    #expect(lines.count == 2 && told.error.isEmpty)
    #expect(lines.first?.hasPrefix("out: job cats, 200 entries of 81 hosts in 10 shards, ") == true, "\(told.output)")
    #expect(lines.last?.hasPrefix("  http://big.example: 3 downloads at once, of which shards have ") == true)
    let again = try shard("split", "--shards", "10", "--per-host", "3", "cats.txt", "out")
    #expect(again.status == 73 && again.error.contains("/out is not empty: name a new folder"), "\(again.error)")
  }

  @Test func `--json prints plan.json, and --name the name of the manifests`() throws {
    let told = try shard("split", "--json", "--shards", "2", "--name", "dogs", "cats.txt", "out").expect(status: 0)
    #expect(try told.output == String(contentsOfFile: folder.file("out/plan.json"), encoding: .utf8))
    #expect(FileManager.default.fileExists(atPath: folder.file("out/1/dogs.jsonl")))
  }

  @Test(
    arguments: [
      ([], 64, "shard needs an action: split, run, merge, status"), (["spilt"], 64, "did you mean \"split\"?"),
      (["split", "cats.txt", "out"], 64, "shard split needs --shards"),
      (["split", "--shards", "0", "cats.txt", "out"], 64, "must be a whole number from 1 to 10000"),
      (["split", "--shards", "2", "cats.txt"], 64, "needs a manifest and the folder to create"),
      (["split", "--shards", "2", "dogs.txt", "out"], 66, "dogs.txt"),
      (["split", "--shards", "2", "cats.txt", "missing/out"], 73, "missing"),
      (["split", "--shards", "2", "cats.txt", "."], 73, "is not empty"),
      (["split", "--shards", "2", "cats.txt", "/"], 73, "/ is not a folder for shards"),
      (["split", "--shards", "2", "cats.txt", "-"], 64, "\"-\" is not the name of a folder"),
      (["split", "--shards", "2", "cats.txt", ""], 64, "\"\" is not the name of a folder"),
      (["split", "--shards", "2", "cats.txt", "cats.txt"], 73, "cats.txt exists, and is no folder"),
      (["split", "--shards", "2", "--downloads", "4", "cats.txt", "out"], 64, "shard split does not take --downloads"),
      (["split", "--shards", "2", "--by", "hosts", "cats.txt", "out"], 64, "must be one of host, domain"),
      (["run", "--shards", "2", "out"], 64, "shard run does not take --shards"),
      (["merge", "--by", "domain", "out"], 64, "shard merge does not take --by"),
      (["split", "--shards", "2", "wrong.jsonl", "out"], 65, ""),
    ] as [([String], Int32, String)])
  func `what is wrong is told, and nothing is written`(words: [String], status: Int32, message: String) throws {
    try Data("{\"ulr\": 1}\n".utf8).write(to: URL(fileURLWithPath: folder.file("wrong.jsonl")))
    let told = try DarkroomCommand.run(["shard"] + words, in: folder)
    #expect(told.status == status && (message.isEmpty || told.error.contains(message)), "\(told.status) \(told.error)")
    #expect(status != 65 || told.output.contains("rejected, "), "\(told.output)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["cats.txt", "wrong.jsonl"])
  }

  @Test func `a shard is a manifest that run takes`() throws {
    let folders = try DarkroomFolders()
    let pictures = (0..<12).map { ["coffee.jpg", "chelsea.jpg"][$0 % 2] }.joined(separator: "\n")
    try pictures.write(toFile: folder.file("pictures.txt"), atomically: true, encoding: .utf8)
    _ = try shard("split", "--shards", "3", "pictures.txt", "out").expect(status: 0)
    for number in 0..<3 {
      let manifest = folder.file("out/\(number)/pictures.jsonl")
      let name = folder.file("part\(number).jsonl")
      try FileManager.default.copyItem(atPath: manifest, toPath: name)
      _ = try DarkroomProcess.run(["run", "--file-root", packageRoot + "/Samples", name] + folders.named).expect(
        status: 0)
    }
    let reports = try (0..<3).map { try folders.report("part\($0)") }
    let names = reports.flatMap { $0.entries.map(\.name) }
    #expect(Set(names).count == 12 && names.contains("coffee-6") && names.contains("chelsea"), "\(names)")
  }
}
