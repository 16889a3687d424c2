import System
import Testing

@testable import Transfer

@Suite struct FolderSourceParsingTests {
  /// The paths of a tree that a source takes, as `FolderListing` walks it.
  private func taken(_ paths: [String], by source: FolderSource) -> [String] {
    paths.filter { path in
      let names = path.fields("/")
      let isExcluded = source.exclusions.contains { pattern in
        names.indices.contains { matches(pattern, Array(names[...$0])) }
      }
      return !isExcluded
        && source.trees.contains { tree in
          let folder = tree.folder.fields("/")
          return names.starts(with: folder) && matches(tree.pattern, Array(names.dropFirst(folder.count)))
        }
    }
  }

  private func matches(_ pattern: PathPattern, _ names: [String]) -> Bool {
    guard let last = names.last else { return false }
    let position = names.dropLast().reduce(pattern.start) { pattern.position(after: $1, from: $0) }
    return pattern.includes(last, at: position)
  }

  private static let tree = [
    "a.jpg", "in/a.jpg", "in/B.JPG", "in/a.png", "in/x/a.jpg", "in/x/y/a.jpg", "in/tmp/a.jpg", "out/a.jpg",
  ]

  @Test(arguments: [
    (["./"], ["a.jpg"]), (["."], ["a.jpg"]), (["*.jpg"], ["a.jpg"]), (["in/"], ["in/a.jpg", "in/B.JPG", "in/a.png"]),
    (["in/*.jpg"], ["in/a.jpg", "in/B.JPG"]), (["file:in/[ab].j*"], ["in/a.jpg", "in/B.JPG"]),
    (["in/*/a.jpg"], ["in/x/a.jpg", "in/tmp/a.jpg"]), (["in/**/y/*"], ["in/x/y/a.jpg"]),
    (["**/y/*.jpg"], ["in/x/y/a.jpg"]),
    (["in/**"], ["in/a.jpg", "in/B.JPG", "in/a.png", "in/x/a.jpg", "in/x/y/a.jpg", "in/tmp/a.jpg"]),
    (["in/**/*.jpg", "!in/tmp/**"], ["in/a.jpg", "in/B.JPG", "in/x/a.jpg", "in/x/y/a.jpg"]),
    (["in/**/*.jpg", "!file:in/tmp/"], ["in/a.jpg", "in/B.JPG", "in/x/a.jpg", "in/x/y/a.jpg"]),
    (["!in/tmp", "file:in/**/*.jpg", "!in/x/"], ["in/a.jpg", "in/B.JPG"]),
    (["**", "!*.jpg"], ["in/a.png"]), (["in/**", "!file:*.jpg"], ["in/a.png"]),
    (["in/x/**", "out/*", "!x"], ["out/a.jpg"]), (["**/a.*", "!IN"], ["a.jpg", "out/a.jpg"]),
    (["in/*.png", "out/*"], ["in/a.png", "out/a.jpg"]),
  ])
  func `a source takes the files that match a pattern and no exclusion, whatever their case`(
    texts: [String], paths: [String]
  ) throws {
    #expect(taken(Self.tree, by: try #require(try FolderSource(parsing: texts))) == paths)
  }

  @Test(arguments: [
    (["in/"], "in/"), (["in/*.jpg"], "in/"), (["in/**/*.jpg"], "in/"), (["/p/in/x/", "/p/in/y/*"], "/p/in/"),
    (["in/", "in2/"], ""), (["**"], ""), (["in/x/**", "in/", "!a"], "in/"),
  ])
  func `results are named from the folder that all patterns share`(texts: [String], base: String) throws {
    #expect(try FolderSource(parsing: texts)?.base == base)
  }

  @Test(arguments: ["a.jpg", "a/b", "http://h/a/", "https://h/*", "ftp://h/", "", "file://h/a/"])
  func `anything else is a file, or none`(text: String) throws { #expect(try FolderSource(parsing: [text]) == nil) }

  @Test(arguments: [
    (["in/", "http://h/a.csv"], "in/ is a folder or a pattern, and cannot be one of several mirrors"),
    (["a.csv", "in/*"], "in/* is a folder"), (["!in/x/"], "only files to leave out are given: !in/x/"),
    (["file:in", "!x"], "./in is no folder"), (["in/*", "!http://h/x"], "!http://h/x is no path"),
    (["/p/in/**", "!in/tmp/"], "some paths are absolute and some are relative to --file-root: /p/in/**, !in/tmp/"),
  ])
  func `folders do not stand beside lists, and paths are all relative or all absolute`(texts: [String], problem: String)
  {
    do {
      _ = try FolderSource(parsing: texts)
      Issue.record("no problem")
    } catch {
      #expect(error.message.hasPrefix(problem), "\(error.message)")
    }
  }

  @Test(arguments: [
    ("file:incoming/", "./incoming/"), ("FILE:a%20b/*.jpg", "./a b/*.jpg"), ("file:./a/?", "./a/?"),
    ("file:/a/", "file:/a/"), ("file:///a/", "file:///a/"), ("http://h/", "http://h/"), ("file:", "file:"),
    ("a/", "a/"), ("file:///a/?.png", "/a/?.png"), ("file://LOCALHOST/a%20b/#1/*", "/a b/#1/*"),
    ("file:/a/?", "/a/?"), ("file://h/a/?", "file://h/a/?"),
  ])
  func `a file URL without a slash is relative to the file root, one with a pattern a path`(
    text: String, path: String
  ) {
    #expect(FolderSource.path(of: text) == path)
  }

  @Test func `paths become URLs, unless a manifest cannot have them`() {
    #expect(FolderSource.url(of: "in/a b@c.jpg") == "./in/a b@c.jpg" && FolderSource.url(of: "/in/a:b") == "/in/a:b")
    #expect(FolderSource.url(of: "in/a ") == nil)
    for character in ["\n", "\t", "\u{7f}", "\u{1}"] { #expect(FolderSource.url(of: "a\(character)b.jpg") == nil) }
  }
}
