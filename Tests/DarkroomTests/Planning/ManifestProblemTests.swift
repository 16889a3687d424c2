import Foundation
import JSON
import Testing
import TestSupport

@testable import Manifests
@testable import Model

/// What makes a whole manifest rejected, and where it says the problem is.
@Suite struct ManifestProblemTests {
  @Test(
    "the file's form: code and place",
    arguments: [
      ("m.json", "", "syntax @ line 1, column 1"),
      ("m.json", "\u{feff}", "syntax @ line 1, column 1"),
      ("m.json", "{", "syntax @ line 1, column 1"),
      ("m.json", "[\n  \"a\",\n  oops\n]", "syntax @ line 3, column 3"),
      ("m.json", "[\"a\"]\n]", "syntax @ line 2, column 1"),
      ("m.json", "{\"a\":\"http://h/1\",\"a\":\"http://h/2\"}", "syntax @ line 1, column 19"),
      ("m.json", "[\"\\ud800\"]", "syntax @ line 1, column 9"),
      ("m.json", "{\"a\\u0000\":\"b\"}", "syntax @ line 1, column 10"),
      ("m.json", "42", "wrong-type @ "), ("m.json", "\"http://h/a\"", "wrong-type @ "),
      ("m.json", "null", "wrong-type @ "),
      ("m.json", "[\"a\",,]", "syntax @ line 1, column 6"),
      ("m.json", #"{"entries":[],"defualts":{}}"#, "unknown-field @ defualts"),
      ("m.json", #"{"entries":[],"defaults":[]}"#, "wrong-type @ defaults"),
      ("m.json", #"{"entries":[],"defaults":{"url":"x"}}"#, "unknown-field @ defaults.url"),
      ("m.json", #"{"source":[]}"#, "bad-value @ source"),
      ("m.json", #"{"source":"http://h/m.json","checksum":7}"#, "wrong-type @ checksum"),
      ("m.json", #"{"source":"http://h/m.json","headers":{"a":7}}"#, "wrong-type @ headers"),
      ("m.json", #"{"source":"http://h/m.json","defaults":{"url":"x"}}"#, "unknown-field @ defaults.url"),
      ("m.json", #"{"source":"http://h/m.json","default":{"quality":7}}"#, "bad-value @ default"),
      ("m.jsonl", "\"a\"\n{\"url\": }\n", "syntax @ line 2, column 9"),
      ("m.jsonl", "\"a\"\n\n[\"b\"]", "wrong-type @ line 3"),
      ("m.jsonl", "\"a\" \"b\"", "syntax @ line 1, column 7"),
      ("m.jsonl", "# no comment here", "syntax @ line 1, column 1"),
      ("m.plist", "", "syntax @ "), ("m.plist", "hello", "syntax @ "),
      ("m.plist", "{ a = \"http://h/a\"; }", "syntax @ "),
      ("m.plist", "(a, b)", "syntax @ "), ("m.plist", "bplist00", "syntax @ "),
      ("m.plist", "<plist><array>", "syntax @ line 1"),
      ("m.plist", "<plist>\n<dict>\n<key>a</key>\n\n \t\r\n", "syntax @ line 3"),
      ("m.plist", "<html><body/></html>", "syntax @ "),
      ("m.plist", "<plist>\n<dict>\n<ky>a</ky></dict></plist>", "syntax @ line 3"),
      ("m.plist", "<plist>\n<dict><string>a</string></dict></plist>", "syntax @ line 2"),
      ("m.plist", PropertyList.xml(body: "<string>http://h/a</string>"), "wrong-type @ "),
      ("m.plist", PropertyList.xml(body: "<array><date>2024-01-01T00:00:00Z</date></array>"), "wrong-type @ [0]"),
      ("m.plist", PropertyList.xml(body: "<dict><key>a</key><data>AAAA</data></dict>"), "wrong-type @ a"),
      ("m.plist", PropertyList.xml(body: "<dict><key>a</key><integer>1</integer></dict>"), "wrong-type @ a"),
    ])
  func form(file: String, text: String, expected: String) throws {
    let planned = try Planned(text, as: file)
    #expect(planned.found == [expected], "\(planned.problems)")
  }

  @Test(
    "an entry's fields: code and place",
    arguments: [
      (#"{"filters":"none"}"#, "bad-value @ a"), (#"7"#, "wrong-type @ a"), (#"null"#, "wrong-type @ a"),
      (#"{"url":7}"#, "wrong-type @ a.url"), (#"{"url":null}"#, "wrong-type @ a.url"),
      (#"{"url":[]}"#, "bad-value @ a.url"), (#"{"url":"x","name":1}"#, "wrong-type @ a.name"),
      (#"{"url":"x","filters":"sepai(1)"}"#, "bad-recipe @ a.filters"),
      (#"{"url":"x","filters":1}"#, "wrong-type @ a.filters"),
      (#"{"url":"x","quality":0}"#, "bad-value @ a.quality"), (#"{"url":"x","quality":101}"#, "bad-value @ a.quality"),
      (#"{"url":"x","quality":1.5}"#, "wrong-type @ a.quality"),
      (#"{"url":"x","quality":101.0}"#, "bad-value @ a.quality"),
      (#"{"url":"x","quality":"85"}"#, "wrong-type @ a.quality"),
      (#"{"url":"x","quality":true}"#, "wrong-type @ a.quality"),
      (#"{"url":"x","quality":-9223372036854775808}"#, "bad-value @ a.quality"),
      (#"{"url":"x","format":"jpgs"}"#, "bad-value @ a.format"),
      (#"{"url":"x","priority":"urgent"}"#, "bad-value @ a.priority"),
      (#"{"url":"x","priority":1}"#, "wrong-type @ a.priority"),
      (#"{"url":"x","cache-key":""}"#, "bad-value @ a.cache-key"),
      (#"{"url":"x","cache-key":7}"#, "wrong-type @ a.cache-key"),
      (#"{"url":"x","cache-key":"a\u0001"}"#, "bad-value @ a.cache-key"),
      (#"{"url":"x","cache-key":"a\nb"}"#, "bad-value @ a.cache-key"),
      (#"{"url":"x","cache-key":"\#(String(repeating: "k", count: 1025))"}"#, "bad-value @ a.cache-key"),
      (#"{"url":"x","name":"a\u0000b"}"#, "bad-value @ a.name"),
      (#"{"url":"x","format":"png\u0000"}"#, "bad-value @ a.format"),
      (#"{"url":"x","filters":"none\u0000"}"#, "bad-value @ a.filters"),
      (#"{"url":"x","after":["\u0000"]}"#, "bad-value @ a.after"),
      (#"{"url":"x","cache-key":"\u0000"}"#, "bad-value @ a.cache-key"),
      (#"{"url":"x","body":"\u0000"}"#, "bad-value @ a.body"),
      (#"{"url":"x","headers":{"A":"\u0000"}}"#, "bad-value @ a.headers"),
      (#"{"url":"x","form":{"a":"\u0000"}}"#, "bad-value @ a.form"),
      (#"{"url":"x","variants":[{"name":"\u0000"}]}"#, "bad-value @ a.variants[0].name"),
      (#"{"url":"x","fliters":"none"}"#, "unknown-field @ a.fliters"),
      (#"{"url":"x","URL":"y"}"#, "syntax @ a.URL"),
    ])
  func fields(entry: String, expected: String) throws {
    #expect(try Planned(#"{"a":\#(entry)}"#, as: "m.json").found == [expected])
    // The same on a line of its own, where the place is the line.
    let place = expected.replacing("@ a.", with: "@ line 2: ").replacing(/@ a$/, with: "@ line 2")
    #expect(try Planned("\"http://h/a\"\n\(entry)\n", as: "m.jsonl").found == [place])
  }

  @Test("an unknown field names the nearest known one")
  func suggestion() throws {
    let problem = try Planned(#"[{"url":"x","qualtiy":5}]"#, as: "m.json").problems.first
    #expect(problem?.location == .keyPath(["[0]", "qualtiy"]))
    #expect(problem?.message.contains("\"quality\"") == true, "\(problem?.message ?? "")")
  }

  @Test("all problems are told, with their places, in order")
  func several() throws {
    let planned = try Planned(
      #"{"entries":[{"url":1,"quality":0},"http://h/a",{"url":"x","format":"gif","_f":1}],"defaults":{"quality":0}}"#,
      as: "m.json")
    #expect(
      planned.found == [
        "bad-value @ defaults.quality", "wrong-type @ entries[0].url", "bad-value @ entries[0].quality",
        "bad-value @ entries[2].format",
      ])
  }

  @Test("of more than 100 problems exactly 100 are told", arguments: [99, 100, 101, 250])
  func hundred(count: Int) throws {
    let lines = (0..<count).map { #"{"url":"http://h/\#($0)","quality":0}"# }.joined(separator: "\n")
    #expect(try Planned(lines, as: "m.jsonl").problems.count == min(count, 100))
    let pairs = (0..<count).map { _ in #"{"quality":0,"format":"gif","url":"x"}"# }.joined(separator: ",")
    #expect(try Planned("[\(pairs)]", as: "m.json").problems.count == min(2 * count, 100))
    let fields = (0..<count).map { #""quality\#(String(repeating: "_", count: $0 + 1))":1"# }.joined(separator: ",")
    #expect(try Planned("[{\"url\":\"x\",\(fields)}]", as: "m.json").problems.count == min(count, 100))
  }

  @Test("U+0000 in metadata is kept, and in a URL it rejects no manifest")
  func nul() throws {
    let entry = #"{"url":"x","metadata":{"a":["\u0000"]},"tag":"b\u0000c"}"#
    for (file, text) in [("m.jsonl", entry), ("m.json", "[\(entry)]"), ("m.json", #"[{"url":"\u0000","a":"\u0000"}]"#)]
    {
      let planned = try Planned(text, as: file).sound()
      #expect(
        planned.entries.first?.metadata?.text
          == (text.contains("tag") ? #"{"a":["\u0000"],"tag":"b\u0000c"}"# : #"{"a":"\u0000"}"#))
    }
    let twice = #"[{"url":"x","a":"\u0000","a":"b"}]"#
    #expect(try Planned(twice, as: "m.json").found == ["syntax @ line 1, column 26"])
  }

  @Test(
    "what is not UTF-8 is an encoding problem with its place",
    arguments: [
      ("m.txt", "http://h/é\nhttp://h/", "\n", "encoding @ line 2"),
      ("m.jsonl", "\"a\"\n\"b", "\"", "encoding @ line 2"),
      ("m.json", "[\"a\",\n \"b", "\"]", "encoding @ line 2"),
    ])
  func notUTF8(file: String, before: String, after: String, expected: String) throws {
    for bad: [UInt8] in [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]] {
      let found = try Planned(Array(before.utf8) + bad + Array(after.utf8), as: file).found
      #expect(found.count == 1 && found.allSatisfy { $0.hasPrefix(expected) }, "\(bad): \(found)")
    }
  }

  @Test("UTF-16 is refused, and the problem says so", arguments: ["m.txt", "m.jsonl", "m.json", "m.plist"])
  func utf16(file: String) throws {
    let text = file == "m.plist" ? PropertyList.xml(body: "<array/>") : "[\"http://h/a\"]"
    for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
      let bytes = try #require(("\u{feff}" + text).data(using: encoding))
      let planned = try Planned(bytes, as: file)
      #expect(planned.found == ["encoding @ "])
      #expect(planned.problems.first?.message.contains("UTF-16") == true)
    }
  }

  @Test(
    "two explicit names that claim the same output are told apart from all else",
    arguments: [
      ("photo", "photo.jpg"), ("Photo", "pHOTO"), ("e\u{301}", "\u{e9}"), ("E\u{301}", "\u{e9}"), ("a/b", "/a//b"),
      ("../x", "x"), ("a\u{7}b", "ab"), ("stra\u{df}e", "STRASSE"), ("\u{fb01}n", "FIN"),
    ])
  func duplicates(first: String, second: String) throws {
    let entries = [first, second].map { JSONValue.object(["url": .string("http://h/a"), "name": .string($0)]).text }
    let planned = try Planned(entries.joined(separator: "\n"), as: "m.jsonl")
    #expect(planned.found == ["duplicate-name @ line 2"])
    #expect(planned.problems.first?.message.hasSuffix("at line 1; rename one of them") == true)
  }

  @Test("keys of a JSON manifest that differ only in their normal form claim the same output")
  func twinKeys() throws {
    let planned = try Planned("{\"e\u{301}\":\"http://h/1\",\"\u{e9}\":\"http://h/2\"}", as: "m.json")
    #expect(planned.problems.map(\.code) == [.duplicateName])
  }

  @Test(
    "a line beyond the limit is too large, wherever it ends",
    arguments: [
      ManifestFile.lineLimit + 1, ManifestFile.lineLimit + 300, ManifestFile.lineLimit + 200_000, 3 << 20,
    ])
  func longLine(length: Int) throws {
    let line = "http://h/" + String(repeating: "x", count: length - 9)
    for text in ["http://h/a\n\(line)\nhttp://h/b\n", "http://h/a\n\(line)"] {
      #expect(try Planned(text, as: "m.txt").found == ["too-large @ line 2"])
    }
  }

  @Test("a format that is read whole has a limit, and names the ones without", arguments: ["m.json", "m.plist"])
  func wholeTooLarge(file: String) throws {
    var bytes = Data("[\"".utf8)
    bytes.append(Data(repeating: UInt8(ascii: "x"), count: 65 << 20))
    let planned = try Planned(bytes, as: file)
    #expect(planned.found == ["too-large @ "])
    #expect(planned.problems.first?.message.contains("67108864") == true)
    #expect(planned.problems.first?.message.contains(".jsonl") == true)
  }
}
