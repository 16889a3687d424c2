import Glibc
import TestSupport
import Testing

@testable import System

@Suite struct ErrorCauseTests {
  private static let cases: [(code: Int32, cause: ErrorCause, isOfMachine: Bool)] = [
    (ENOSPC, .space, true), (EDQUOT, .space, true), (EMFILE, .exhaustion, true), (ENFILE, .exhaustion, true),
    (ENOMEM, .exhaustion, true), (EIO, .device, true), (EROFS, .device, true), (ESTALE, .device, true),
    (EACCES, .permission, true), (EPERM, .permission, true), (EINTR, .interrupted, true), (ENOENT, .missing, false),
    (EEXIST, .occupied, false), (ENOTDIR, .occupied, false), (ELOOP, .occupied, false), (EFBIG, .other, false),
    (ENAMETOOLONG, .other, false), (EINVAL, .other, false), (0, .other, false),
  ]

  @Test(arguments: cases)
  func `an error number tells whether the machine is to blame`(
    test: (code: Int32, cause: ErrorCause, isOfMachine: Bool)
  ) {
    #expect(ErrorCause(errno: test.code) == test.cause)
    #expect(test.cause.isOfMachine == test.isOfMachine)
    #expect(test.cause.isOfMachineForOwnFile == (test.isOfMachine || test.code == ENOENT))
  }

  @Test(arguments: [
    (EACCES, "/x: Permission denied (open); call it as the user that owns it, or give this user access"),
    (EROFS, "/x: Read-only file system (open); the file system is read-only here: a service needs"),
    (ENOENT, "/x: No such file or directory"),
  ])
  func `an error says what gives access`(code: Int32, text: String) {
    #expect(SystemError("open", "/x", code: code).explained.hasPrefix(text))
  }

  @Test(
    arguments: [
      ("gif", ["keep", "jpeg", "png", "webp", "avif"], nil), ("tcsh", ["bash", "zsh", "fish"], nil),
      ("foo", ["flip", "flop", "blur"], nil), ("bahs", ["bash", "zsh", "fish"], "bash"),
      ("rnu", ["run", "add"], "run"),
      ("hue", ["hue-rotate", "blur"], "hue-rotate"), ("headers", ["per-host", "headers-file"], "headers-file"),
    ] as [(String, [String], String?)])
  func `only a name that is near is suggested`(name: String, known: [String], nearest: String?) {
    #expect(NearestName.nearest(to: name, among: known) == nearest)
  }

  @Test func `a call that was interrupted is made again, and no other`() {
    var calls = 0
    #expect(
      uninterrupted { () -> Int32 in
        calls += 1
        errno = calls < 3 ? EINTR : EIO
        return -1
      } == -1)
    #expect(calls == 3)
  }

  @Test func `a folder that must be there is not made, and what was made before an error is told`() throws {
    let folder = try TemporaryFolder()
    let root = folder.file("share")
    var changed: [String] = []
    let error = #expect(throws: SystemError.self) {
      try Folder.create(root + "/job/images", beneath: root, changed: &changed)
    }
    #expect(error?.code == ENOENT && changed.isEmpty)
    #expect(try folder.names().isEmpty)
    try folder.makeFolder("share")
    try folder.write("x", as: "share/file")
    try Folder.create(root + "/job/images", beneath: root, changed: &changed)
    #expect(changed == [root, root + "/job"])
  }
}
