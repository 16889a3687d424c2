import Foundation
import Testing
import TestSupport

@testable import Manifests
@testable import Model

/// The same entries, however they are written down.
@Suite struct ManifestShapeTests {
  private static let urls = ["https://example.org/b.jpg", "https://example.org/a.png", "https://example.org/c.webp"]

  private static let lists: [(String, String)] = [
    ("m.txt", "$A\n$B\n$C\n"), ("m.txt", "$A\n$B\n$C"), ("m.txt", "$A\r\n$B\r\n$C\r\n"), ("m.txt", "$A\r\n$B\r\n$C"),
    ("m.txt", "\u{feff}$A\n$B\n$C\n"), ("m.txt", "# comment\n\n  # indented\n$A\n\n\t\n$B  \n   \n$C\n\n"),
    ("m.TXT", "$A\n$B\n$C"), ("m.jsonl", "\"$A\"\n\"$B\"\n\"$C\""),
    ("m.jsonl", "\u{feff}\"$A\"\r\n\r\n  \r\n{\"url\":\"$B\"}\r\n \"$C\" \r\n"),
    ("m.jsonl", "{\"url\":\"$A\",\"_note\":{\"any\":[1]}}\n\t\n\"$B\"\n{\"url\":\"$C\"}\n"),
    ("m.json", "[\"$A\",\"$B\",\"$C\"]"), ("m.JSON", "\u{feff}[\"$A\",\r\n{\"url\":\"$B\"},\r\n\"$C\"]\r\n"),
    ("m.json", "{\"entries\":[\"$A\",\"$B\",{\"url\":\"$C\"}],\"_comment\":1}"),
    ("m.json", "{\"entries\":[\"$A\",\"$B\",\"$C\"],\"defaults\":{}}"),
    ("m.json", "{\"_comment\":\"three\",\"b\":\"$A\",\"a\":\"$B\",\"c\":\"$C\"}"),
    ("m.plist", PropertyList.xml(body: "<array><string>$A</string><string>$B</string><string>$C</string></array>")),
    (
      "m.plist",
      PropertyList.xml(
        body: """
          <dict><key>entries</key><array><dict><key>url</key><string>$A</string></dict>
          <string>$B</string><string><![CDATA[$C]]></string></array></dict>
          """)
    ),
  ]

  @Test("a list of URLs is the same in every format", arguments: lists)
  func list(file: String, template: String) throws {
    var text = template
    for (letter, url) in zip(["A", "B", "C"], Self.urls) {
      text = text.replacing("$" + letter, with: url)
    }
    let planned = try Planned(text, as: file).sound()
    #expect(planned.urls == Self.urls)
    #expect(planned.entries.map(\.name) == ["b", "a", "c"])
    #expect(planned.entries.map(\.position) == [0, 1, 2])
    #expect(planned.entries.allSatisfy { $0.recipe.description == "sepia(0.8)" && $0.priority == .normal })
  }

  @Test("of a dictionary's keys only _comment is no entry", arguments: ["m.json", "m.plist"])
  func comment(file: String) throws {
    let json = #"{"_comment": {"by": ["me"]}, "_DSC0042": "https://h/a.jpg"}"#
    let xml = """
      <dict><key>_comment</key><string>mine</string><key>_DSC0042</key><string>https://h/a.jpg</string></dict>
      """
    let planned = try Planned(file == "m.json" ? json : PropertyList.xml(body: xml), as: file)
    #expect(planned.problems == [] && planned.entries.map(\.name) == ["_DSC0042"])
  }

