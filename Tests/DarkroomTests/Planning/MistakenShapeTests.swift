import Foundation
import Manifests
import Testing
import TestSupport

/// Dictionaries that were meant otherwise.
@Suite struct MistakenShapeTests {
  @Test(
    "a dictionary that is one entry is rejected, and not taken for several",
    arguments: [
      (#"{"url":"http://h/a.jpg","filters":"sepia(1)"}"#, "url"), (#"{"url":"http://h/a.jpg"}"#, "url"),
      (#"{"url":["http://h/a.jpg"],"name":"x","_note":{"a":1}}"#, "url"),
      (#"{"url":"http://h/a.jpg","quality":80,"Filter":"none"}"#, "url"),
      (#"{"url":"http://h/a.jpg","Name":"a","-check_sum":"x"}"#, "url"),
      (#"{"URL":"http://h/a.jpg","Quality":80}"#, "url"), (#"{" url":"http://h/a.jpg","filters":"none"}"#, "url"),
      (#"{"u-r_L":"http://h/a.jpg","filter-s":"none"}"#, "url"),
      (#"{"entries":{"url":"http://h/a.jpg","name":"a"},"defaults":{"quality":9}}"#, "entries"),
    ])
  func oneEntry(text: String, place: String) throws {
    for (file, bytes) in try Self.forms(text) {
      let planned = try Planned(bytes, as: file)
      #expect(planned.found == ["wrong-type @ \(place)"], "\(file): \(planned.problems)")
      #expect(planned.problems.first?.message.contains("put it into a list") == true)
    }
  }

  @Test(
    "a dictionary with other names, or whose \"url\" is an entry, stays one of entries",
    arguments: [
      #"{"url":"http://h/a.jpg","cat":"http://h/b.jpg"}"#, #"{"url":"http://h/a.jpg","url2":"http://h/b.jpg"}"#,
      #"{"url":"http://h/a.jpg","fame":"http://h/b.jpg"}"#, #"{"name":"http://h/a.jpg","filters":"http://h/b.jpg"}"#,
      #"{"url":{"url":"http://h/a.jpg"},"name":"http://h/b.jpg"}"#,
      #"{"URL":{"Url":"http://h/a.jpg"},"Name":"http://h/b.jpg"}"#,
      #"{"entries":{"url":"http://h/a.jpg"},"other":"http://h/b.jpg"}"#,
      #"{"entries":{"url":"http://h/a.jpg"},"defaults":{"url":"http://h/b.jpg"}}"#,
    ])
  func dictionary(text: String) throws {
    for (file, bytes) in try Self.forms(text) {
      let planned = try Planned(bytes, as: file)
      #expect(planned.problems == [] && planned.entries.count == 2, "\(file)")
    }
  }

  @Test(
    "defaults without entries say what is missing",
    arguments: [
      #"{"defaults":{"quality":9}}"#, #"{"defaults":{}}"#, #"{"defaults":{"quality":9},"cat":"http://h/a.jpg"}"#,
    ])
  func defaultsAlone(text: String) throws {
    for (file, bytes) in try Self.forms(text) {
      let planned = try Planned(bytes, as: file)
      #expect(planned.found == ["bad-value @ defaults"])
      #expect(planned.problems.first?.message.hasPrefix("\"entries\" is missing") == true)
    }
  }

  /// A manifest as JSON and as property lists.
  private static func forms(_ json: String) throws -> [(String, Data)] {
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
    let lists = try [PropertyListSerialization.PropertyListFormat.xml, .binary].map {
      ("m.plist", try PropertyListSerialization.data(fromPropertyList: object, format: $0, options: 0))
    }
    return [("m.json", Data(json.utf8))] + lists
  }
}
