import Foundation
import TestSupport
import Testing

/// Whatever lies where a manifest is moved to on its way out of the inbox, nothing of it is changed, and jobs end.
@Suite(.blocking) struct ParkingTests {
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
  func `the program starts, the job ends, and its manifest leaves the inbox another way`(
    command: String, obstacle: Obstacle
  ) throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    try put(obstacle)
    let before = try everything()
    let process = try folders.start(command, ["--filters", "none"])
    #expect(try process.waitForLine(containing: "job: succeeded") != nil)
    if command == "watch" {
      try folders.drop("next.txt", "coffee.jpg\n")
      #expect(try process.waitForLine(containing: "next: succeeded") != nil)
      process.send(SIGTERM)
    }
    let ended = try process.finish().expect(status: 0)
    let isTold = ended.error.contains("something else has the name of darkroom's own folder in the inbox")
    #expect(isTold == (obstacle != .folderWithSameName), "\(ended.error)")
    #expect(try everything() == before)
    #expect(try folders.inboxNames().isEmpty)
    #expect(try folders.report("job").state == "succeeded")
    let names = try FileManager.default.contentsOfDirectory(atPath: folders.inbox)
    #expect(Set(names) == [".darkroom-instance", ".darkroom-done"])
    #expect(try folders.ask("wait", ["job"]).status == 0)
  }

  /// Puts files where all the folders would be.
  private func takeAllNames() throws {
    for suffix in [""] + (2...9).map({ "-\($0)" }) { try write("", to: parking + suffix) }
  }

  @Test(arguments: ["run", "watch"])
  func `a manifest that cannot be moved at all is in the status, and its job counts as ended`(command: String) throws {
    try takeAllNames()
    try folders.drop("job.txt", "coffee.jpg\n")
    let process = try folders.start(command, ["--filters", "none"])
    #expect(try process.waitForLine(containing: "the manifest cannot be moved out of the inbox: \(parking)") != nil)
    #expect(try process.waitForLine(containing: "job: succeeded") != nil)
    if command == "run" { #expect(try process.finish().status == 73) }
    // The status is written once a second at most.
    let wait = try folders.ask("wait", ["--timeout", "20", "job"]).expect(status: 0)
    #expect(wait.output == folders.outbox + "/job/report.json\n")
    let status = try folders.ask("status").output
    let isTold = status.contains("job job has ended: the manifest cannot be moved out of the inbox: \(parking)")
    #expect(isTold, "\(status)")
    #expect(!status.contains("queued"), "\(status)")
    // Another file of the name is a new manifest.
    let pause = folders.inbox + "/pause.lock"
    try write("", to: pause)
    try folders.drop("job.txt", "coffee.jpg\nrocket.jpg\n")
    #expect(try folders.ask("wait", ["--timeout", "0", "job"]).status == 75)
    try FileManager.default.removeItem(atPath: pause)
    if command == "watch" {
      #expect(try process.waitForLine(containing: "job: succeeded") != nil)
      try process.stop()
    } else {
      #expect(try folders.run(["--filters", "none"]).status == 73)
    }
    #expect(try folders.report("job").entries.count == 2)
    for suffix in [""] + (2...9).map({ "-\($0)" }) { try FileManager.default.removeItem(atPath: parking + suffix) }
    // Without the obstacle, what is done goes, and is not done again.
    try folders.run(["--filters", "none"]).expect(status: 0)
    #expect(try folders.inboxNames().isEmpty)
    #expect(try folders.ask("status").output.contains("nothing to do"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job/history").count == 1)
  }

  @Test(arguments: ["EINVAL", "ENOSYS"])
  func `on a file system that knows no rename without replacing manifests go, and parked ones come back`(
    refusal: String
  ) throws {
    try FileManager.default.createDirectory(atPath: parking, withIntermediateDirectories: false)
    try write("coffee.jpg\n", to: parking + "/parked.txt")
    try folders.drop("job.txt", "coffee.jpg\n")
    let run = try folders.run(["--filters", "none"], injecting: "renameat2:error=\(refusal)")
    #expect(run.status == 0, "\(run.error)")
    for job in ["job", "parked"] { #expect(try folders.report(job).state == "succeeded") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.inbox) == [".darkroom-instance"])
  }

  @Test func `a manifest that is dropped anew while the one that is done is taken away is done, too`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    // The program has looked at the manifest, and waits before it moves it.
    let run = try DarkroomProcess(
      script: """
        strace -f -qq -o /dev/null -P '\(folders.inbox)' -e trace=renameat2 -e inject=renameat2:delay_enter=2000000 \
          \(folders.line("run", ["--filters", "none"]))
        """, in: folders.folder)
    let limit = Date() + 120
    while !FileManager.default.fileExists(atPath: parking), Date() < limit { usleep(1000) }
    try folders.drop("job.txt", "chelsea.jpg\n")
    #expect(try run.finish().status == 0)
    try folders.run(["--filters", "none"]).expect(status: 0)
    #expect(try folders.report("job").entries.map(\.name) == ["chelsea"])
    #expect(try folders.inboxNames().isEmpty)
    #expect(!FileManager.default.fileExists(atPath: parking))
  }
}
