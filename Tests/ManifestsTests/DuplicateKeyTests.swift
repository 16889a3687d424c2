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
      ("<dict>\(pair("A"))\n\(pair("&#x00000041;"))</dict>", "line 2", "\"A\""),
      ("<dict>\(pair("e\u{301}"))\n\(pair("\u{e9}"))</dict>", "line 2", "\"\u{e9}\""),
      ("<dict><key/><string>x</string>\(pair(""))</dict>", "line 1", "\"\""),
      (
        "<dict><key>c</key><dict>\(pair("url"))\n\(pair("metadata", "<dict>\(pair("c"))</dict>"))\n\(pair("url"))</dict></dict>",
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
    let message = try #require(read.problems.first?.message)
    #expect(message.hasPrefix("the key \(name) occurs twice in its dictionary; the first time in line "))
    #expect(message.hasSuffix(body.hasPrefix("<dict>\n") ? " 2" : " 1"))
  }

  @Test func `numbers of characters that are too long to be read are not the same key`() throws {
    let body = "<dict>\(Self.pair("&#x0000000041;"))\n\(Self.pair("&#x0000000042;"))</dict>"
    #expect(
      try ReadManifest(PropertyList.xml(body: body), as: "m.plist").problems.allSatisfy {
        !$0.message.contains("twice")
      })
  }

  @Test(
    "all keys that occur twice are told, with the line and column of both",
    arguments: [
      (
        "m.json", "{\"a\": \"x\",\n \"é\\n\": {\"url\": \"y\", \"url\": \"z\"}, \"\\u0061\": \"w\",\n\"é\\u000a\": 7}",
        [
          "line 2, column 22: the key \"url\" occurs twice in its object; the first time at line 2, column 10",
          "line 2, column 35: the key \"a\" occurs twice in its object; the first time at line 1, column 2",
          "line 3, column 1: the key \"é\n\" occurs twice in its object; the first time at line 2, column 2",
        ]
      ),
      (
        "m.json", "{\"a\":\"x\",\n\"a\":\"y\",\n\"b\":}",
        [
          "line 2, column 1: the key \"a\" occurs twice in its object; the first time at line 1, column 2",
          "line 3, column 5: ",
        ]
      ),
      (
        "m.jsonl", "\"u\"\n{\"url\":\"x\",\"name\":\"{,\\\"name\\\"\",\"url\":\"y\"}\n{\"url\":1,\"url\":",
        [
          "line 2, column 32: the key \"url\" occurs twice in its object; the first time at line 2, column 2",
          "line 3, column 10: the key \"url\" occurs twice in its object; the first time at line 3, column 2",
          "line 3, column 15: ",
        ]
      ),
      (
        "m.csv", "url,name,url\n",
        ["line 1, column 10: the header has the column \"url\" twice; the first time at line 1, column 1"]
      ),
    ])
  func all(file: String, text: String, expected: [String]) throws {
    let told = try ReadManifest(text, as: file).problems.map(\.description)
    #expect(told.count == expected.count && zip(told, expected).allSatisfy { $0.hasPrefix($1) }, "\(told)")
  }

  @Test("of a binary property list the key path is told")
  func binary() throws {
    // {"c": {"a": "x", "a": "x"}}
    let objects = [
      PropertyList.dictionary(keys: [1], values: [2]), PropertyList.string("c"),
      PropertyList.dictionary(keys: [3, 3], values: [4, 4]), PropertyList.string("a"), PropertyList.string("x"),
    ]
    let read = try ReadManifest(PropertyList.binary(objects: objects), as: "m.plist")
    #expect(read.found == ["syntax @ c.a"])
    #expect(read.problems.first?.message == "the key \"a\" occurs twice in its dictionary")
  }

  @Test("of more than a hundred a hundred are told", arguments: ["m.json", "m.jsonl"])
  func many(file: String) throws {
    let text = "{" + (0..<300).map { "\"a\($0 / 2)\":\"x\"" }.joined(separator: ",") + "}"
    #expect(try ReadManifest(text, as: file).problems.count == 100)
  }

  @Test(
    "one that stands behind what is nested too deep is not overlooked with the rest", arguments: ["m.json", "m.jsonl"],
    [31, 32, 33, 40, 500])
  func behindDepth(file: String, depth: Int) throws {
    let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    // Of a key the last value is kept.
    for (last, isKept) in [(#""name":"x","name":"y""#, true), (#""metadata":{"name":"y"}"#, false)] {
      let codes = try ReadManifest(#"{"url":"https://h/a","metadata":\#(nested),\#(last)}"#, as: file).problems.map(
        \.code)
      #expect(codes.contains(isKept && depth > 31 ? .tooDeep : .syntax), "\(codes)")
    }
  }

  @Test("keys that are never closed do not take the rest of the file each", arguments: [10, 100_000])
  func unclosed(count: Int) throws {
    let text = "<plist version=\"1.0\"><dict>" + (0..<count).map { "<key>k\($0)" }.joined()
    #expect(try ReadManifest(Data(text.utf8), as: "m.plist").found.map { $0.prefix(6) } == ["syntax"])
  }

  @Test(
    "tags that are never closed do not take the rest of the file each",
    arguments: ["<key ", "<array ", "<dict ", "</dict ", "<key a='"], ["", ">", "/>"])
  func unclosedTags(tag: String, end: String) throws {
    let text = "<plist version=\"1.0\"><dict>" + String(repeating: tag, count: 500_000) + end
    let codes = try ReadManifest(Data(text.utf8), as: "m.plist").found.map { $0.prefix(6) }
    #expect(codes == ["syntax"])
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
