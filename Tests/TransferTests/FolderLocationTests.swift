import Testing

@testable import Transfer

@Suite struct FolderLocationTests {
  @Test(arguments: [
    ("incoming/", "incoming/", nil), ("/a/b/", "/a/b/", nil), ("file:///a/b%20c/", "/a/b c/", nil),
    ("incoming/*.jpg", "incoming/", "*.jpg"), ("*.jpg", "", "*.jpg"), ("./", "", nil),
    ("./in/", "in/", nil), (".", "", nil),
    ("a/b?", "a/", "b?"), ("a/[bc]", "a/", "[bc]"), ("file:///a/*", "/a/", "*"),
  ])
  func `a slash at the end or a pattern after it make a folder`(text: String, folder: String, pattern: String?) throws {
    let location = try #require(FolderLocation(parsing: text))
    #expect(location.folder == folder && location.pattern == pattern)
  }

  @Test(arguments: ["a.jpg", "a/b", "*/b.jpg", "http://h/a/", "https://h/*", "ftp://h/", "", "file://h/a/"])
  func `anything else is a file, or none`(text: String) { #expect(FolderLocation(parsing: text) == nil) }

  @Test(arguments: [
    ("file:incoming/", "./incoming/"), ("FILE:a%20b/*.jpg", "./a b/*.jpg"), ("file:./a/?", "./a/?"),
    ("file:/a/", "file:/a/"), ("file:///a/", "file:///a/"), ("http://h/", "http://h/"), ("file:", "file:"),
    ("a/", "a/"), ("file:///a/?.png", "/a/?.png"), ("file://LOCALHOST/a%20b/#1/*", "/a b/#1/*"),
    ("file:/a/?", "/a/?"), ("file://h/a/?", "file://h/a/?"),
  ])
  func `a file URL without a slash is relative to the file root, one with a pattern a path`(
    text: String, path: String
  ) {
    #expect(FolderLocation.path(of: text) == path)
  }

  @Test func `names are compared with the pattern whatever their case, and become paths`() throws {
    let location = try #require(FolderLocation(parsing: "./in/*.j[pq]g"))
    #expect(location.includes("a.jpg") && location.includes("A.JQG") && !location.includes("a.jpeg"))
    #expect(location.url(of: "a b@c.jpg") == "./in/a b@c.jpg" && location.url(of: "a ") == nil)
    for character in ["\n", "\t", "\u{7f}", "\u{1}"] { #expect(location.url(of: "a\(character)b.jpg") == nil) }
    #expect(try #require(FolderLocation(parsing: "./in/")).url(of: "a") == "./in/a", "also by file:in/")
    #expect(try #require(FolderLocation(parsing: "/in/")).url(of: "a:b") == "/in/a:b")
  }
}
