import Foundation
import TestSupport
import Testing

/// A suite whose job `cats` is divided into shards: its manifest is `cats.json`, its files are in `sources`.
protocol ShardedJob {
  var folders: DarkroomFolders { get }
}

extension ShardedJob {
  var folder: TemporaryFolder { folders.folder }

  /// Names that other systems cannot store, or that are not those of the files, and a plain one.
  static var names: [String] {
    ["cat.jpg", "x:y", "D/E.png", "./ sp /b", "plain", "a\u{308}\\b"]
  }

  var options: [String] { folders.named + ["--file-root", folder.file("sources")] }

  /// Gives all entries another source.
  func serve(_ sample: String) throws {
    let target = folder.file("sources/pic.jpg")
    try? FileManager.default.removeItem(atPath: target)
    try FileManager.default.copyItem(atPath: "\(packageRoot)/Samples/\(sample).jpg", toPath: target)
  }

  func manifest(_ sources: [(name: String, source: String)]) throws {
    let entries = sources.map { ["name": $0.name, "url": $0.source] }
    try JSONEncoder().encode(entries).write(to: URL(fileURLWithPath: folder.file("cats.json")))
  }

  /// Divides the manifest, does the shards, and merges them.
  func divide(into shards: String, _ more: [String] = [], status: Int32 = 0) throws -> Report {
    _ = try DarkroomCommand.run(["shard", "split", "--shards", "2", "cats.json", shards] + more, in: folder)
      .expect(status: 0)
    _ = try DarkroomProcess(["shard", "run", shards] + options, in: folder).finish().expect(status: 0)
    return try merge(shards, status: status)
  }

  func merge(_ shards: String, status: Int32 = 0) throws -> Report {
    let words = ["shard", "merge", shards, "--accept-failures", "known"] + folders.named
    _ = try DarkroomCommand.run(words, in: folder).expect(status: status)
    return try folders.validReport("cats")
  }

  func runs(_ report: Report) -> [String: Int] {
    report.entries.reduce(into: [:]) { $0[$1.name] = $1.error?.runs }
  }
}
