import Foundation
import JSON
import System
import Testing
import TestSupport

@testable import Gallery
@testable import Model

@Suite struct JobPageTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let head = ReportHead(members: [.init("job", .string("job"))])

  /// A row; every hundredth from the 20 000th on failed.
  private func row(_ index: Int) -> String {
    let failure = ReportRow.Failure(stage: "download", code: "dns", message: "", httpStatus: nil, isRetryable: true)
    let hasFailed = index >= 20_000 && index % 100 == 0
    var row = ReportRow.sample(index, state: hasFailed ? .failed : .filtered, failure: hasFailed ? failure : nil)
    row.metadata = .object(["state": .string("failed"), "index": .integer(-1)])
    return row.json.text
  }

  /// The data of the page that was written.
  private func data(_ name: String = "page") throws -> JSONValue {
    let html = try #require(folder.text(name))
    let begin = try #require(html.range(of: #"id="data">"#)?.upperBound)
    let end = try #require(html[begin...].firstIndex(of: "<"))
    #expect(html.hasSuffix(PageTemplate.end))
    return try JSONValue(parsing: String(html[begin..<end]))
  }

  private func indices(_ data: JSONValue) -> [Int] {
    guard case .array(let entries)? = data["entries"] else { return [] }
    return entries.compactMap { $0["index"]?.integer }
  }

  private static let shown = Array(0..<19_950) + (200..<250).map { $0 * 100 }

  @Test func `of 25 000 rows 20 000 are on the page, those that failed first, in the manifest's order`() throws {
    let page = try JobPage(
      to: OpenFile(creating: folder.file("page")), job: "job", head: Self.head, total: 25_000, failed: 50)
    for index in 0..<25_000 { try page.add(row(index)) }
    try page.end()
    let data = try data()
    #expect(indices(data) == Self.shown)
    #expect(data["entries_total"]?.integer == 25_000 && data["refresh_s"] == nil)
  }

  @Test func `rows that are too large together are cut, and how many there are is told`() throws {
    let page = try JobPage(
      to: OpenFile(creating: folder.file("page")), job: "job", head: Self.head, total: 9, failed: 0,
      byteLimit: 4 * row(0).utf8.count + 20)
    for index in 0..<9 { try page.add(row(index)) }
    try page.end()
    #expect(try indices(data()) == [0, 1, 2, 3] && data()["entries_total"]?.integer == 9)
  }

  @Test func `a live page has the same rows whatever the order in which they end, and reads none twice`() throws {
    var random = SplitMix64(seed: 1)
    let order = (0..<25_000).shuffled(using: &random)
    let log = try OpenFile(creating: folder.file("log"))
    var offsets = RowOffsets()
    for part in 0..<5 {
      let rows = order[part * 5000..<(part + 1) * 5000].map { row($0) + "\n" }.joined()
      // The last line is not whole yet.
      let cut = rows.utf8.count - 7
      try log.write(String(decoding: rows.utf8.prefix(cut), as: UTF8.self))
      let hasChanged = try offsets.update(from: log)
      #expect(hasChanged && offsets.counts.total == (part + 1) * 5000 - 1)
      try log.write(String(decoding: rows.utf8.dropFirst(cut), as: UTF8.self))
      _ = try offsets.update(from: log)
      #expect(offsets.counts.total == (part + 1) * 5000)
    }
    let hasMore = try offsets.update(from: log)
    #expect(!hasMore)
    let page = try JobPage(
      to: OpenFile(creating: folder.file("page")), job: "job", head: Self.head,
      live: .init(ended: 25_000, total: 30_000),
      total: offsets.counts.total, failed: offsets.counts.failed)
    try offsets.each(of: log) { (row, count) throws(SystemError) in try page.add(row, count) }
    try page.end()
    let data = try data()
    #expect(indices(data) == Self.shown && data["refresh_s"]?.integer == 2)
    #expect(data["live"]?["total"]?.integer == 30_000)
  }

  @Test func `another log in the place of the first, and a shorter one, are read from the beginning`() throws {
    let log = try OpenFile(creating: folder.file("log"))
    try log.write((0..<3).map { row($0) + "\n" }.joined() + "no row\n{\"index\":x}\n\n")
    var offsets = RowOffsets()
    _ = try offsets.update(from: log)
    #expect(offsets.counts.total == 3)
    try log.truncate(to: row(0).utf8.count + 1)
    _ = try offsets.update(from: log)
    #expect(offsets.counts.total == 1)
    let other = try OpenFile(creating: folder.file("other"))
    try other.write((0..<2).map { row($0) + "\n" }.joined())
    _ = try offsets.update(from: other)
    #expect(offsets.counts.total == 2)
  }

  @Test func `a row that has kept its source names it, whatever its metadata say`() throws {
    var kept = ReportRow.sample(
      0, state: .filtered, output: .sample(), source: .init(picture: nil, bytes: 1, sha256: "ab", httpStatus: 200))
    kept.source?.file = "originals/a b.jpg"
    var other = ReportRow.sample(1, state: .filtered, output: .sample(), source: .sample())
    other.metadata = .object(["source": .object(["file": .string("originals/x")]), "filters": .string("")])
    let page = try JobPage(
      to: OpenFile(creating: folder.file("page")), job: "job", head: Self.head, total: 2, failed: 0)
    for row in [kept, other] { try page.add(row.json.text) }
    try page.end()
    guard case .array(let entries)? = try data()["entries"] else { return }
    #expect(entries.map { $0["original"]?.string } == ["originals/a b.jpg", nil])
    #expect(entries.map { $0["index"]?.integer } == [0, 1])
  }

  @Test(
    arguments: [
      ("nothing", nil, ExistingPage.free), ("empty", "", .broken), ("zeros", "\0\0\0", .broken),
      ("ours", "<!doctype html>\n<!-- darkroom gallery 1 -->\n<p>x</html>\n", .ours),
      ("a later version's", "<!doctype html>\n<!-- darkroom gallery 12 -->\n<p>x</html>\n", .ours),
      ("half of ours", "<!doctype html>\n<!-- darkroom gallery 1 -->\n<p>x</ht", .broken),
      ("another", "<!doctype html>\n<p>x</html>\n", .foreign(.file)),
      ("another that mentions it later", String(repeating: " ", count: 300) + PageTemplate.marker, .foreign(.file)),
    ] as [(String, String?, ExistingPage)])
  func `pages are told from other files`(what: String, contents: String?, page: ExistingPage) throws {
    if let contents { try folder.write(contents, as: ExistingPage.name) }
    #expect(try ExistingPage(in: OpenFolder(folder.path)) == page)
  }

  @Test func `links and folders are not pages, nor what they lead to`() throws {
    try folder.write("<!doctype html>\n<!-- darkroom gallery 1 --></html>\n", as: "page")
    try folder.link(ExistingPage.name, to: "page")
    #expect(try ExistingPage(in: OpenFolder(folder.path)) == .foreign(.link))
    try folder.makeFolder("job/" + ExistingPage.name)
    #expect(try ExistingPage(in: OpenFolder(folder.path), "job/" + ExistingPage.name) == .foreign(.folder))
    #expect(try ExistingPage(in: OpenFolder(folder.path), "page/" + ExistingPage.name) == .free)
  }
}
