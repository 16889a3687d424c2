import Foundation
import TestSupport
import Testing

/// What `gc` removes and leaves.
@Suite(.blocking) struct GCTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  private struct Removed: Decodable, Equatable {
    let kind: String
    let count: Int
    let bytes: Int
  }

  private func gc(_ more: [String] = []) throws -> [String: Removed] {
    let finished = try DarkroomProcess.run(["gc", "--json"] + folders.named + more).expect(status: 0)
    let all = try finished.output.split(separator: "\n").map {
      try JSONDecoder().decode(Removed.self, from: Data($0.utf8))
    }
    return Dictionary(uniqueKeysWithValues: all.map { ($0.kind, $0) })
  }

  /// The outbox's files but those of instances, with their sizes.
  private func files() throws -> [String: Int] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folders.outbox).filter { name in
      !["instance", "ledger.sqlite", "in-use"].contains { name.contains(".darkroom/" + $0) }
    }
    return Dictionary(
      uniqueKeysWithValues: try names.map { name in
        let attributes = try FileManager.default.attributesOfItem(atPath: folders.outbox + "/" + name)
        return (name, attributes[.type] as? FileAttributeType == .typeRegular ? attributes[.size] as? Int ?? 0 : 0)
      })
  }

  /// Runs the job of a list a number of times, and makes its history old enough to be removed.
  private func makeHistory(runs: Int) throws -> [String] {
    for _ in 0..<runs {
      try folders.drop("cats.txt", "coffee.jpg\nchelsea.jpg\n")
      try folders.run().expect(status: 0)
    }
    let history = folders.outbox + "/cats/history"
    let names = try FileManager.default.contentsOfDirectory(atPath: history).sorted()
    for name in names {
      let old = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -3600)]
      try FileManager.default.setAttributes(old, ofItemAtPath: history + "/" + name)
    }
    return names
  }

  @Test func `a dry run tells what would be removed, and removes nothing`() throws {
    _ = try makeHistory(runs: 4)
    let before = try files()
    let removed = try gc(["--dry-run", "--keep-history", "1"])
    #expect(removed["history"]?.count == 2 && removed["history"]?.bytes ?? 0 > 1000)
    #expect(try files() == before)
    // The numbers are those of what is then removed.
    #expect(try gc(["--keep-history", "1"])["history"] == removed["history"])
  }

  @Test func `earlier runs beyond --keep-history go, and the last run stays with all its files`() throws {
    let runs = try makeHistory(runs: 4)
    let kept = try files().filter { !$0.key.hasPrefix("cats/history") }
    #expect(try gc(["--keep-history", "1"])["history"]?.count == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/cats/history") == [runs[2]])
    #expect(try files().filter { !$0.key.hasPrefix("cats/history") } == kept)
    // What it made is still known.
    try folders.drop("cats.txt", "coffee.jpg\nchelsea.jpg\n")
    try folders.run().expect(status: 0)
    #expect(try folders.report("cats").counts.reused == 2)
  }

  @Test func `a folder of a user in history stays`() throws {
    let runs = try makeHistory(runs: 3)
    let note = folders.outbox + "/cats/history/\(runs[0])/note.txt"
    try Data("mine".utf8).write(to: URL(fileURLWithPath: note))
    #expect(try gc(["--keep-history", "0"])["history"]?.count == 1)
    #expect(FileManager.default.fileExists(atPath: note))
  }

  @Test func `sources beyond --cache-size go, and are downloaded again`() throws {
    let pictures = try TemporaryFolder()
    for name in ["coffee.jpg", "chelsea.jpg"] {
      try FileManager.default.copyItem(atPath: packageRoot + "/Samples/" + name, toPath: pictures.file(name))
    }
    let nginx = try Nginx(serving: pictures.path)
    try folders.drop("cats.txt", "\(nginx.url("coffee.jpg"))\n\(nginx.url("chelsea.jpg"))\n")
    try folders.run().expect(status: 0)
    #expect(try folders.cachedSources().count == 2)
    #expect(try gc(["--dry-run"])["cache"]?.count == 0)
    let removed = try gc(["--cache-size", "0"])
    #expect(removed["cache"]?.count == 2 && removed["cache"]?.bytes ?? 0 > 10_000)
    #expect(try folders.cachedSources().isEmpty)
    try folders.drop("other.txt", "\(nginx.url("coffee.jpg"))\n")
    try folders.run(["--filters", "none"]).expect(status: 0)
    #expect(try nginx.accessLog().last?.contains(" 200 ") == true)
  }

  @Test func `files that a killed process left go, and those of unfinished jobs stay`() throws {
    try folders.drop("cats.txt", "coffee.jpg\n")
    try folders.drop("backup.lock", "")
    // It accepts the job, and leaves it.
    try folders.run(["--lock-wait", "0"]).expect(status: 75)
    let jobs = folders.outbox + "/.darkroom/jobs"
    let snapshots = try FileManager.default.contentsOfDirectory(atPath: jobs)
    #expect(!snapshots.isEmpty)
    let staging = folders.outbox + "/.darkroom/staging/"
    let own = try #require(try FileManager.default.contentsOfDirectory(atPath: staging).first)
    try Data(count: 100).write(to: URL(fileURLWithPath: staging + own + "/left-1"))
    #expect(try gc(["--dry-run"])["leftovers"] == Removed(kind: "leftovers", count: 1, bytes: 100))
    #expect(try gc()["leftovers"] == Removed(kind: "leftovers", count: 1, bytes: 100))
    #expect(try FileManager.default.contentsOfDirectory(atPath: jobs) == snapshots)
    try FileManager.default.removeItem(atPath: folders.inbox + "/backup.lock")
    try folders.run().expect(status: 0)
    #expect(try folders.report("cats").counts.filtered == 1)
  }

  @Test func `while an instance runs, it removes nothing and says which process runs`() throws {
    _ = try makeHistory(runs: 2)
    let watch = try folders.watch()
    let finished = try DarkroomProcess.run(["gc"] + folders.named).expect(status: 75)
    #expect(finished.error.contains("\(watch.processID)"))
    try watch.stop()
  }

  @Test func `folders that do not exist are not created`() throws {
    let empty = try TemporaryFolder()
    _ = try DarkroomProcess.run(["gc"], in: empty).expect(status: 66)
    #expect(try FileManager.default.contentsOfDirectory(atPath: empty.path).isEmpty)
  }

  @Test func `a dry run tells of a damaged ledger, and leaves it as it is`() throws {
    try folders.drop("cats.txt", "coffee.jpg\n")
    try folders.run().expect(status: 0)
    let ledger = folders.outbox + "/.darkroom/ledger.sqlite"
    let damaged = Data(repeating: 0x78, count: 20_000)
    try damaged.write(to: URL(fileURLWithPath: ledger))
    let names = try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/.darkroom").sorted()
    let dry = try DarkroomProcess.run(["gc", "--dry-run"] + folders.named)
    #expect(dry.error.contains("the ledger is damaged"), "\(dry.error)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: ledger)) == damaged)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/.darkroom").sorted() == names)
  }
}
