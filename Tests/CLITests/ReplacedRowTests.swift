import Foundation
import TestSupport
import Testing

/// Rows of entries that end in a run that was replaced: they are told at once and once, with their places in the new manifest.
@Suite(.blocking) struct ReplacedRowTests {
  private let folders: DarkroomFolders
  private let fast: GatedServer
  private let slow: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    fast = try GatedServer(serving: packageRoot + "/Samples/chelsea-small.png")
    slow = try GatedServer(serving: packageRoot + "/Samples/chelsea-small.png")
  }

  private static let options = ["--filters", "none", "--cache-size", "0", "--verbose", "--json"]

  private func fast(_ name: String, after: String? = nil) -> String { line(fast, name, after) }

  private func slow(_ name: String) -> String { line(slow, name, nil) }

  private func line(_ server: GatedServer, _ name: String, _ after: String?) -> String {
    let dependency = after.map { #", "after": "\#($0)""# } ?? ""
    return #"{"name": "\#(name)", "url": "\#(server.url(name))"\#(dependency)}"#
  }

  private func drop(_ lines: String...) throws { try folders.drop("job.jsonl", lines.joined(separator: "\n")) }

  /// An event that tells that an entry has ended.
  private struct Told: Decodable, Hashable {
    struct Row: Decodable, Hashable { let name: String, index: Int }
    let event: String
    let entry: Row?
  }

  /// The entries of which a process has told that they have ended, with their places.
  private func told(_ output: String) throws -> [String] {
    try output.split(separator: "\n").compactMap {
      let told = try JSONDecoder().decode(Told.self, from: Data($0.utf8))
      return told.event == "entry-ended" ? told.entry.map { "\($0.name) \($0.index)" } : nil
    }
  }

  /// The lines of `entries.jsonl`, in the order of the names.
  private func logged() throws -> [String] {
    try folders.contents("job/entries.jsonl").split(separator: UInt8(ascii: "\n")).map {
      let row = try JSONDecoder().decode(Told.Row.self, from: $0)
      return "\(row.name) \(row.index)"
    }.sorted()
  }

  /// The requests to a server since those that were waited for.
  private func requests(_ server: GatedServer) throws -> [String] {
    try server.note("end")
    var requests: [String] = []
    while requests.last != "/end" { requests.append(try server.nextRequest()) }
    return requests.dropLast()
  }

  private func checkOutbox() throws {
    let check = try DarkroomProcess.run(
      script: "'\(TestPython.interpreter)' '\(packageRoot)/script/check-outbox' outbox", in: folders.folder)
    #expect(check.status == 0, "\(check.output)")
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func `what has ended is told while another entry goes on, and not again after the next start`(signal: Int32) throws {
    try drop(fast("a"), slow("b"))
    let watch = try folders.start("watch", Self.options + ["--grace", "0"])
    #expect(try fast.nextRequest() == "/a")
    #expect(try slow.nextRequest() == "/b")
    try drop(slow("c"), fast("a"), slow("b"))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced; 2 entries that are") != nil)
    try fast.release(1)
    #expect(try watch.waitForLine(containing: "job: a: filtered") != nil)
    #expect(try logged() == ["a 1"])
    watch.send(signal)
    let first = try watch.finish()
    #expect(try told(first.output) == ["a 1"])
    #expect(try !requests(slow).contains("/b"), "it was in progress all the time")
    try slow.release(9)
    let second = try folders.run(Self.options)
    #expect(second.status == 0)
    #expect(try told(second.output).sorted() == ["b 2", "c 0"])
    #expect(try logged() == ["a 1", "b 2", "c 0"])
    #expect(try folders.report("job").entries.map(\.name) == ["c", "a", "b"])
    #expect(try requests(fast).isEmpty, "nothing is asked for twice")
    try checkOutbox()
  }

  @Test func `what comes after an entry that has ended starts while another goes on`() throws {
    try drop(fast("a"), slow("b"))
    let watch = try folders.start("watch", Self.options)
    #expect(try fast.nextRequest() == "/a")
    #expect(try slow.nextRequest() == "/b")
    try drop(fast("a"), slow("b"), fast("d", after: "a"))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced; 2 entries that are") != nil)
    try fast.release(2)
    #expect(try fast.nextRequest() == "/d")
    #expect(try watch.waitForLine(containing: "job: d: filtered") != nil)
    try slow.release(1)
    #expect(try watch.waitForLine(containing: "job: succeeded: 3 filtered") != nil)
    watch.send(SIGTERM)
    #expect(try told(watch.finish().output) == ["a 0", "d 2", "b 1"])
    try checkOutbox()
  }

  @Test(arguments: [false, true])
  func `a row that goes over twice is told once, with its last place`(isEarly: Bool) throws {
    try drop(fast("a"), slow("b"))
    let watch = try folders.start("watch", Self.options)
    #expect(try fast.nextRequest() == "/a")
    #expect(try slow.nextRequest() == "/b")
    try drop(slow("c"), fast("a"), slow("b"))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced; 2 entries that are") != nil)
    if isEarly {
      // It has its row in the second run when the third begins.
      try fast.release(1)
      #expect(try watch.waitForLine(containing: "job: a: filtered") != nil)
    }
    try drop(slow("d"), slow("c"), fast("a"), slow("b"))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    if !isEarly {
      try fast.release(1)
      #expect(try watch.waitForLine(containing: "job: a: filtered") != nil)
    }
    #expect(try logged() == ["a 2"])
    #expect(try !requests(slow).contains("/b"), "it was in progress all the time")
    try slow.release(9)
    #expect(try watch.waitForLine(containing: "job: succeeded: 4 filtered") != nil)
    watch.send(SIGTERM)
    #expect(try told(watch.finish().output).sorted() == ["a \(isEarly ? 1 : 2)", "b 3", "c 1", "d 0"])
    #expect(try logged() == ["a 2", "b 3", "c 1", "d 0"])
    #expect(try folders.report("job").entries.map(\.name) == ["d", "c", "a", "b"])
    try checkOutbox()
  }
}
