import Glibc
import System
import Testing
import TestSupport

@testable import Inbox
@testable import Model

/// What the inbox remembers of its outboxes.
@Suite struct KnownOutboxesTests {
  @Test func `outboxes are known by their paths, and the last sixteen are remembered`() {
    var known = KnownOutboxes(notes: "")
    #expect(known.marker(of: "/a") == nil)
    known.remember("one", of: "/a\n b")
    known.remember("two", of: "/a")
    known = KnownOutboxes(notes: known.notes)
    #expect(known.marker(of: "/a\n b") == "one" && known.marker(of: "/a") == "two")
    known.remember("three", of: "/a")
    for number in 0..<14 { known.remember("\(number)", of: "/\(number)") }
    #expect(known.marker(of: "/a") == "three" && known.marker(of: "/a\n b") == "one")
    known.remember("last", of: "/last")
    #expect(known.marker(of: "/a") == "three" && known.marker(of: "/a\n b") == nil)
    #expect(known.notes.utf8.count < 2048)
  }

  @Test func `other lines are passed over`() {
    let known = KnownOutboxes(notes: "\noutbox\noutbox a b c\nin x y\n")
    #expect(known == KnownOutboxes(notes: ""))
  }

  @Test func `what is noted in an instance file is there for the next instance, and the file is the instance's still`()
    throws
  {
    let root = try TemporaryFolder()
    let folder = try OpenFolder(root.path)
    do {
      let first = try InstanceLock("instance", in: folder)
      #expect(first.notes.isEmpty)
      try first.note(String(repeating: "outbox a b\n", count: 100))
      #expect(first.isHeld(in: folder))
      try first.note("outbox a b\n")
      #expect(first.isHeld(in: folder))
    }
    let second = try taken { try InstanceLock("instance", in: folder) }
    #expect(second.notes == "outbox a b\n")
    #expect(second.isHeld(in: folder))
  }

  /// Takes a lock that is free, or soon is: a process that another test starts at this moment has all files open until it
  /// executes its program.
  private func taken(_ take: () throws -> InstanceLock) throws -> InstanceLock {
    let limit = Clock.monotonicSeconds + 60
    while true {
      do {
        return try take()
      } catch StopError.busy where Clock.monotonicSeconds < limit {
        sched_yield()
      }
    }
  }

  @Test func `notes are at the same place whatever the id of the process, so that half of a write leaves them whole`()
    throws
  {
    let root = try TemporaryFolder()
    try InstanceLock("instance", in: OpenFolder(root.path)).note("outbox a b\n")
    let text = try #require(root.text("instance"))
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(Int(lines[0]) == Int(getpid()) && lines[2] == "outbox a b")
    #expect(lines[..<2].joined().utf8.count == 35)
  }
}
