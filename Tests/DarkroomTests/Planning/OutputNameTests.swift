import Foundation
import Testing

@testable import JobIndex

@Suite struct OutputNameTests {
  @Test(
    "a name loses what is unsafe, and its picture extension",
    arguments: [
      ("photo", "photo"), ("photo.jpg", "photo"), ("photo.JPEG", "photo"), ("photo.jpg.png", "photo"),
      ("photo .jpg", "photo"), ("photo .png \u{a0}.jpg", "photo"), ("..\u{16}.. .png", "png"),
      ("photo.tar", "photo.tar"), ("v1.2", "v1.2"), ("a/b.jpg", "a/b"), ("a.jpg/b.jpg", "a.jpg/b"), ("a//b/", "a/b"),
      ("../../etc/passwd", "etc/passwd"), ("/etc/passwd", "etc/passwd"), ("a/../b", "a/b"), ("a/./b", "a/b"),
      ("./a", "a"), (".hidden", "hidden"), ("...", "unnamed"), ("..", "unnamed"), (".", "unnamed"), ("/", "unnamed"),
      ("", "unnamed"), ("   ", "unnamed"), (".jpg", "jpg"), ("..jpg", "jpg"), ("a/.jpg", "a/jpg"), ("a..", "a__"),
      ("a\u{0}b", "ab"), ("\u{0}", "unnamed"), ("a\nb\r\u{1b}[31m\u{7f}\u{85}\u{9b}", "ab[31m"),
      ("a\u{2028}b\u{2029}", "ab"), (".\u{0}.", "unnamed"), ("\u{0}../x", "x"), (". ./x", "x"), (".. /x", "x"),
      ("\u{a0}../\u{3000}../\u{2003}..", "unnamed"), ("\u{a0}../\u{3000}../etc/x", "etc/x"), ("\t../x", "x"),
      ("\u{1680}.\u{205f}./x", "x"), ("a\u{a0}", "a"), ("a \u{3000}/b", "a/b"),
      ("a\\b", "a_b"), ("..\\..\\x", "_.._x"), ("C:\\x", "C__x"), ("what?.jpg", "what_"),
      ("a./b", "a_/b"), ("con.jpg", "_"), ("aux/con .jpg", "_/_"), ("x..jpg", "x_"), ("\u{202e}gpj.x", "_gpj.x"),
      ("e\u{301}", "\u{e9}"), ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"),
    ])
  func explicit(name: String, expected: String) {
    let found = OutputName.explicit(name).path
    #expect(Array(found.utf8) == Array(expected.utf8), "\(found.debugDescription)")
  }

  /// What is dangerous, alone and between other things.
  private static let pieces = [
    ".", "..", "/", " ", "\u{a0}", "\u{3000}", "\u{0}", "\n", "\u{301}", "\u{200d}", "\u{fe0f}", "a", ".jpg", "\\",
    "\u{feff}", "\u{202e}", "\u{338}", "\u{2028}", "👍🏽", "\u{85}", "~", "-",
  ]

  @Test("no combination of dots, slashes, spaces and marks leads out of the folder or into a hidden file")
  func combinations() {
    for a in Self.pieces {
      for b in Self.pieces {
        for c in Self.pieces {
          for d in [a, ".", "/", "../x", "/.."] {
            for name in [OutputName.explicit(a + b + c + d).path, OutputName.derived(fromURL: "/x/" + a + b + c + d)] {
              let components = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
              let isSafe = components.allSatisfy { component in
                component.first.map { $0 != UInt8(ascii: ".") } ?? false && !component.contains { $0 < 0x20 }
                  && component.last != UInt8(ascii: ".") && component.last != UInt8(ascii: " ")
                  && !component.contains(UInt8(ascii: "\\"))
              }
              if !isSafe { Issue.record("\((a + b + c + d).debugDescription) became \(name.debugDescription)") }
            }
          }
        }
      }
    }
  }

  @Test("a long component keeps its beginning and stays unique", arguments: ["x", "é", "日", "👩‍👩‍👧‍👦", "a\u{301}\u{302}"])
  func long(letter: String) {
    let name = String(repeating: letter, count: 400)
    let (one, other) = (OutputName.explicit(name + "1").path, OutputName.explicit(name + "2").path)
    #expect(one != other)
    for found in [one, other] {
      #expect(found.utf8.count <= OutputName.lengthLimit)
      #expect(found.hasPrefix(letter))
    }
    #expect(OutputName.explicit("\(name)/\(name)").path.split(separator: "/").allSatisfy { $0.utf8.count <= 200 })
    #expect(OutputName.explicit(name + "1.jpg").path == one)
  }

  @Test("a long path keeps its first folders and its name, and stays unique", arguments: [1, 190, 400])
  func longPath(length: Int) {
    let folders = Array(repeating: String(repeating: "f", count: 190), count: 30).joined(separator: "/")
    let name = String(repeating: "n", count: length)
    let paths = [folders + "/" + name, "x" + folders + "/" + name, folders + "/x/" + name].map { given in
      let path = OutputName.explicit(given + ".jpg").path
      #expect(path.utf8.count <= OutputName.pathLimit && path.utf8.count > OutputName.pathLimit - 200)
      #expect(path.split(separator: "/").allSatisfy { $0.utf8.count <= OutputName.lengthLimit })
      #expect(OutputName.explicit(path).path == path)
      return path
    }
    #expect(Set(paths).count == 3 && paths[0].hasPrefix("fff") && paths[0].contains("/n"))
    let limit = String(folders.prefix(OutputName.pathLimit - 2)) + "/n"
    #expect(OutputName.explicit(limit).path == limit)
    #expect(OutputName.explicit("x" + limit).path != "x" + limit)
  }

  @Test("one character of a thousand bytes is shortened, too")
  func zalgo() {
    let name = OutputName.explicit("a" + String(repeating: "\u{301}", count: 1000)).path
    #expect(1...OutputName.lengthLimit ~= name.utf8.count)
  }

  @Test("the limit itself is kept as it is", arguments: [199, 200, 201])
  func limit(length: Int) {
    let name = String(repeating: "x", count: length)
    #expect((OutputName.explicit(name).path == name) == (length <= 200))
  }

  @Test(
    "a derived name is the URL's last path component",
    arguments: [
      ("https://example.org/a/b.jpg", "b"), ("https://example.org/a/b.jpg?x=y.png#z", "b"),
      ("https://example.org/", "unnamed"),
      ("https://example.org", "unnamed"), ("https://example.org/a%20b.jpg", "a b"),
      ("https://example.org/%2e%2e%2fx", "x"),
      ("https://example.org/a%2F..%2Fb.png", "b"), ("https://example.org/..%5cx.png", "_x"),
      ("https://example.org/%C2%A0..", "unnamed"),
      ("https://example.org/%00", "unnamed"), ("https://example.org/.jpg", "jpg"), ("file:///srv/a.png", "a"),
      ("dir/a.png", "a"),
      ("https://example.org/%F0%9F%91%8D.png", "👍"), ("https://example.org/e%CC%81", "\u{e9}"),
      ("not a url\u{7}", "unnamed"), ("", "unnamed"),
      ("ftp://example.org/x.jpg", "unnamed"), ("https://user:secret@example.org/", "unnamed"),
    ])
  func derived(url: String, expected: String) {
    let found = OutputName.derived(fromURL: url)
    #expect(Array(found.utf8) == Array(expected.utf8), "\(found.debugDescription)")
  }
}
