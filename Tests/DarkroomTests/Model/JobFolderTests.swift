import Foundation
import Glibc
import System
import Testing
import TestSupport

@testable import Delivery
@testable import Model

/// What has the names of a job's folders is something else.
@Suite struct JobFolderTests {
  private let outbox: Outbox
  private let elsewhere: TemporaryFolder

  init() throws {
    outbox = try Outbox()
    elsewhere = try TemporaryFolder()
    try elsewhere.write("precious", as: "report.json")
  }

  private func replace(_ name: String) throws {
    try? FileManager.default.removeItem(atPath: outbox.root.file("out/" + name))
    try outbox.root.link("out/" + name, to: elsewhere.path)
  }

  @Test(arguments: ["job", "job/history", "job/entries.jsonl"] + Artifact.Kind.allCases.map { "job/" + $0.folder })
  func `a symbolic link keeps the job from beginning, by its name`(name: String) throws {
    try replace(name)
    var changed: [String] = []
    let obstacle = #expect(throws: FolderObstacle.self) { try outbox.folder.prepare(changed: &changed) }
    #expect(obstacle == FolderObstacle(path: outbox.root.file("out/" + name), kind: .link))
    #expect(obstacle?.description.contains("out/\(name) is a symbolic link") == true)
    #expect(try elsewhere.names() == ["report.json"])
  }

  @Test func `so does a file in the way of the folder, and a pipe in the way of the log`() throws {
    #expect(mkfifo(outbox.folder.entriesLog, 0o600) == 0)
    var changed: [String] = []
    var obstacle = #expect(throws: FolderObstacle.self) { try outbox.folder.prepare(changed: &changed) }
    #expect(obstacle?.kind == .pipe)
    try FileManager.default.removeItem(atPath: outbox.folder.path)
    try outbox.root.write("theirs", as: "out/job")
    obstacle = #expect(throws: FolderObstacle.self) { try outbox.folder.prepare(changed: &changed) }
    #expect(obstacle == FolderObstacle(path: outbox.folder.path, kind: .file))
    #expect(outbox.root.text("out/job") == "theirs")
  }

  @Test func `a folder that is missing is created, and the outbox is to be synced`() throws {
    try FileManager.default.removeItem(atPath: outbox.folder.path)
    var changed: [String] = []
    _ = try outbox.folder.prepare(changed: &changed)
    #expect(changed == [outbox.root.file("out")])
    changed = []
    _ = try outbox.folder.prepare(changed: &changed)
    #expect(changed.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a result is not placed by way of a symbolic link, nor at a restart`(isRecovery: Bool) throws {
    try replace("job/images")
    let delivery = try outbox.delivery("new")
    let error = #expect(throws: (any Error).self) {
      if isRecovery { try outbox.placement.recover(delivery) } else { try outbox.placement.place(delivery) }
    }
    #expect(!isRecovery || (error as? EntryFailure)?.code == .nameConflict)
    #expect(try elsewhere.names() == ["report.json"])
    #expect(try outbox.staged.count == 1)
  }

  @Test(arguments: ["job", "job/history"])
  func `nothing is put aside by way of a symbolic link`(name: String) throws {
    try outbox.write("{}", to: "report.json")
    try replace(name)
    #expect(throws: SystemError.self) { try History(folder: outbox.folder).putAside() }
    #expect(try elsewhere.names() == ["report.json"] && elsewhere.text("report.json") == "precious")
  }

  @Test(
    .disabled(if: SmallDisk.obstacle != nil, Comment(rawValue: SmallDisk.obstacle ?? "")),
    arguments: ["job", "job/history", "job/images"])
  func `so does a folder on another file system, where nothing can be moved`(name: String) throws {
    let disk = try SmallDisk(over: outbox.root.makeFolder("out/" + name), in: outbox.root, kilobytes: 64)
    var changed: [String] = []
    let obstacle = #expect(throws: FolderObstacle.self) { try outbox.folder.prepare(changed: &changed) }
    withExtendedLifetime(disk) {}
    #expect(obstacle?.path == outbox.root.file("out/" + name))
    #expect(obstacle?.description.contains("another file system") == true)
  }

  @Test(.disabled(if: SmallDisk.obstacle != nil, Comment(rawValue: SmallDisk.obstacle ?? "")))
  func `so does a folder of the same file system that is mounted there`() throws {
    try outbox.root.makeFolder("out/job/images")
    #expect(mount(elsewhere.path, outbox.folder.file("images"), "", UInt(MS_BIND), nil) == 0)
    defer { umount2(outbox.folder.file("images"), Int32(MNT_DETACH)) }
    var changed: [String] = []
    #expect(throws: FolderObstacle.self) { try outbox.folder.prepare(changed: &changed) }
  }

  @Test func `so does a file in the way of the history`() throws {
    try outbox.write("theirs", to: "history")
    var changed: [String] = []
    let obstacle = #expect(throws: FolderObstacle.self) { try outbox.folder.prepare(changed: &changed) }
    #expect(obstacle == FolderObstacle(path: outbox.folder.history, kind: .file))
  }
}
