import Testing

@testable import Manifests

/// Lists that look like something else.
@Suite struct TextListTests {
  @Test(arguments: [
    "http://h/f_auto,url,w_100/a.jpg", "http://h/a.jpg;url", "photo, url, old.jpg", "url", "[{x}].jpg", "[\"x\"].jpg",
    "{a} b", "[2026] cat.jpg",
  ])
  func `a URL or a name of a file is no table and no JSON`(line: String) throws {
    let read = try ReadManifest(line + "\n", as: "m.txt")
    #expect(read.problems.isEmpty && read.entries.count == 1)
  }
}