  @Test(
    "blanks around a URL are no part of it, whatever the format",
    arguments: [
      ("m.json", #"[" https://h/a.png\n", {"url": "\t https://h/b.png "}, "  "]"#),
      ("m.jsonl", "\" https://h/a.png\\r\\n\"\n{\"url\":\"https://h/b.png \"}\n\" \"\n"),
      ("m.csv", "url,_n\n \thttps://h/a.png ,\n\"\nhttps://h/b.png\n\",\n\" \",\n"),
      ("m.tsv", "_n\turl\n\t https://h/a.png  \n\t\"https://h/b.png\r\n\"\n\t \n"),
      (
        "m.plist",
        PropertyList.xml(
          body: """
            <array><string>
              https://h/a.png
            </string><dict><key>url</key><string> https://h/b.png </string></dict><string> </string></array>
            """)
      ),
    ])
  func blanks(file: String, text: String) throws {
    let planned = try Planned(text, as: file).sound()
    #expect(planned.urls == ["https://h/a.png", "https://h/b.png", ""])
    let last = planned.entries.last?.name ?? ""
    #expect(planned.entries.map(\.name).dropLast() == ["a", "b"])
    #expect(file.hasSuffix("json") || file.hasSuffix("plist") ? last == "unnamed" : last.hasPrefix("line-"), "\(last)")
  }

  @Test("invisible characters around a web URL are no part of it; a file may be called so")
  func invisible() throws {
    let umlaut = try Planned("[\"übersicht.jpg\\n\", \" file:incoming/日本\"]", as: "m.json").sound()
    #expect(umlaut.urls == ["übersicht.jpg", "file:incoming/日本"])
    let lines = ["\u{200b}https://h/a.png\u{a0}", "\u{feff}\u{200e}HTTP://h/b.png\u{2060}", "c\u{a0}.jpg\u{a0}"]
    let planned = try Planned(lines.joined(separator: "\n") + "\n", as: "m.txt").sound()
    #expect(planned.urls == ["https://h/a.png", "HTTP://h/b.png", lines[2]])
  }

  private static var rich: [String: Any] {
    [
      "defaults": ["quality": 70, "priority": "low", "metadata": ["from": "defaults"]] as [String: Any],
      "entries": [
        "one": "https://example.org/1.jpg",
        "two": [
          "url": "https://example.org/2.jpg", "filters": "invert(1)", "format": "png", "quality": 100,
          "priority": "veryHigh", "metadata": ["n": 1, "f": 0.5, "yes": true, "no": false, "list": [1, "x"]],
        ] as [String: Any],
      ] as [String: Any],
    ]
  }

  @Test("a dictionary in an envelope is the same as JSON, XML and binary", arguments: ["json", "xml", "binary"])
  func envelope(kind: String) throws {
    let bytes =
      switch kind {
      case "json": try JSONSerialization.data(withJSONObject: Self.rich, options: .sortedKeys)
      case "xml": try PropertyList.xml(Self.rich)
      default: try PropertyList.binary(Self.rich)
      }
    let planned = try Planned(bytes, as: kind == "json" ? "m.json" : "m.plist").sound()
    let (one, two) = (try #require(planned.entries.first), try #require(planned.entries.last))
    #expect(planned.entries.map(\.name) == ["one", "two"])
    #expect(one.options.quality == 70 && one.options.format == nil && one.priority == .low)
    #expect(one.metadata?.text == #"{"from":"defaults"}"#)
    #expect(two.options.quality == 100 && two.options.format == .png && two.priority == .veryHigh)
    #expect(two.recipe.description == "invert(1)")
    #expect(two.metadata?["yes"] == .bool(true) && two.metadata?["no"] == .bool(false))
    #expect(two.metadata?["n"] == .integer(1) && two.metadata?["f"] == .number(0.5))
    #expect(two.metadata?["list"] == .array([.integer(1), .string("x")]))
  }

  @Test("a JSON dictionary keeps its order, a property list's is its keys'")
  func order() throws {
    let json = try Planned(#"{"z":"http://h/1","a":"http://h/2","m":{"url":"http://h/3"}}"#, as: "m.json")
    #expect(json.entries.map(\.name) == ["z", "a", "m"])
    let list = try Planned(
      PropertyList.xml(["z": "http://h/1", "a": "http://h/2", "m": ["url": "http://h/3"]] as [String: Any]),
      as: "m.plist")
    #expect(list.entries.map(\.name) == ["a", "m", "z"])
  }

  @Test(
    "nothing to do is no problem",
    arguments: [
      ("m.txt", ""), ("m.txt", "\u{feff}"), ("m.txt", "# nothing\n\n"), ("m.jsonl", ""), ("m.jsonl", "\n\r\n"),
      ("m.json", "[]"), ("m.json", "{}"), ("m.json", #"{"entries":{}}"#),
      ("m.plist", PropertyList.xml(body: "<array/>")),
      ("m.plist", PropertyList.xml(body: "<dict></dict>")),
    ])
  func nothing(file: String, text: String) throws {
    let planned = try Planned(text, as: file).sound()
    #expect(planned.entries.isEmpty)
  }

  @Test("an entry's field beats the defaults, field by field")
  func inheritance() throws {
    let planned = try Planned(
      #"""
      {"defaults":{"filters":"invert(1)","quality":10,"format":"jpeg","priority":"high","_x":1},
       "entries":["http://h/a",{"url":"http://h/b","quality":20},{"url":"http://h/c","filters":"none","format":"keep"},
       {"url":"http://h/d","priority":"veryLow","metadata":null}]}
      """#, as: "m.json")
    #expect(planned.problems == [])
    #expect(planned.entries.map(\.options.quality) == [10, 20, 10, 10])
    #expect(planned.entries.map(\.recipe.description) == ["invert(1)", "invert(1)", "none", "invert(1)"])
    #expect(planned.entries.map(\.options.format) == [.jpeg, .jpeg, nil, .jpeg])
    #expect(planned.entries.map(\.priority) == [.high, .high, .high, .veryLow])
  }

  @Test("a line may be as long as the limit, and lines may lie across any two reads")
  func longLines() throws {
    let longest = "http://h/" + String(repeating: "x", count: ManifestFile.lineLimit - 9)
    let lines = (0..<40).map { "http://h/" + String(repeating: "y", count: $0 * 1009) }
    let planned = try Planned((lines + [longest] + lines).joined(separator: "\n"), as: "m.txt").sound()
    #expect(planned.urls == lines + [longest] + lines)
  }
}
