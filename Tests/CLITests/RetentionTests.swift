import Foundation
import TestSupport
import Testing

/// What earlier runs leave behind.
@Suite(.blocking) struct RetentionTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  private func history() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job/history").sorted()
  }

  /// Has what was put aside until now be older than a minute.
  private func age() throws {
    for run in try history() {
      let earlier = [FileAttributeKey.modificationDate: Date() - 120]
      try FileManager.default.setAttributes(earlier, ofItemAtPath: folders.outbox + "/job/history/" + run)
    }
  }

  @Test func `as many earlier runs are kept as asked for, the last, and all pictures`() throws {
    for number in 0..<5 {
      // Each run has another picture, and a rejected one counts as any other.
      let picture = ["coffee.jpg", "chelsea.jpg", "rocket.jpg"][number % 3]
      try folders.drop("job.json", number == 2 ? "[" : "[\"\(picture)\"]")
      #expect(try folders.run(["--filters", "none", "--keep-history", "2"]).status == (number == 2 ? 65 : 0))
      // Names of one second have no order: what was put aside just now may be one more.
      if number > 0 { #expect(try (min(number, 2)...min(number, 3)).contains(history().count)) }
      if number > 0 { try age() }
    }
    for name in ["coffee", "chelsea"] { #expect(folders.exists("job/images/\(name).jpg")) }
    try folders.checkOutbox(["--done"])
    try folders.drop("job.json", "[\"coffee.jpg\"]")
    #expect(try folders.run(["--filters", "none", "--keep-history", "0"]).status == 0)
    // What was put aside just now stays until a later run, for those who wait for the job.
    let left = try history()
    #expect(left.count == 1)
    try age()
    try folders.drop("job.json", "[\"coffee.jpg\"]")
    #expect(try folders.run(["--filters", "none", "--keep-history", "0"]).status == 0)
    #expect(try history().count == 1 && history() != left)
  }
}
