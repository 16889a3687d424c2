import Foundation
import System
import TestSupport
import Testing

/// The state folder is lost, and the outbox is as it was.
@Suite(.blocking) struct LostStateTests {
  private let folders: DarkroomFolders
  private let manifest = "astronaut.jpg\ncoffee.jpg\nchelsea.jpg\n"

  init() throws { folders = try DarkroomFolders() }

  private func pictures() throws -> [String: FileIdentity] {
    let images = folders.outbox + "/job/images"
    return try Dictionary(
      uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: images).map {
        ($0, try FileStatus(of: images + "/" + $0).identity)
      })
  }

  private func loseState() throws { try FileManager.default.removeItem(atPath: folders.outbox + "/.darkroom") }

  @Test(arguments: [["--filters", "none"], ["--filters", "sepia(0.8)"]])
  func `results that are the same are adopted, what is different stays, and the report goes to history`(
    options: [String]
  ) throws {
    try folders.drop("job.txt", manifest)
    #expect(try folders.run(options).status == 0)
    let (first, before) = (try folders.report("job"), try pictures())
    try loseState()
    try Data("changed by somebody".utf8).write(to: URL(fileURLWithPath: folders.outbox + "/job/images/coffee.jpg"))
    try folders.drop("job.txt", manifest)
    try folders.run(options).expect(status: 1)
    let report = try folders.report("job")
    #expect(report.entries.map(\.state) == ["filtered", "failed", "filtered"])
    #expect(report.entries[1].error?.code == "name-conflict")
    // It has delivered a file of that name.
    #expect(report.entries[1].error?.message.contains("the ledger does not know it as a result of this job") == true)
    #expect(report.entries[0].output == first.entries[0].output)
    let after = try pictures()
    for name in ["astronaut.jpg", "chelsea.jpg"] { #expect(after[name] == before[name]) }
    #expect(String(decoding: try folders.contents("job/images/coffee.jpg"), as: UTF8.self) == "changed by somebody")
    let history = try JSONDecoder().decode(
      Report.self, from: folders.contents("job/history/\(first.run_id)/report.json"))
    #expect(history.run_id == first.run_id)
    #expect(try folders.staged().isEmpty)
    // From now on they are ours.
    try FileManager.default.removeItem(atPath: folders.outbox + "/job/images/coffee.jpg")
    try folders.drop("job.txt", manifest)
    #expect(try folders.run(options).status == 0)
    #expect(try folders.report("job").counts.reused == 2)
    try folders.drop("job.txt", manifest)
    #expect(try folders.run(["--filters", "grayscale()"]).status == 0)
    #expect(try folders.report("job").counts == Report.Counts(total: 3, filtered: 3))
  }

  @Test(
    arguments: [
      ("fsync", [1, 2, 3, 4]), ("fsync", [5, 6, 7, 8]), ("write", [1, 2, 3, 4]), ("write", [5, 6, 7, 8]),
      ("ftruncate", [1, 2, 3, 4]), ("mkdirat", [1, 2, 3, 4]), ("fdatasync", [3, 7, 11, 15]),
      ("unlinkat", [1, 2, 4, 6]),
      ("renameat2", [1, 2, 3, 4]),
    ].sample(2))
  func `killed anywhere while it adopts, it has adopted all after the next start`(call: String, numbers: [Int]) throws {
    try folders.drop("job.txt", manifest)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    let before = try pictures()
    for number in numbers {
      try loseState()
      try folders.drop("job.txt", manifest)
      let killed = try folders.run(["--filters", "none"], injecting: "\(call):signal=KILL:when=\(number)")
      let again = try folders.run(["--filters", "none"])
      #expect(again.status == 0, "\(number): \(killed.error)\(again.error)")
      #expect(try folders.report("job").counts.filtered == 3)
      #expect(try pictures() == before)
      #expect(try folders.staged().isEmpty)
    }
  }
}
