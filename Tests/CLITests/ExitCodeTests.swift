import Foundation
import TestSupport
import Testing

/// Every exit code comes out of the real program.
@Suite(.blocking) struct ExitCodeTests {
  /// A code, and how it is produced: returns what the program said.
  struct Case: Sendable, CustomTestStringConvertible {
    let code: Int32
    let name: String
    let produce: @Sendable (DarkroomFolders) throws -> DarkroomProcess.Finished

    var testDescription: String { "\(code): \(name)" }

    init(
      _ code: Int32, _ name: String, produce: @escaping @Sendable (DarkroomFolders) throws -> DarkroomProcess.Finished
    ) {
      (self.code, self.name, self.produce) = (code, name, produce)
    }

    /// A run over one manifest.
    init(_ code: Int32, _ name: String, _ file: String, _ contents: String, _ more: [String] = []) {
      self.init(code, name) { folders in
        try folders.drop(file, contents)
        return try folders.run(["--filters", "none"] + more)
      }
    }
  }

  static let cases: [Case] = [
    Case(0, "nothing to do") { try $0.run() },
    Case(0, "every entry succeeded", "a.txt", "coffee.jpg\nrocket.jpg\n"),
    Case(0, "no entries", "a.txt", ""),
    Case(0, "a ledger that is no database, and is set aside") { folders in
      #expect(try folders.run().status == 0)
      try Data(repeating: 7, count: 9999).write(to: URL(fileURLWithPath: folders.outbox + "/.darkroom/ledger.sqlite"))
      return try folders.run()
    },
    Case(1, "one of two entries failed", "a.txt", "coffee.jpg\nmissing.jpg\n"),
    Case(1, "all entries failed", "a.txt", "missing.jpg\n"),
    Case(64, "an unknown option") { try $0.run(["--dwonloads", "1"]) },
    Case(64, "an unknown command") { try $0.start("rum").finish() },
    Case(64, "a value out of range") { try $0.run(["--downloads", "0"]) },
    Case(65, "a rejected manifest", "a.json", "oops"),
    Case(65, "a rejected manifest and a failed entry") { folders in
      try folders.drop("a.json", "oops")
      try folders.drop("b.txt", "missing.jpg\n")
      return try folders.run()
    },
    Case(66, "a manifest to check that is missing beside one that is rejected") { folders in
      let rejected = folders.folder.file("b.json")
      try Data("oops".utf8).write(to: URL(fileURLWithPath: rejected))
      return try DarkroomCommand.run(["check", "missing.txt", rejected])
    },
    Case(66, "a manifest that is missing beside one that is rejected") { folders in
      let rejected = folders.folder.file("b.json")
      try Data("oops".utf8).write(to: URL(fileURLWithPath: rejected))
      return try folders.run(["missing.txt", rejected])
    },
    Case(66, "a manifest that is missing") { try $0.run(["missing.txt"]) },
    Case(66, "a folder that is missing") { try DarkroomProcess.run(["run", "--inbox", $0.inbox + "/missing"]) },
    Case(66, "a job that is missing") { try DarkroomCommand.run(["wait", "missing"] + $0.named) },
    Case(73, "a ledger with a job of a format that nobody knows") { folders in
      try interrupt(folders)
      try AlteredLedger.alter(
        folders, "UPDATE jobs SET details = replace(details, '\"format\":\"txt\"', '\"format\":\"yaml\"')")
      return try folders.run()
    },
    Case(73, "a ledger whose words are not ours") { folders in
      try interrupt(folders)
      try AlteredLedger.alter(folders, "UPDATE jobs SET details = '{'")
      return try folders.run()
    },
    Case(73, "a job that cannot be read, and a rejected manifest") { folders in
      try interrupt(folders)
      try AlteredLedger.alter(folders, "UPDATE jobs SET details = '{'")
      try folders.drop("b.json", "oops")
      return try folders.run()
    },
    Case(73, "standard output that cannot be written, and a failed entry") { folders in
      try folders.drop("a.txt", "missing.jpg\n")
      return try DarkroomProcess.run(script: "\(folders.line("run")) > /dev/full", in: folders.folder)
    },
    Case(73, "standard output that cannot be written, and a lock that stays") { folders in
      try folders.drop("a.txt", "coffee.jpg\n")
      let line = folders.line("run", ["--json", "--lock-file", "/proc/self/stat", "--lock-wait", "0"])
      return try DarkroomProcess.run(script: line + " > /dev/full", in: folders.folder)
    },
    Case(73, "a state folder that is a file") { folders in
      try Data().write(to: URL(fileURLWithPath: folders.outbox + "/.darkroom"))
      return try folders.run()
    },
    Case(75, "a lock that stays", "a.txt", "coffee.jpg\n", ["--lock-file", "/proc/self/stat", "--lock-wait", "0"]),
    Case(75, "another instance") { folders in
      let watch = try folders.watch(["--verbose"])
      let run = try folders.run()
      #expect(run.error.contains("\(watch.processID)"), "the other process is named")
      try watch.stop()
      return run
    },
    Case(130, "SIGINT") { try stopped(by: SIGINT, in: $0) },
    Case(143, "SIGTERM") { try stopped(by: SIGTERM, in: $0) },
  ]

  /// A run that is stopped while an entry is being downloaded.
  private static func stopped(by signal: Int32, in folders: DarkroomFolders) throws -> DarkroomProcess.Finished {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("a.txt", server.url("a") + "\n")
    let run = try folders.start("run", ["--filters", "none", "--grace", "0"])
    #expect(try server.nextRequest() == "/a")
    run.send(signal)
    return try run.finish()
  }

  /// Leaves a job in the ledger that has not ended.
  private static func interrupt(_ folders: DarkroomFolders) throws {
    #expect(try stopped(by: SIGTERM, in: folders).status == 143)
  }

  @Test(arguments: cases)
  func `is what the documentation says`(_ example: Case) throws {
    let folders = try DarkroomFolders()
    let run = try example.produce(folders)
    #expect(run.status == example.code, "\(run.error)")
    #expect(!run.error.isEmpty || example.code == 0, "what went wrong is said")
    #expect(!run.error.contains("Fatal error"), "\(run.error)")
  }

  @Test func `every code of the help has its row above`() throws {
    let help = try DarkroomCommand.run(["help"]).output
    let codes = Set(help.matches(of: /\n  ([0-9]+)\ /).compactMap { Int32($0.1) })
    // Nothing is known that is an internal error: what cannot be read is set aside.
    #expect(codes == Set(Self.cases.map(\.code) + [70]))
  }
}
