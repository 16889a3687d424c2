import Foundation
import System
import TestSupport
import Testing

@testable import Manifests

/// Texts that would take time in proportion to the square of their length.
@Suite struct CombiningMarkTests {
  /// 160 KB of two marks that have to be sorted: seconds for each comparison.
  private static let many = String(repeating: "\u{301}\u{323}", count: 40_000)

  /// As many as are allowed.
  private static let few = "e" + String(repeating: "\u{301}", count: String.markLimit)

  private static let escaped = String(repeating: #"\u0301\u0323"#, count: 40_000)

  @Test(
    arguments: [
      ("m.json", "{\"\(many)\": \"http://h/a.jpg\"}", nil), ("m.json", "{\"a\": {\"url\": \"\(many)\"}}", "a.url"),
      ("m.json", "[1, \"\(escaped)\"]", "[1]"), ("m.json", "{\"\(many)\": 1, \"\(many)\": 2}", "line 1, column"),
      ("m.jsonl", "\"http://h/a.jpg\"\n{\"url\": \"x\", \"name\": \"\(many)\"}\n", "line 2: name"),
      ("m.csv", "url,\(many)\nhttp://h/a.jpg,1\n", "line 1, column 5"),
      ("m.csv", "url,name\nhttp://h/a.jpg,\(many)\n", "line 2, column 16"),
      ("m.csv", "url,metadata\nhttp://h/a.jpg,\"{\"\"a\"\": \"\"\(escaped)\"\"}\"\n", "line 2, column 16"),
      ("m.txt", "http://h/\(many)\n", "line 1"), ("m.txt", "http://h/a.jpg\n  out=\(many)\n", "line 2"),
      (
        "m.plist",
        "<?xml version=\"1.0\"?>\n<plist><dict>\n<key>\(String(repeating: "\u{301}\u{323}", count: 10_000))</key><string>a</string></dict></plist>",
        "line 3"
      ),
      ("m.plist", "<plist><dict><key>a</key><string>\(many)</string></dict></plist>", "a"),
    ] as [(String, String, String?)])
  func `too many marks in a row are a problem with its place, found in no time`(
    name: String, text: String, place: String?
  ) throws {
    let read = try ReadManifest(text, as: name)
    #expect(read.problems.map(\.code) == [.badValue], "\(read.problems.map(\.code))")
    let problem = try #require(read.problems.first)
    #expect(problem.message.contains(String.tooManyMarksMessage) && problem.message.utf8.count < 300)
    #expect(problem.location.description.hasPrefix(place ?? ""), "\(problem.location.description.prefix(100))")
  }

  @Test func `too many marks are found in binary property lists, and in long keys of others`() throws {
    let list = try PropertyListSerialization.data(fromPropertyList: [["url": Self.many]], format: .binary, options: 0)
    #expect(try ReadManifest(list, as: "m.plist").problems.map(\.code) == [.badValue])
    func found(_ key: String) throws -> [ManifestProblem.Code] {
      try ReadManifest("<plist><dict><key>\(key)</key><string>a</string></dict></plist>", as: "m.plist").problems
        .map(\.code)
    }
    #expect(try found(String(repeating: "k", count: XMLPropertyListKey.limit)).isEmpty)
    #expect(try found(String(repeating: "k", count: XMLPropertyListKey.limit + 1)) == [.tooLarge])
    // Entities and sections take more bytes than they are.
    #expect(try found(String(repeating: "&#97;", count: 13_200) + Self.many) == [.tooLarge])
    #expect(try found("<![CDATA[" + String(repeating: "k", count: 70_000) + "]]>" + Self.many) == [.tooLarge])
    #expect(try found(String(repeating: "&#x301;", count: 200)) == [.badValue])
  }

  @Test(arguments: ["m.json", "m.jsonl", "m.txt", "m.csv"])
  func `fewer marks are text like any other`(name: String) throws {
    let text =
      switch name {
      case "m.txt": "http://h/\(Self.few)\n"
      case "m.csv": "url,name\nhttp://h/a.jpg,\(Self.few)\n"
      default: "{\"url\": \"http://h/a.jpg\", \"name\": \"\(Self.few)\"}"
      }
    let read = try ReadManifest(name == "m.json" ? "[\(text)]" : text, as: name)
    #expect(read.problems.isEmpty && read.entries.count == 1, "\(read.problems)")
  }
}
