import Foundation
import Glibc
import System
import TestSupport
import Testing

@Suite struct OpenFolderTests {
  private let root: TemporaryFolder
  private let elsewhere: TemporaryFolder

  init() throws {
    root = try TemporaryFolder()
    elsewhere = try TemporaryFolder()
    try root.makeFolder("a/b/c")
    try root.write("inside", as: "a/b/file")
    try elsewhere.makeFolder("c")
    try elsewhere.write("precious", as: "file")
  }

  @Test(arguments: resolutions)
  func `a path stands for what it leads to without symbolic links, the last itself`(
    resolution: OpenFolder.Resolution
  ) throws {
    let folder = try open(resolution)
    for path in ["a", "a/b", "a/b/file"] {
      #expect(try folder.status(of: path)?.identity == FileStatus(of: root.file(path)).identity)
    }
    for path in ["missing", "a/missing", "missing/file"] { #expect(try folder.status(of: path) == nil) }
    try root.link("a/link", to: elsewhere.path)
    #expect(try folder.status(of: "a/link")?.kind == .link)
    for path in ["a/link/file", "a/link/missing", "a/b/file/x"] {
      let error = #expect(throws: SystemError.self) { try folder.status(of: path) }
      #expect([ELOOP, ENOTDIR].contains(error?.code))
    }
  }

  @Test(arguments: resolutions)
  func `a folder on the way need not be readable, and the first one neither`(
    resolution: OpenFolder.Resolution
  ) throws {
    // Root reads everything.
    guard geteuid() != 0 else { return }
    for name in ["", "a"] { chmod(root.file(name), 0o311) }
    defer { for name in ["", "a"] { chmod(root.file(name), 0o755) } }
    #expect(throws: SystemError.self) { try open(resolution) }
    #expect(try OpenFolder(searching: root.path).open(reading: "a/b/file").readAll() == Data("inside".utf8))
  }

  private static let resolutions = [OpenFolder.Resolution.kernel, .steps]

  private func open(_ resolution: OpenFolder.Resolution) throws -> OpenFolder {
    try OpenFolder(root.path, resolution: resolution)
  }

  @Test(arguments: resolutions)
  func `folders and files beneath it are opened`(resolution: OpenFolder.Resolution) throws {
    let folder = try open(resolution).folder("a/b")
    #expect(folder.path == root.file("a/b"))
    #expect(try Set(folder.names().compactMap(\.text)) == ["c", "file"])
    #expect(try open(resolution).open(reading: "a/b/file").readAll() == Data("inside".utf8))
    #expect(try open(resolution).holds("a/b/file", bytes: 6, sha256: MessageDigest.hexDigest(of: "inside")))
    let missing = #expect(throws: SystemError.self) { try open(resolution).folder("a/x/c") }
    #expect(missing?.code == ENOENT)
  }

  @Test(arguments: resolutions, ["a", "a/b"])
  func `a symbolic link is followed nowhere in a path`(resolution: OpenFolder.Resolution, place: String) throws {
    try FileManager.default.removeItem(atPath: root.file(place))
    try root.link(place, to: place == "a" ? Folder.parent(of: elsewhere.path) : elsewhere.path)
    let name = Folder.name(of: elsewhere.path)
    let beneath = place == "a" ? "a/" + name : "a/b"
    let folder = try open(resolution)
    for path in [beneath, beneath + "/c"] {
      let error = #expect(throws: SystemError.self) { try folder.folder(path) }
      #expect([ELOOP, ENOTDIR].contains(error?.code))
      #expect(throws: SystemError.self) { try folder.create(path) }
    }
    #expect(throws: SystemError.self) { try folder.create(beneath + "/new/deep") }
    #expect(throws: SystemError.self) { try folder.open(reading: beneath + "/file") }
    #expect(try !folder.holds(beneath + "/file", bytes: 8, sha256: MessageDigest.hexDigest(of: "precious")))
    #expect(try elsewhere.names() == ["c", "file"])
  }

  @Test(arguments: resolutions, ["..", "a/../..", "a/b/../../.."])
  func `nothing outside is reached by dots`(resolution: OpenFolder.Resolution, path: String) throws {
    #expect(throws: SystemError.self) { try open(resolution).folder(path) }
  }

  @Test(arguments: resolutions)
  func `what is missing is created, and what got a new name in it is told`(
    resolution: OpenFolder.Resolution
  ) throws {
    let made = try open(resolution).create("a/x/y", mode: 0o700)
    #expect(made.folder.path == root.file("a/x/y"))
    #expect(made.changed == [root.file("a"), root.file("a/x")])
    #expect(try open(resolution).create("a/x/y").changed.isEmpty)
    #expect(try FileStatus(of: root.file("a/x/y")).isOpenToOthers == false)
  }

  @Test(arguments: resolutions)
  func `what is done in an open folder is done there, whatever has its path by then`(
    resolution: OpenFolder.Resolution
  ) throws {
    let folder = try open(resolution).folder("a/b")
    try FileManager.default.moveItem(atPath: root.file("a/b"), toPath: root.file("moved"))
    try root.link("a/b", to: elsewhere.path)
    try folder.create(file: "new").write("x")
    try folder.remove("file")
    #expect(try folder.create("sub").changed == [root.file("a/b")])
    #expect(try root.names(in: "moved") == ["c", "new", "sub"])
    #expect(try elsewhere.names() == ["c", "file"] && elsewhere.text("file") == "precious")
  }

  @Test(arguments: ["link", "dangling", "pipe", "folder"])
  func `only regular files are opened for writing, and nothing waits for a pipe`(kind: String) throws {
    switch kind {
    case "link": try root.link("log", to: elsewhere.file("file"))
    case "dangling": try root.link("log", to: elsewhere.file("new"))
    case "pipe": #expect(mkfifo(root.file("log"), 0o600) == 0)
    default: try root.makeFolder("log")
    }
    let folder = try OpenFolder(root.path)
    #expect(throws: SystemError.self) { try folder.open(appending: "log") }
    #expect(throws: SystemError.self) { try folder.open(updating: "log") }
    #expect(throws: SystemError.self) { try folder.create(file: "log") }
    #expect(elsewhere.text("file") == "precious")
    #expect(try elsewhere.names() == ["c", "file"])
  }

  @Test func `a rename replaces nothing unless it is to`() throws {
    let (folder, target) = (try OpenFolder(root.path), try OpenFolder(elsewhere.path))
    try root.write("new", as: "file")
    #expect(try !folder.renameWithoutReplacing("file", to: target, as: "file"))
    #expect(elsewhere.text("file") == "precious" && root.text("file") == "new")
    try folder.rename("file", to: target, as: "file")
    #expect(elsewhere.text("file") == "new" && root.text("file") == nil)
  }

  @Test func `a file without a name gets one that is not taken, or goes`() throws {
    let folder = try OpenFolder(root.path)
    do {
      let gone = try folder.createNameless()
      try gone.write("x")
    }
    #expect(try root.names() == ["a"])
    let file = try folder.createNameless()
    try file.write("kept")
    try folder.name(file, as: "kept")
    #expect(root.text("kept") == "kept")
    let error = #expect(throws: SystemError.self) { try folder.name(folder.createNameless(), as: "kept") }
    #expect(error?.code == EEXIST)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func `what is of another user is not ours`() throws {
    let folder = try OpenFolder(root.path)
    try root.write("theirs", as: "theirs")
    let before = try #require(try folder.status(of: "theirs"))
    #expect(folder.isOurs(before))
    #expect(chown(root.file("theirs"), 65534, 65534) == 0)
    let after = try #require(try folder.status(of: "theirs"))
    #expect(!folder.isOurs(after))
    #expect(try root.names() == ["a", "theirs"])
  }
}
