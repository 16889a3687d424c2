import Foundation
import Synchronization
import System
import Testing
import TestSupport

@testable import Delivery

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
      try ManifestRemoval.resume(inbox: OpenFolder(inbox.path), finishing: [])
      #expect(inbox.text("a.json") == "new \(number)")
    }
    #expect(try inbox.names() == ["a.json"])
  }

  @Test("what a process that died had moved aside is put back, over nothing")
  func putBack() throws {
    try ManifestRemoval.resume(inbox: OpenFolder(inbox.path), finishing: [])
    try inbox.makeFolder(ParkingFolder.name)
    for name in ["a.json", "b.json"] { try inbox.write("parked", as: ParkingFolder.name + "/" + name) }
    try inbox.write("newer", as: "b.json")
    try ManifestRemoval.resume(inbox: OpenFolder(inbox.path), finishing: [])
    #expect(inbox.text("a.json") == "parked" && inbox.text("b.json") == "newer")
    #expect(inbox.text(ParkingFolder.name + "/b.json") == "parked", "nothing is lost")
  }

  @Test("what a process that died had moved aside, and whose job is finishing, is removed")
  func endRemoval() throws {
    try inbox.makeFolder(ParkingFolder.name)
    let parked = try inbox.write("done", as: ParkingFolder.name + "/a.json")
    let identity = try FileStatus(of: parked).identity.text
    try ManifestRemoval.resume(inbox: OpenFolder(inbox.path), finishing: [identity])
    #expect(try inbox.names() == [])
  }

  @Test("what a process that died had moved aside, and whose job has ended, is removed, and not processed again")
  func endedJob() throws {
    try inbox.makeFolder(ParkingFolder.name)
    for name in ["a.json", "b.json"] { try inbox.write("parked", as: name) }
    // A rename changes the ctime.
    let before = try identity()
    for name in ["a.json", "b.json"] {
      try Folder.rename(inbox.file(name), to: inbox.file(ParkingFolder.name + "/" + name))
    }
    try ManifestRemoval.resume(inbox: OpenFolder(inbox.path), finishing: []) { _ in before }
    #expect(try inbox.names() == ["b.json"])
  }

  /// What has the parking folder's name and is none.
  enum Obstacle: CaseIterable { case link, linkToNothing, file, otherUsersFolder }

  private func put(_ obstacle: Obstacle, _ elsewhere: TemporaryFolder) throws {
    let parking = inbox.file(ParkingFolder.name)
    switch obstacle {
    case .link: try inbox.link(ParkingFolder.name, to: elsewhere.path)
    case .linkToNothing: try inbox.link(ParkingFolder.name, to: elsewhere.file("nothing"))
    case .file: try inbox.write("precious", as: ParkingFolder.name)
    case .otherUsersFolder:
      try inbox.makeFolder(ParkingFolder.name)
      try inbox.write("precious", as: ParkingFolder.name + "/a.json")
      #expect(chown(parking, 65534, 65534) == 0)
    }
  }

  /// Everything that is there, with what tells whether it was changed.
  private func everything(in folder: TemporaryFolder) throws -> [String: FileIdentity] {
    var found: [String: FileIdentity] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      found[path] = try FileStatus(of: folder.file(path)).identity
    }
    return found
  }

  @Test(
    "what has the parking folder's name and is none is left alone, and the manifest goes by way of another folder",
    arguments: Obstacle.allCases)
  func otherFolder(obstacle: Obstacle) throws {
    // Only root can give files away.
    if obstacle == .otherUsersFolder, geteuid() != 0 { return }
    let elsewhere = try TemporaryFolder()
    for name in ["a.json", "b.json"] { try elsewhere.write("precious", as: name) }
    try put(obstacle, elsewhere)
    let before = (try everything(in: elsewhere), try everything(in: inbox))
    try inbox.write("done", as: "a.json")
    let ours = try FileStatus(of: elsewhere.file("a.json")).identity.text
    try ManifestRemoval.remove(path, identity: identity())
    try ManifestRemoval.resume(inbox: OpenFolder(inbox.path), finishing: [ours])
    #expect(try everything(in: elsewhere) == before.0)
    #expect(try everything(in: inbox) == before.1)
  }

  @Test("when all names of parking folders are taken that is an error, and nothing is changed")
  func refused() throws {
    for name in ParkingFolder.names { try inbox.write("precious", as: name) }
    try inbox.write("done", as: "a.json")
    let before = try everything(in: inbox)
    let error = #expect(throws: SystemError.self) { try ManifestRemoval.remove(path, identity: identity()) }
    #expect(error?.path.hasSuffix("/" + ParkingFolder.name) == true, "the first is named: \(String(describing: error))")
    try ManifestRemoval.resume(inbox: OpenFolder(inbox.path), finishing: [])
    #expect(try everything(in: inbox) == before)
  }

  @Test("a file of the same name in the parking folder is not replaced")
  func occupied() throws {
    try inbox.makeFolder(ParkingFolder.name)
    try inbox.write("precious", as: ParkingFolder.name + "/a.json")
    try inbox.write("done", as: "a.json")
    try ManifestRemoval.remove(path, identity: identity())
    #expect(inbox.text(ParkingFolder.name + "/a.json") == "precious")
    #expect(try inbox.names() == [ParkingFolder.name])
  }

  @Test("what a process that died had moved into another parking folder is put back or removed")
  func resumeOthers() throws {
    try inbox.write("in the way", as: ParkingFolder.name)
    let other = ParkingFolder.names[1]
    try inbox.makeFolder(other)
    for name in ["a.json", "b.json"] { try inbox.write(name, as: other + "/" + name) }
    let done = try FileStatus(of: inbox.file(other + "/a.json")).identity.text
    try ManifestRemoval.resume(inbox: OpenFolder(inbox.path), finishing: [done])
    #expect(try inbox.names() == [ParkingFolder.name, "b.json"])
  }
}
