import Foundation
import TestSupport
import Testing

/// Whatever lies where a manifest is moved to on its way out of the inbox, nothing of it is changed, and jobs end.
@Suite struct ParkingTests {
  enum Obstacle: CaseIterable { case link, file, folderWithSameName }

  private static let names = ["job.txt", "other.txt"]

  private let folders: DarkroomFolders
  private let elsewhere: TemporaryFolder
  private var parking: String { folders.inbox + "/.darkroom-done" }

  init() throws {
    folders = try DarkroomFolders()
    elsewhere = try TemporaryFolder()
  }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  private func put(_ obstacle: Obstacle) throws {
    for name in Self.names { try write("precious", to: elsewhere.file(name)) }
    switch obstacle {
    case .link: try FileManager.default.createSymbolicLink(atPath: parking, withDestinationPath: elsewhere.path)
    case .file: try write("precious", to: parking)
    case .folderWithSameName:
      try FileManager.default.createDirectory(atPath: parking, withIntermediateDirectories: false)
      try write("precious", to: parking + "/job.txt")
    }
  }

  /// What lies elsewhere and where the obstacle is, with what tells whether it was changed.
  private func everything() throws -> [String] {
    let inside = (try? FileManager.default.contentsOfDirectory(atPath: parking)) ?? []
    let paths = try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).map(elsewhere.file) + [parking]
    return try (paths + inside.map { parking + "/" + $0 }).sorted().map { path in
      var status = stat()
      guard lstat(path, &status) == 0 else { throw POSIXError(.ENOENT) }
      // Other manifests pass through the folder.
      if status.st_mode & S_IFMT == S_IFDIR { return "\(path) \(status.st_ino)" }
      return "\(path) \(status.st_ino) \(status.st_size) \(status.st_mtim) \(status.st_ctim)"
    }
  }

  @Test(arguments: ["run", "watch"], Obstacle.allCases)
  func `the program starts, the job ends, and a warning tells why its manifest stays`(
    command: String, obstacle: Obstacle
  ) throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    try put(obstacle)
    let before = try everything()
    let process = try folders.start(command, ["--filters", "none"])
    #expect(try process.waitForLine(containing: "the manifest cannot be moved out of the inbox: \(parking)") != nil)
    #expect(try process.waitForLine(containing: "job: succeeded") != nil)
    if command == "watch" {
      try folders.drop("next.txt", "coffee.jpg\n")
      #expect(try process.waitForLine(containing: "next: succeeded") != nil)
      process.send(SIGTERM)
    }
    _ = try process.finish()
    #expect(try everything() == before)
    #expect(try folders.inboxNames().contains("job.txt"))
    #expect(try folders.report("job").state == "succeeded")
    // Without the obstacle, what is done goes, and is not done again.
    try FileManager.default.removeItem(atPath: obstacle == .folderWithSameName ? parking + "/job.txt" : parking)
    let last = try folders.run(["--filters", "none"])
    #expect(last.status == 0, "\(last.error)")
    #expect(try folders.inboxNames().isEmpty)
    #expect(!folders.exists("job/history"))
    #expect(!FileManager.default.fileExists(atPath: parking))
  }

  @Test(arguments: ["EINVAL", "ENOSYS"])
  func `on a file system that knows no rename without replacing manifests go, and parked ones come back`(
    refusal: String
  ) throws {
    try FileManager.default.createDirectory(atPath: parking, withIntermediateDirectories: false)
    try write("coffee.jpg\n", to: parking + "/parked.txt")
    try folders.drop("job.txt", "coffee.jpg\n")
    let words = (["run", "--filters", "none"] + folders.options).map { "'\($0)'" }.joined(separator: " ")
    let run = try DarkroomProcess.run(
      script: "strace -f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:error=\(refusal) darkroom \(words)",
      in: folders.folder)
    #expect(run.status == 0, "\(run.error)")
    for job in ["job", "parked"] { #expect(try folders.report(job).state == "succeeded") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.inbox) == [".darkroom-instance"])
  }

  @Test func `a manifest that is dropped anew while the one that is done is taken away is done, too`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    // The program has looked at the manifest, and waits before it moves it.
    let words = (["run", "--filters", "none"] + folders.options).map { "'\($0)'" }.joined(separator: " ")
    let run = try DarkroomProcess(
      script: """
        strace -f -qq -o /dev/null -P '\(folders.inbox)' -e trace=renameat2 -e inject=renameat2:delay_enter=2000000 \
          darkroom \(words)
        """, in: folders.folder)
    let limit = Date() + 120
    while !FileManager.default.fileExists(atPath: parking), Date() < limit { usleep(1000) }
    try folders.drop("job.txt", "chelsea.jpg\n")
    #expect(try run.finish().status == 0)
    let next = try folders.run(["--filters", "none"])
    #expect(next.status == 0, "\(next.error)")
    #expect(try folders.report("job").entries.map(\.name) == ["chelsea"])
    #expect(try folders.inboxNames().isEmpty)
    #expect(!FileManager.default.fileExists(atPath: parking))
  }
}
