import Foundation
import TestSupport
import Testing

@testable import Manifests

@Suite struct ManifestRecognitionTests {
  private static func line(_ length: Int) -> String {
    let (head, tail) = (#"{"url":"a.jpg","metadata":""#, #""}"#)
    return head + String(repeating: "x", count: length - head.utf8.count - tail.utf8.count) + tail
  }

  @Test(arguments: [100, 64 << 10, 1 << 20])
  func `a first line of any length that a line may have is recognised`(length: Int) throws {
    let folder = try TemporaryFolder()
    func suffix(_ text: String) throws -> String {
      try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file("m")))
      return try ManifestRecognition.suffix(of: folder.file("m"))
    }
    let line = Self.line(length)
    #expect(try suffix(line) == "jsonl")
    #expect(try suffix(line + "\n" + line) == "jsonl")
    #expect(try suffix("# \(line)\r\n\r\n\(line)\r\n") == (length < 1 << 20 ? "jsonl" : "json"))
    let dictionary = line.replacing("url", with: "cat")
    #expect(try suffix(dictionary) == "json")
    #expect(try suffix(dictionary + "\n  \n") == "json")
    #expect(try suffix(dictionary + "\n" + dictionary) == "jsonl")
    #expect(try suffix("[\(line),\n\(line)]") == "json")
  }

  /// Manifests and their formats.
  static let manifests = [
    ("\"a.jpg\"\n\"b.jpg\"\n", "jsonl"), ("{\"url\": \"a.jpg\"}\n{\"url\": \"b.jpg\", \"name\": \"x\"}\n", "jsonl"),
    ("{\"url\": \"a.jpg\"}", "jsonl"), ("{\"a\": \"a.jpg\", \"b\": \"b.jpg\"}", "json"),
    ("{\n  \"a\": \"a.jpg\"\n}\n", "json"), ("  [\n\"a.jpg\", \"b.jpg\"]", "json"), ("a.jpg\nb.jpg\n", "txt"),
    ("# pictures\r\n\r\na.jpg\r\n", "txt"), ("name,url\na,a.jpg\nb,b.jpg\n", "csv"), ("\"url\";name\na.jpg;a\n", "csv"),
    ("url\na.jpg\n", "csv"), ("sep=;\nurl;name\na.jpg;a\n", "csv"), ("name\turl\na\ta.jpg\n", "tsv"),
    ("\u{FEFF}url,name\na.jpg,a\n", "csv"),
    ("<?xml version=\"1.0\"?><plist version=\"1.0\"><array><string>a.jpg</string></array></plist>", "plist"),
    ("", "jsonl"),
  ]

  @Test(arguments: manifests)
  func `its beginning tells the format of a manifest, packed or not`(text: String, format: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(text, as: "plain")
    try Gzip.append(text.utf8, to: folder.file("packed"))
    #expect(try ManifestRecognition.suffix(of: folder.file("plain")) == format)
    #expect(try ManifestRecognition.suffix(of: folder.file("packed")) == format + ".gz")
  }

  @Test(arguments: [String.Encoding.utf32LittleEndian, .utf32BigEndian], ["m.jsonl", "m.csv", "m.txt"])
  func `a text in UTF-32 is not taken for UTF-16`(encoding: String.Encoding, name: String) throws {
    let data = try #require("\u{FEFF}url\nhttp://h/1\n".data(using: encoding))
    let read = try ReadManifest(data, as: name)
    #expect(read.problems.map(\.message) == ["the file is UTF-32; it must be UTF-8"])
  }

  @Test func `an entry of several lines in JSON lines is told that it belongs in another format`() throws {
    let problems = try ReadManifest("{\n  \"url\": \"a.jpg\"\n}\n".utf8, as: "m.jsonl").problems
    #expect(problems.first?.message.hasSuffix("entries of several lines are for .json, in an array") == true)
  }
}
