import Foundation
import System
import TestSupport
import Testing

@testable import Model

@Suite struct StagingFolderTests {
  private let root: TemporaryFolder

  init() throws {
    root = try TemporaryFolder()
    for name in ["out", "out/.darkroom", "state"] { try root.makeFolder(name) }
  }

  private func open(_ state: String = "state", outbox: String = "out") throws -> StagingFolder {
    try StagingFolder(of: StateFolder(path: root.file(state)), in: OpenFolder(root.file(outbox + "/.darkroom")))
  }

  private func remember(_ staging: StagingFolder, in state: String = "state") throws {
    try staging.remember(in: StateFolder(path: root.file(state)))
  }

  private func isEmpty(_ staging: StagingFolder) throws -> Bool { try staging.folder.names().isEmpty }

  private func write(in staging: StagingFolder) throws { try staging.folder.create(file: "staged").write("x") }

  @Test func `it is new once, and known when it is recorded`() throws {
    let first = try open()
    #expect(!first.wasThere && !first.isKnown)
    try write(in: first)
    let second = try open()
    #expect(try second.wasThere && !second.isKnown && !isEmpty(second), "the process died before it was recorded")
    for _ in 0..<2 {
      try remember(second)
      let third = try open()
      #expect(third.wasThere && third.isKnown && third.folder.path == second.folder.path)
      #expect(root.file("out/" + third.pathInOutbox) == third.folder.path)
    }
  }

  @Test(arguments: [["out"], ["state"], ["out", "state"]])
  func `it is found wherever the outbox and the state folder are moved`(moved: [String]) throws {
    let first = try open()
    try remember(first)
    try write(in: first)
    for name in moved { try Folder.rename(root.file(name), to: root.file("moved-" + name)) }
    let found = try open(
      moved.contains("state") ? "moved-state" : "state", outbox: moved.contains("out") ? "moved-out" : "out")
    #expect(try found.isKnown && !isEmpty(found))
  }

  @Test func `each of several state folders has its own, and so has a copy of an outbox`() throws {
    try root.makeFolder("other")
    let staging = try [open(), open("other")]
    #expect(staging[0].folder.path != staging[1].folder.path)
    for (index, state) in ["state", "other"].enumerated() { try remember(staging[index], in: state) }
    for state in ["state", "other"] { #expect(try open(state).isKnown) }
    try FileManager.default.copyItem(atPath: root.file("out"), toPath: root.file("copy"))
    let copy = try open(outbox: "copy")
    #expect(copy.isKnown && copy.folder.path.hasPrefix(root.file("copy/")))
  }

  @Test func `a copy of a state folder takes it over, so that each notices what the other may have removed`() throws {
    try remember(open())
    try FileManager.default.copyItem(atPath: root.file("state"), toPath: root.file("backup"))
    let copy = try open("backup")
    #expect(copy.wasThere && !copy.isKnown)
    try remember(copy, in: "backup")
    #expect(try open("backup").isKnown)
    #expect(try !open().isKnown)
  }

  @Test func `that of an earlier version is known by its name`() throws {
    let name = "out/.darkroom/staging/" + MessageDigest.hexDigest(of: root.file("state")).prefix(8)
    try FileManager.default.createDirectory(atPath: root.file(name), withIntermediateDirectories: true)
    try root.write("", as: "state/ledger.sqlite")
    let staging = try open()
    #expect(staging.wasThere && staging.isKnown && staging.folder.path == root.file(name))
  }

  @Test(arguments: [true, false])
  func `a new state folder in the place of one that is lost or elsewhere takes it over, and the other notices`(
    isEarlier: Bool
  ) throws {
    if isEarlier {
      let name = "out/.darkroom/staging/" + MessageDigest.hexDigest(of: root.file("state")).prefix(8)
      try FileManager.default.createDirectory(atPath: root.file(name), withIntermediateDirectories: true)
      try root.write("", as: "state/ledger.sqlite")
    }
    try remember(open())
    try Folder.rename(root.file("state"), to: root.file("moved"))
    try root.makeFolder("state")
    let new = try open()
    #expect(new.wasThere && !new.isKnown)
    try remember(new)
    #expect(try !open("moved").isKnown)
    #expect(try open().isKnown)
  }
}
