import Foundation
import TestSupport
import Testing

@testable import Manifests

/// A key that occurs twice would let one of two pictures vanish without a word.
@Suite struct DuplicateKeyTests {
  private static func pair(_ key: String, _ value: String = "<string>http://h/a</string>") -> String {
    "<key>\(key)</key>\(value)"
  }

  @Test(
    "a key that occurs twice in a dictionary of an XML property list is named, with its line",
    arguments: [
      ("<dict>\n\(pair("a"))\n\(pair("b"))\n\(pair("a"))\n</dict>", "line 4", "\"a\""),
      ("<dict>\(pair("a"))\n<key >a</key ><string>x</string></dict>", "line 2", "\"a\""),
      ("<dict>\(pair("a&amp;b"))\n\(pair("<![CDATA[a&b]]>"))</dict>", "line 2", "\"a&b\""),
      ("<dict>\(pair("a&lt;"))\n\(pair("&#97;&#x3c;"))</dict>", "line 2", "\"a<\""),
      ("<dict>\(pair("e\u{301}"))\n\(pair("\u{e9}"))</dict>", "line 2", "\"\u{e9}\""),
      ("<dict><key/><string>x</string>\(pair(""))</dict>", "line 1", "\"\""),
      (
        "<dict><key>c</key><dict>\(pair("url"))\n\(pair("metadata", "<dict>\(pair("c"))</dict>"))\n\(pair("url"))",
        "line 3", "\"url\""
      ),
      (
        "<dict>\(pair("a", "<array><dict/><array/></array>"))<!-- \(pair("a")) -->\n\(pair("a"))</dict>", "line 2",
        "\"a\""
      ),
    ])
  func twice(body: String, place: String, name: String) throws {
    let read = try ReadManifest(PropertyList.xml(body: body), as: "m.plist")
    #expect(read.found == ["syntax @ \(place)"])
    #expect(read.problems.first?.message == "the key \(name) occurs twice in its dictionary")
  }

  @Test("keys that are never closed do not take the rest of the file each", arguments: [10, 100_000])
  func unclosed(count: Int) throws {
    let text = "<plist version=\"1.0\"><dict>" + (0..<count).map { "<key>k\($0)" }.joined()
    #expect(try ReadManifest(Data(text.utf8), as: "m.plist").found.map { $0.prefix(6) } == ["syntax"])
  }

  @Test(
    "the same key in different dictionaries is fine",
    arguments: [
      "<dict>\(pair("a", "<dict>\(pair("url"))</dict>"))\(pair("b", "<dict>\(pair("url"))</dict>"))</dict>",
      "<array><dict>\(pair("url"))</dict><dict>\(pair("url"))</dict></array>",
      "<dict><key>a</key><dict>\(pair("url"))<key>metadata</key><dict>\(pair("a"))\(pair("url"))</dict></dict></dict>",
      "<dict>\(pair("a"))<!-- \(pair("a")) -->\(pair("a&amp;"))\(pair("a&amp;amp;"))</dict>",
    ])
  func apart(body: String) throws {
    #expect(try ReadManifest(PropertyList.xml(body: body), as: "m.plist").found == [])
  }

  @Test("keys of bytes that are not UTF-8 are compared as bytes")
  func latin1() throws {
    let head = #"<?xml version="1.0" encoding="ISO-8859-1"?><plist version="1.0"><dict>"#
    func text(_ second: UInt8) -> [UInt8] {
      Array(head.utf8) + Array("<key>".utf8) + [0xe9] + Array("</key><string>x</string><key>".utf8) + [second]
        + Array("</key><string>y</string></dict></plist>".utf8)
    }
    #expect(try ReadManifest(text(0xe8), as: "m.plist").found == [])
    #expect(try ReadManifest(text(0xe9), as: "m.plist").found == ["syntax @ line 1"])
  }
}
