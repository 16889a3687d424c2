import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Darkroom

@Suite struct ManifestRemovalTests {
  private let inbox: TemporaryFolder
  private var path: String { inbox.file("a.json") }

  init() throws { inbox = try TemporaryFolder() }

  private func identity() throws -> String { try FileStatus(of: path).identity.text }

  @Test("the file that was processed is taken away, and nothing is left")
  func removed() throws {
    try inbox.write("old", as: "a.json")
    try ManifestRemoval.remove(path, identity: identity())
    #expect(try inbox.names().isEmpty)
  }

  @Test(
    "a file that was replaced, rewritten or taken away is left alone",
    arguments: ["replaced", "rewritten", "gone", "link"])
  func changed(how: String) throws {
    try inbox.write("old", as: "a.json")
    let before = try identity()
    switch how {
    case "replaced": try Folder.rename(inbox.write("new", as: ".new"), to: path)
    case "rewritten": try inbox.write("longer than before", as: "a.json")
    case "link":
      try Folder.rename(path, to: inbox.file("b.json"))
      try inbox.link("a.json", to: "b.json")
    default: try Folder.removeFile(path)
    }
    let left = try inbox.names()
    try ManifestRemoval.remove(path, identity: before)
    #expect(try inbox.names() == left)
  }

  @Test("whenever it is replaced, the new file stays")
  func race() throws {
    for number in 0..<300 {
      try inbox.write("old", as: "a.json")
      let (before, new) = (try identity(), try inbox.write("new \(number)", as: ".new"))
      let done = DispatchSemaphore(value: 0)
      let target = path
      Thread.detachNewThread {
        try? Folder.rename(new, to: target)
        done.signal()
      }
      try? ManifestRemoval.remove(path, identity: before)
      done.wait()
      try ManifestRemoval.resume(inbox: inbox.path, finishing: [])
      #expect(inbox.text("a.json") == "new \(number)")
    }
    #expect(try inbox.names() == ["a.json"])
  }

  @Test("what a process that died had moved aside is put back, over nothing")
  func putBack() throws {
    try ManifestRemoval.resume(inbox: inbox.path, finishing: [])
    try inbox.makeFolder(ManifestRemoval.parkingFolder)
    for name in ["a.json", "b.json"] { try inbox.write("parked", as: ManifestRemoval.parkingFolder + "/" + name) }
    try inbox.write("newer", as: "b.json")
    try ManifestRemoval.resume(inbox: inbox.path, finishing: [])
    #expect(inbox.text("a.json") == "parked" && inbox.text("b.json") == "newer")
    #expect(inbox.text(ManifestRemoval.parkingFolder + "/b.json") == "parked", "nothing is lost")
  }

  @Test("what a process that died had moved aside, and whose job is finishing, is removed")
  func endRemoval() throws {
    try inbox.makeFolder(ManifestRemoval.parkingFolder)
    let parked = try inbox.write("done", as: ManifestRemoval.parkingFolder + "/a.json")
    let identity = try FileStatus(of: parked).identity.text
    try ManifestRemoval.resume(inbox: inbox.path, finishing: [identity])
    #expect(try inbox.names() == [])
  }
}
