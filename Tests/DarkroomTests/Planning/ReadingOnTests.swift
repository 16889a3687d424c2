import Testing

/// A line that cannot be read does not hide what is wrong with the others.
@Suite struct ReadingOnTests {
  private static let bad = "\u{0}\u{0}"

  /// The text with each `bad` turned into a byte that is no UTF-8, nor Windows-1252.
  private func found(_ text: String, as file: String) throws -> [String] {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte == 0, bytes.last == 0 { bytes[bytes.count - 1] = 0x81 } else { bytes.append(byte) }
    }
    return try Planned(bytes, as: file).found
  }

  @Test(
    "every line that is wrong is told with its place, in order",
    arguments: [
      (
        "m.jsonl", "{\n\"http://h/a\"\n\"\(bad)\"\n[[\n\n{\"url\":\"x\",\"quality\":0}\n\"b\" 1\n",
        ["syntax @ line 1, column 1", "encoding @ line 3, column 1", "syntax @ line 4, column 2"]
          + ["bad-value @ line 6: quality", "syntax @ line 7, column 5"]
      ),
      (
        "m.ndjson", "{\"url\":\"x\",\"url\":\"y\"}\n12345678901234567890\n1e999",
        ["syntax @ line 1, column 12", "bad-value @ line 2, column 20", "bad-value @ line 3, column 5"]
      ),
      ("m.jsonl", "{\"url\":\n\"a\"}", ["syntax @ line 1, column 7", "syntax @ line 2, column 4"]),
      (
        "m.txt", "http://h/\(bad)\n out=a\nhttp://h/b\n out=\(bad)\n outt=c\nhttp://h/c\n \(bad)",
        ["encoding @ line 1", "encoding @ line 4", "unknown-field @ line 5: outt", "encoding @ line 7"]
      ),
      (
        "m.urls", "  \(bad)\nhttp://h/a\n\(bad)\n\(bad)\n",
        ["encoding @ line 1", "encoding @ line 3", "encoding @ line 4"]
      ),
      (
        "m.csv", "url,name,quality\nx,\"y\"z,1\n\(bad),\(bad),2\nx,y\"z\",1\nx,y,0\nx\ry\nx,y\nx,\"\n\"y,\nx,y,z,1\n",
        ["syntax @ line 2, column 6", "encoding @ line 3, column 1", "encoding @ line 3, column 2"]
          + ["bad-value @ line 5: quality", "syntax @ line 6, column 2"]
          + ["syntax @ line 7, column 4", "syntax @ line 9, column 2", "syntax @ line 10, column 7"]
      ),
      ("m.tsv", "url\tname\nx\ta\"\nx\ta\nx\t\"y\n", ["syntax @ line 4, column 3"]),
      ("m.csv", "url,\"name\"x\nx,y,z\n", ["syntax @ line 1, column 11"]),
    ])
  func all(file: String, text: String, expected: [String]) throws {
    #expect(try found(text, as: file) == expected)
  }

  @Test(
    "the end of the hundred problems is the end of the reading",
    arguments: [
      ("m.jsonl", "", "{\n"), ("m.txt", "", "\(bad)\n"), ("m.txt", "http://h/a\n", " \(bad)\n"),
      ("m.csv", "url\n", "\"x\"y\n"), ("m.tsv", "url\n", "\(bad)\n"),
    ])
  func hundred(file: String, head: String, line: String) throws {
    for count in [99, 100, 101, 1000] {
      let found = try found(head + String(repeating: line, count: count), as: file)
      #expect(found.count == min(count, 100))
      #expect(Set(found).count == found.count, "each has its own line")
    }
  }

  @Test(
    "a line that is too long is passed over, and those after it are read", arguments: ["m.jsonl", "m.txt", "m.csv"])
  func longLines(file: String) throws {
    let long = String(repeating: "x", count: (1 << 20) + 1)
    let (head, wrong) = file == "m.csv" ? ("url,quality\n", "x,0\n") : file == "m.txt" ? ("", " x\n") : ("", "{\n")
    let text = head + long + "\n" + wrong + long + long + "\n" + wrong + long
    let codes = try Planned(text, as: file).problems.map(\.code.rawValue)
    let wrongCode = file == "m.csv" ? "bad-value" : "syntax"
    #expect(codes == ["too-large", wrongCode, "too-large", wrongCode, "too-large"])
    let lines = try Planned(text, as: file).problems.map { $0.location.description.prefix { $0 != "," && $0 != ":" } }
    #expect(lines == (1...5).map { "line \($0 + (head.isEmpty ? 0 : 1))" })
  }

  @Test("what is too deep on a line is told with the line and the path")
  func deepLine() throws {
    let deep = String(repeating: "[", count: 33) + String(repeating: "]", count: 33)
    let planned = try Planned("\"a\"\n{\"url\":\"x\",\"metadata\":\(deep)}\n{", as: "m.jsonl")
    #expect(planned.problems.map(\.code) == [.tooDeep, .syntax])
    #expect(planned.found.first?.hasPrefix("too-deep @ line 2: metadata[0]") == true, "\(planned.found)")
  }
}
