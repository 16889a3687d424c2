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
}
