import Foundation
import TestSupport
import Testing

/// Entries whose links are signed anew for each run, with a `cache-key` that stays.
@Suite(.blocking) struct SignedLinkTests {
  private let folders: DarkroomFolders
  private let pictures: TemporaryFolder
  private let nginx: Nginx

  init() throws {
    folders = try DarkroomFolders()
    pictures = try TemporaryFolder()
    nginx = try Nginx(
      serving: pictures.path,
      directives: """
        location ~ ^/signed/[^/]+/(?<picture>.*)$ { rewrite ^ /$picture break; }
        location ~ ^/moved/[^/]+/(?<picture>.*)$ { return 302 /signed/$arg_target/$picture; }
        """)
  }

  private func serve(_ names: [String], shade: Int = 0) throws {
    let script = """
      import sys
      from PIL import Image
      shade = int(sys.argv[1])
      for number, path in enumerate(sys.argv[2:]):
          Image.new("RGB", (40 + number, 30 + shade), (number, shade * 20, 90)).save(path)
      """
    _ = try TestPython.run(script, ["\(shade)"] + names.map(pictures.file))
  }

  private struct Link {
    let url: String
    var key: String?
    var line: String { #"{"url": "\#(url)"\#(key.map { #", "cache-key": "\#($0)""# } ?? "")}"# + "\n" }
  }

  private func run(_ links: [Link], job: String = "job", _ options: [String] = []) throws -> Report {
    try folders.drop("\(job).jsonl", links.map(\.line).joined())
    try folders.run(options).expect(status: 0)
    return try folders.report(job)
  }

  private func statuses(after count: inout Int) throws -> [String: Int] {
    let new = try nginx.accessLog().dropFirst(count)
    count += new.count
    return new.reduce(into: [:]) { $0[String($1.split(separator: " ")[8]), default: 0] += 1 }
  }

  @Test(arguments: ["signed/%/p.jpg", "p.jpg?signature=%"])
  func `a source whose link is signed anew is neither sent nor made again, and one that has changed is`(
    link: String
  ) throws {
    let names = (0..<20).map { "p\($0).jpg" }
    try serve(names)
    func links(_ night: Int) -> [Link] {
      names.map {
        let path = link.replacing("%", with: "\(night)").replacing("p.jpg", with: $0)
        return Link(url: nginx.url(path), key: "picture \($0)")
      }
    }
    var seen = 0
    let first = try run(links(1))
    #expect(try statuses(after: &seen) == ["200": 20])

    let second = try run(links(2))
    #expect(try statuses(after: &seen) == ["304": 20])
    #expect(second.counts == Report.Counts(total: 20, filtered: 20, reused: 20))
    #expect(second.bytes == Report.Bytes(downloaded: 0, written: 0))
    #expect(second.entries.map(\.output) == first.entries.map(\.output))
    #expect(second.since_last == Report.SinceLast(unchanged: 20))

    try serve(Array(names.prefix(2)), shade: 1)
    let third = try run(links(3))
    #expect(try statuses(after: &seen) == ["304": 18, "200": 2])
    #expect(third.since_last == Report.SinceLast(changed: 2, unchanged: 18))

    // Without a key the URL counts, and it is another.
    _ = try run(links(4).map { Link(url: $0.url) })
    #expect(try statuses(after: &seen) == ["200": 20])
  }

  @Test func `entries of a manifest with the same key are one request, and those of another manifest are not`() throws {
    try serve(["a.jpg", "b.jpg"])
    let links = (0..<5).map { Link(url: nginx.url("signed/\($0)/a.jpg"), key: "k") }
    var seen = 0
    let report = try run(links)
    #expect(try statuses(after: &seen) == ["200": 1])
    #expect(report.entries.filter { $0.coalesced == true }.count == 4)

    // Whoever else uses the key gets what his own URLs give.
    let other = try run([Link(url: nginx.url("b.jpg"), key: "k")], job: "other")
    #expect(try statuses(after: &seen) == ["200": 1])
    let plain = try run(["a.jpg", "b.jpg"].map { Link(url: nginx.url($0)) }, job: "plain")
    #expect(report.entries.allSatisfy { $0.source?.sha256 == plain.entries[0].source?.sha256 })
    #expect(other.entries[0].source?.sha256 == plain.entries[1].source?.sha256)
  }

  @Test func `live jobs with the same key ask for themselves`() throws {
    try serve(["a.jpg", "b.jpg"])
    for (job, name) in [("one", "a.jpg"), ("two", "b.jpg")] {
      let links = (0..<4).map { Link(url: nginx.url("signed/\($0)/\(name)"), key: "k\($0)") }
      try folders.drop("\(job).jsonl", links.map(\.line).joined())
    }
    #expect(try folders.run().status == 0)
    let sources = try ["one", "two"].map { Set(try folders.report($0).entries.map { $0.source?.sha256 }) }
    #expect(sources.map(\.count) == [1, 1] && sources[0] != sources[1])
  }

  @Test func `a key is that of a server, and its validators are not shown to another`() throws {
    try serve(["a.jpg"])
    let other = try Nginx(serving: pictures.path)
    var seen = 0
    _ = try run([Link(url: nginx.url("a.jpg"), key: "k")])
    #expect(try statuses(after: &seen) == ["200": 1])
    _ = try run([Link(url: other.url("a.jpg"), key: "k")], job: "other")
    #expect(try other.accessLog().map { $0.split(separator: " ")[8] } == ["200"])
  }

  @Test func `what a redirect leads to is known by its URL, as without a key`() throws {
    try serve(["a.jpg"])
    var seen = 0
    for (night, target, statuses) in [
      (1, "x", ["302": 1, "200": 1]), (2, "x", ["302": 1, "304": 1]), (3, "y", ["302": 1, "200": 1]),
    ] {
      let report = try run([Link(url: nginx.url("moved/\(night)/a.jpg?target=\(target)"), key: "k")])
      #expect(try self.statuses(after: &seen) == statuses)
      #expect(report.counts.reused == (night == 1 ? 0 : 1))
    }
  }

  @Test func `the list of failures keeps the key`() throws {
    try folders.drop("job.jsonl", Link(url: nginx.url("missing.jpg"), key: "k 1").line)
    #expect(try folders.run().status == 1)
    let failed = try String(decoding: folders.contents("job/job.failed.jsonl"), as: UTF8.self)
    #expect(failed.contains(#""cache-key":"k 1""#), "\(failed)")
  }
}
