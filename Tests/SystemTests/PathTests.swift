import System
import Testing

/// Paths are bytes, whatever characters they make up.
struct PathTests {
  @Test(arguments: ["b", "\u{301}b", "\u{fe0f}", "\u{200d}b", "b\u{600}", "\u{e31}"])
  func `a path is divided at its slashes`(name: String) {
    #expect(Folder.name(of: "a/" + name).isIdentical(to: name))
    #expect(Folder.name(of: "/" + name).isIdentical(to: name) && Folder.name(of: name).isIdentical(to: name))
    #expect(Folder.parent(of: name + "/" + name).isIdentical(to: name))
    #expect(Folder.parent(of: "/" + name) == "/" && Folder.parent(of: name) == ".")
  }

  @Test(arguments: ["b", "\u{301}b", "\u{fe0f}", "b\u{600}"])
  func `what lies in a folder has a path in it`(name: String) {
    #expect(Folder.path("/a/\(name)/c", in: "/a").map(\.unicodeScalars.first) == name.unicodeScalars.first)
    #expect(Folder.path("/a/\(name)/c", in: "/a/\(name)") == "c" && Folder.path("/a/\(name)", in: "/a/\(name)") == "")
    #expect(Folder.path("/\(name)", in: "/")?.isIdentical(to: name) == true)
    #expect(Folder.path("/a/\(name)x", in: "/a/\(name)") == nil && Folder.path("/a", in: "/a/\(name)") == nil)
  }

  @Test func `folders whose names are spelt differently are two`() {
    #expect(Folder.path("/e\u{301}/a", in: "/\u{e9}") == nil && Folder.path("/\u{e9}", in: "/e\u{301}") == nil)
  }
}
