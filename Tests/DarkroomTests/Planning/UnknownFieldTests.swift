import Foundation
import JSON
import Testing
import TestSupport

@testable import Model
@testable import Planning

/// What manifests say of entries beside the fields that there are.
@Suite struct UnknownFieldTests {
  /// The same rows in every format, as one may have them for img2dataset.
  private static func forms() throws -> [(String, Data)] {
    let table = "URL,caption,NSFW\nhttp://h/1,\"a, b\",UNLIKELY\nhttp://h/2,c,\n"
    let rows: [[String: String]] = [
      ["URL": "http://h/1", "caption": "a, b", "NSFW": "UNLIKELY"], ["URL": "http://h/2", "caption": "c"],
    ]
    let lines = try rows.map { try String(decoding: JSONSerialization.data(withJSONObject: $0), as: UTF8.self) }
    return [
      ("m.csv", Data(table.utf8)), ("m.jsonl", Data(lines.joined(separator: "\n").utf8)),
      ("m.json", Data("[\(lines.joined(separator: ","))]".utf8)),
      ("m.plist", try PropertyListSerialization.data(fromPropertyList: rows, format: .xml, options: 0)),
      ("m.plist", try PropertyListSerialization.data(fromPropertyList: rows, format: .binary, options: 0)),
    ]
  }

  @Test func `the same rows mean the same in every format, whatever the case of fields; what is no field is metadata`()
    throws
  {
    for (file, bytes) in try Self.forms() {
      let planned = try Planned(bytes, as: file)
      #expect(planned.problems == [] && planned.warnings == [], "\(file)")
      #expect(planned.urls == ["http://h/1", "http://h/2"])
      #expect(planned.entries[0].metadata?["caption"]?.string == "a, b")
      #expect(planned.entries[0].metadata?["NSFW"]?.string == "UNLIKELY")
      #expect(planned.entries[1].metadata?.text == #"{"caption":"c"}"#)
    }
  }

  @Test(arguments: [
    (#"{"url":"x","id":7,"tags":["a",null]}"#, #"{"id":7,"tags":["a",null]}"#),
    (#"{"url":"x","metadata":{"a":1},"id":7}"#, #"{"a":1,"id":7}"#), (#"{"url":"x","metadata":[1],"_id":7}"#, "[1]"),
    (#"{"Url":"x","Metadata":{"a":1}}"#, #"{"a":1}"#),
    // A field that the entry has is not meant by another one.
    (#"{"url":"x","filters":"none","filter":"old"}"#, #"{"filter":"old"}"#), (#""x""#, #"{"album":1,"by":"me"}"#),
    (#"{"url":"x"}"#, #"{"album":1,"by":"me"}"#),
  ])
  func `unknown fields are added to the metadata, which replaces that of the defaults`(
    entry: String, expected: String
  ) throws {
    let text = #"{"defaults":{"metadata":{"album":1},"by":"me"},"entries":[\#(entry)]}"#
    let planned = try Planned(text, as: "m.json").sound()
    #expect(planned.entries.map(\.metadata?.text) == [expected])
  }

  @Test(arguments: [
    (#"{"url":"x","filter":"none"}"#, "filter", "\"filters\""), (#"{"url":"x","qualty":1}"#, "qualty", "\"quality\""),
    (#"{"url":"x","Filter":"none"}"#, "Filter", "\"filters\""), (#"{"url":"x","game":1}"#, "game", "\"name\""),
    (#"{"url":"x","check sum":1}"#, "check sum", "\"checksum\""),
    (#"{"urls":["x"],"url":"x","formt":1}"#, "formt", "\"form"),
  ])
  func `what is nearly a field rejects the manifest, and the message has the field and the way out`(
    entry: String, key: String, field: String
  ) throws {
    for (file, text) in [("m.json", "[\(entry)]"), ("m.jsonl", entry)] {
      let problem = try #require(try Planned(text, as: file).problems.first)
      #expect(problem.code == .unknownField)
      #expect(problem.message.hasPrefix("unknown field \"\(key)\"; did you mean \(field)"), "\(problem.message)")
      #expect(problem.message.hasSuffix("If not, put it into \"metadata\""))
    }
  }

  @Test(arguments: [
    (#"[{"url":"x","URL":"y"}]"#, "syntax @ [0].URL"), (#"[{"URL":"x","Url":"y"}]"#, "syntax @ [0].Url"),
    (#"[{"url":"x","metadata":7,"id":1}]"#, "wrong-type @ [0].metadata"),
    (#"[{"url":"x","metadata":{"id":2},"id":1}]"#, "bad-value @ [0].metadata"),
    (#"{"defaults":{"Name":"x"},"entries":[]}"#, "unknown-field @ defaults.name"),
    (#"{"defaults":{"filter":"none"},"entries":[]}"#, "unknown-field @ defaults.filter"),
    (#"[{"url":"x","variants":[{"name":"s","size":1}]}]"#, "unknown-field @ [0].variants[0].size"),
    (#"{"entries":[],"album":1}"#, "unknown-field @ album"),
  ])
  func `what would be lost or means two things rejects the manifest`(text: String, expected: String) throws {
    #expect(try Planned(text, as: "m.json").found == [expected])
  }

  @Test func `fields of defaults, variants and of a source are compared without case, too`() throws {
    let variants = #"[{"Name":"s","FORMAT":"png"},{"name":"t"}]"#
    let text = #"{"defaults":{"Quality":7},"entries":[{"Url":"x","Variants":\#(variants)}]}"#
    let planned = try Planned(text, as: "m.json").sound()
    #expect(planned.entries.map(\.variant) == ["s", "t"])
    #expect(planned.entries.map(\.options.quality) == [7, 7] && planned.entries[0].options.format == .png)
    let source = try Planned(#"{"source":"http://h/l","Headers":{"X-A":"1"},"CHECKSUM":7}"#, as: "m.json")
    #expect(source.found == ["wrong-type @ checksum"])
  }

  @Test func `of other keys in every entry few are kept`() {
    var fields = UnknownFields()
    for number in 0..<300 {
      #expect(fields.meaning(of: "photo \(number)", given: []) == .metadata)
      #expect(fields.count <= UnknownFields.limit)
    }
    #expect(fields.meaning(of: "FILTERS", given: ["filters"]) == .repeated("filters"))
  }
}
