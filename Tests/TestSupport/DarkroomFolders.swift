import Foundation
import Testing

/// An inbox and an outbox for one test, and what is found in them.
package struct DarkroomFolders: Sendable {
  package let folder: TemporaryFolder
  package var inbox: String { folder.file("inbox") }
  package var outbox: String { folder.file("outbox") }

  package init() throws {
    folder = try TemporaryFolder()
    for path in [inbox, outbox] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
  }

  /// Copies of the folders of another value, in which nobody works.
  package init(copying other: DarkroomFolders) throws {
    folder = try TemporaryFolder()
    for (from, to) in [(other.inbox, inbox), (other.outbox, outbox)] {
      try FileManager.default.copyItem(atPath: from, toPath: to)
    }
  }

  /// Options that name the folders: those that every command takes.
  package var named: [String] { ["--inbox", inbox, "--outbox", outbox] }

  /// Options of `run` and `watch` that name the folders, make a test quick (nothing is tried twice), let a server wait as
  /// long as the test wants, and allow loopback and the sample pictures.
  package var options: [String] {
    named + [
      "--settle", "0", "--poll-interval", "0.05", "--allow-net", "127.0.0.0/8",
      "--file-root", packageRoot + "/Samples", "--retries", "0", "--low-speed", "0", "--first-byte-timeout", "600",
    ]
  }

  /// Puts a manifest into the inbox, as a careful user would: written under a dot name, then renamed.
  package func drop(_ name: String, _ contents: Data) throws {
    try SpawnedProcess.whileNoneStarts { try contents.write(to: URL(fileURLWithPath: inbox + "/.dropping")) }
    guard rename(inbox + "/.dropping", inbox + "/" + name) == 0 else { throw POSIXError(.EIO) }
  }

  package func drop(_ name: String, _ contents: String) throws { try drop(name, Data(contents.utf8)) }

  /// Runs `darkroom run` on the folders to its end.
  package func run(_ more: [String] = []) throws -> DarkroomProcess.Finished {
    try DarkroomProcess.run(["run"] + options + more)
  }

  /// Starts a command on the folders.
  package func start(_ command: String, _ more: [String] = []) throws -> DarkroomProcess {
    try DarkroomProcess([command] + options + more)
  }

  /// Starts `darkroom watch` on the folders, and returns when it watches the inbox.
  package func watch(_ more: [String] = [], sourceLocation: SourceLocation = #_sourceLocation) throws
    -> DarkroomProcess
  {
    let watch = try start("watch", more)
    if try watch.waitForLine(containing: "watching") == nil {
      Issue.record("it has ended: \(try watch.finish().error)", sourceLocation: sourceLocation)
    }
    return watch
  }

  /// A command on the folders as a line of a shell.
  package func line(_ command: String, _ more: [String] = []) -> String {
    (["darkroom", command] + options + more).map { "'\($0)'" }.joined(separator: " ")
  }

  /// Runs `darkroom run` under `strace`, which does something to its calls.
  /// - Parameters:
  ///   - fault: What happens to which calls, such as `fsync:signal=KILL:when=3`.
  ///   - path: A file or folder: only calls about that count.
  package func run(_ more: [String] = [], injecting fault: String, about path: String? = nil) throws
    -> DarkroomProcess.Finished
  {
    let calls = fault.prefix { $0 != ":" }
    let filter = path.map { "-P '\($0)' " } ?? ""
    return try DarkroomProcess.run(
      script: "strace -f -qq -o /dev/null \(filter)-e trace=\(calls) -e inject=\(fault) \(line("run", more))",
      in: folder)
  }

  /// Puts the lock `x.lock` into the inbox, and returns when a process is paused by it.
  package func pause(_ process: DarkroomProcess, sourceLocation: SourceLocation = #_sourceLocation) throws {
    try Data().write(to: URL(fileURLWithPath: inbox + "/x.lock"))
    if try process.waitForLine(containing: "paused: x.lock") == nil {
      Issue.record("it has ended: \(try process.finish().error)", sourceLocation: sourceLocation)
    }
  }

  /// Removes the lock `x.lock`.
  package func unlock() throws { try FileManager.default.removeItem(atPath: inbox + "/x.lock") }

  /// The report of a job.
  package func report(_ job: String) throws -> Report {
    try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: outbox + "/\(job)/report.json")))
  }

  package func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: outbox + "/" + path) }

  package func contents(_ path: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: outbox + "/" + path))
  }

  /// The files that lie in staging.
  package func staged() throws -> [String] {
    let staging = outbox + "/.darkroom/staging"
    return try FileManager.default.subpathsOfDirectory(atPath: staging).filter { $0.contains("/") }
  }

  /// The bits of a file's mode.
  package func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: outbox + "/" + path)
    return (attributes[.posixPermissions] as? Int) ?? 0
  }

  /// All files beneath the outbox, the state included: paths.
  package func files() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: outbox).filter {
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: outbox + "/" + $0, isDirectory: &isFolder) && !isFolder.boolValue
    }
  }

  /// The names in the inbox, but the program's own.
  package func inboxNames() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: inbox).filter { !$0.hasPrefix(".darkroom") }.sorted()
  }
}
