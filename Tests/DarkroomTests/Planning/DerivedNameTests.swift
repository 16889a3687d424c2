import Foundation
import JSON
import Testing
import TestSupport

@testable import JobIndex
@testable import Model

/// Names that nobody gave never clash.
@Suite struct DerivedNameTests {
  @Test(
    "later ones get -2, -3…, past every name that is taken",
    arguments: [
      (["h/a.jpg", "h/a.png", "g/a"], ["a", "a-2", "a-3"]), (["h/A.jpg", "h/a.jpg"], ["A", "a-2"]),
      (["h/e%CC%81", "h/%C3%A9"], ["\u{e9}", "\u{e9}-2"]), (["h/a", "h/a-2", "h/a"], ["a", "a-2", "a-3"]),
      (["h/a", "h/a", "h/a-2"], ["a", "a-2", "a-2-2"]), (["h/", "h/", "h/."], ["unnamed", "unnamed-2", "unnamed-3"]),
      (["h/a", "h/a", "=a-2", "=A-3"], ["a", "a-4", "a-2", "A-3"]), (["h/a", "=a"], ["a-2", "a"]),
      (["h/a", "=a/b", "h/a"], ["a", "a/b", "a-2"]),
    ])
  func suffixes(urls: [String], expected: [String]) throws {
    let lines = urls.map { url -> String in
      guard url.hasPrefix("=") else { return JSONValue.string("http://" + url).text }
      return JSONValue.object(["url": .string("http://h/x"), "name": .string(String(url.dropFirst()))]).text
    }
    let planned = try Planned(lines.joined(separator: "\n"), as: "m.jsonl").sound()
    #expect(planned.entries.map(\.name) == expected)
  }

  @Test("10 000 entries of one name stay unique, in time that grows no faster than their number")
  func many() throws {
    let began = ContinuousClock.now
    let planned = try Planned(
      Array(repeating: "http://h/photo.jpg", count: 10_000).joined(separator: "\n"), as: "m.txt")
    #expect(began.duration(to: .now) < .seconds(60))
    #expect(planned.entries.prefix(3).map(\.name) == ["photo", "photo-2", "photo-3"])
    #expect(planned.entries.last?.name == "photo-10000")
    #expect(Set(planned.entries.map { OutputName.claim($0.name) }).count == 10_000)
  }

  @Test("the report shows a name as it was given when that is not the one that was used")
  func originals() throws {
    let planned = try Planned(#"{"a.jpg":"http://h/1","../b":"http://h/2","c":"http://h/3"}"#, as: "m.json")
    #expect(planned.entries.map(\.name) == ["a", "b", "c"])
    #expect(planned.entries.map(\.originalName) == ["a.jpg", "../b", nil])
  }

  @Test("a field beats the key as the name")
  func fieldBeatsKey() throws {
    let planned = try Planned(#"{"key":{"url":"http://h/1","name":"field"},"other":"http://h/2"}"#, as: "m.json")
    #expect(planned.entries.map(\.name) == ["field", "other"])
  }
}
