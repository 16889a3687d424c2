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

  @Test(arguments: [
    "http://h/a.jpg, http://h/b.jpg", "http://h/a.jpg;\thttp://h/b.jpg",
    "http://h/a.jpg, http://h/b.jpg, http://h/c.jpg",
  ])
  func `URLs with commas between them are no mirrors`(line: String) throws {
    let read = try ReadManifest(line + "\nhttp://h/d.jpg,\n", as: "m.txt")
    #expect(read.found == ["syntax @ line 1"], "a URL alone may end so: \(read.problems)")
    #expect(read.problems.first?.message.contains("line of its own") == true)
  }

  @Test func `a URL that is indented is not called an option`() throws {
    let read = try ReadManifest("http://h/a.jpg\n  http://h/b.jpg?x=1\n", as: "m.txt")
    #expect(read.found == ["syntax @ line 2"])
    #expect(read.problems.first?.message.hasPrefix("remove the blanks before the URL") == true, "\(read.problems)")
  }
}
