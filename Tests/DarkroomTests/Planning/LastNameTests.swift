import Foundation
import JSON
import Testing

@testable import Model

/// A request whose name was derived in the job's last run has the same in the next.
@Suite struct LastNameTests {
  /// Plans manifests one after the other, each after the one before it, and returns what became of the last.
  /// - Parameter runs: Their entries: a URL without `http://`, `NAME=URL`, or JSON.
  private func plan(_ runs: [String]...) throws -> Planned {
    var (planned, names) = (nil as Planned?, [String]())
    for run in runs {
      let next = try Planned(run.map(Self.line).joined(separator: "\n"), as: "m.jsonl", lastNames: names).sound()
      (planned, names) = (next, next.names)
    }
    return try #require(planned)
  }

  private static func line(_ entry: String) -> String {
    if entry.hasPrefix("{") { return entry }
    let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return JSONValue.string("http://" + entry).text }
    return JSONValue.object(["url": .string("http://" + parts[1]), "name": .string(parts[0])]).text
  }

  struct Sample: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let first: [String]
    let second: [String]
    let names: [String]
  }

  @Test(arguments: [
    Sample(
      testDescription: "a line put in front", first: ["x/a", "y/a"], second: ["z/a", "x/a", "y/a"],
      names: ["a-3", "a", "a-2"]),
    Sample(
      testDescription: "a line removed", first: ["x/a", "y/a", "z/a"], second: ["y/a", "z/a"], names: ["a-2", "a-3"]),
    Sample(
      testDescription: "what is new takes what nobody keeps", first: ["x/a", "y/a", "z/a"],
      second: ["n/a", "z/a", "y/a"],
      names: ["a", "a-3", "a-2"]),
    Sample(
      testDescription: "the order reversed", first: ["x/a", "y/a", "z/a"], second: ["z/a", "y/a", "x/a"],
      names: ["a-3", "a-2", "a"]),
    Sample(
      testDescription: "the same base in another case", first: ["x/Cat.jpg", "y/cat.png", "z/CAT"],
      second: ["n/cAt", "z/CAT", "y/cat.png", "x/Cat.jpg"], names: ["cAt-4", "CAT-3", "cat-2", "Cat"]),
    Sample(
      testDescription: "equal requests keep theirs in order", first: ["x/a", "x/a", "x/a"],
      second: ["n/a", "x/a", "x/a", "x/a", "x/a"], names: ["a-4", "a", "a-2", "a-3", "a-5"]),
    Sample(
      testDescription: "a name that was given is not kept", first: ["b=x/a", "y/a"], second: ["x/a", "y/a"],
      names: ["a-2", "a"]),
    Sample(
      testDescription: "nor one that gives way to one that is given", first: ["x/a"], second: ["x/a", "A=z/1"],
      names: ["a-2", "A"]),
    Sample(
      testDescription: "another method, other headers or contents are another request",
      first: [
        #"{"url":"http://x/a"}"#, #"{"url":"http://x/a","headers":{"A":"1"}}"#, #"{"url":"http://x/a","body":"b"}"#,
      ],
      second: [
        #"{"url":"http://x/a","body":"b"}"#, #"{"url":"http://x/a","headers":{"A":"1"}}"#, #"{"url":"http://x/a"}"#,
      ],
      names: ["a-3", "a-2", "a"]),
    Sample(
      testDescription: "other mirrors after the first, recipes, priorities and checksums are not",
      first: ["y/a", #"{"url":["http://x/a","http://y/b"]}"#],
      second: [
        #"{"url":["http://x/a","http://z/c"],"filters":"none","priority":"high","checksum":"md5=\#(md5)"}"#, "y/a",
      ],
      names: ["a-2", "a"]),
    Sample(
      testDescription: "a key stands for the URL, and the name stays whatever that is",
      first: [#"{"url":"http://x/a?s=1","cache-key":"k1"}"#, #"{"url":"http://x/a?s=2","cache-key":"k2"}"#],
      second: [#"{"url":"http://x/b?s=3","cache-key":"k2"}"#, #"{"url":"http://x/a?s=4","cache-key":"k1"}"#],
      names: ["a-2", "a"]),
    Sample(
      testDescription: "a key counts on its server", first: [#"{"url":"http://x/a?s=1","cache-key":"k"}"#, "x/a"],
      second: ["n/a", #"{"url":"http://y/a?s=1","cache-key":"k"}"#, "x/a"], names: ["a", "a-3", "a-2"]),
    Sample(
      testDescription: "what is no URL keeps its name, too", first: [#"{"url":"ftp://x/a"}"#, #"{"url":"ftp://x/b"}"#],
      second: [#"{"url":"ftp://x/b"}"#, #"{"url":"ftp://x/a"}"#], names: ["unnamed-2", "unnamed"]),
    Sample(
      testDescription: "variants have the name of their entry", first: ["x/a", variants("y/a")],
      second: [variants("n/a"), variants("y/a"), "x/a"], names: ["a-3.s", "a-3.m", "a-2.s", "a-2.m", "a"]),
    Sample(
      testDescription: "an entry keeps its name when it gets variants, and when it loses them",
      first: [variants("x/a"), "y/a"], second: [variants("y/a"), "x/a"], names: ["a-2.s", "a-2.m", "a"]),
    Sample(
      testDescription: "a name that another's variant has is not free", first: ["x/a", "y/a.s"],
      second: [variants("x/a"), "y/a.s"], names: ["a.s", "a.m", "a.s-2"]),
  ])
  func kept(_ sample: Sample) throws {
    let planned = try plan(sample.first, sample.second)
    #expect(planned.entries.map(\.name) == sample.names)
    // Planned again from its own names, as after a restart, it is the same.
    let again = try plan(sample.first, sample.second, sample.second)
    #expect(again.entries.map(\.name) == sample.names && again.names == planned.names)
  }

  private static let md5 = String(repeating: "0", count: 32)

  private static func variants(_ url: String) -> String {
    #"{"url":"http://\#(url)","variants":[{"name":"s"},{"name":"m"}]}"#
  }

  @Test func `a name that is taken by one that is given is a warning with its place`() throws {
    let planned = try plan(["x/a", "y/a"], ["n/b", "y/a", "a-2=z/1"])
    #expect(planned.entries.map(\.name) == ["b", "a", "a-2"])
    #expect(planned.warnings.map(\.code) == [.nameClash] && planned.warnings.first?.location == .line(2))
    #expect(
      planned.warnings.first?.message
        == "the entry had the name \"a-2\" in the last run; since \"a-2\" is taken, it becomes \"a\"")
    #expect(try plan(["x/a", "y/a"], ["y/a", "n/a", "x/a"]).warnings == [], "nobody has lost anything")
  }

  @Test func `of many that are taken a hundred are told`() throws {
    let urls = (0..<300).map { "x/\($0)/a" }
    let given = ["a=y/0"] + (2...300).map { "a-\($0)=y/\($0)" }
    let planned = try plan(urls, urls + given)
    #expect(planned.warnings.count == 100)
    #expect(planned.entries.prefix(2).map(\.name) == ["a-301", "a-302"])
  }

  @Test func `a name in after means the entry that keeps it`() throws {
    let planned = try plan(["x/a", "y/a"], ["n/a", "y/a", "x/a", #"{"url":"http://z/z","after":["a","a-2"]}"#])
    #expect(planned.entries.map(\.name) == ["a-3", "a-2", "a", "z"] && planned.after.last == ["a-2", "a"])
  }

  @Test func `20 000 equal requests, and as many others, keep their names in time that grows with their number`() throws
  {
    let urls = (0..<40_000).map { "http://h/\($0 < 20_000 ? 0 : $0)/a" }
    let began = ContinuousClock.now
    let first = try Planned(urls.joined(separator: "\n"), as: "m.txt")
    #expect(first.names.count == 40)
    let text = (["http://n/a"] + urls.reversed()).joined(separator: "\n")
    let second = try Planned(text, as: "m.txt", lastNames: first.names)
    #expect(began.duration(to: .now) < .seconds(120))
    #expect(second.entries.first?.name == "a-40001")
    let names = first.entries.map(\.name)
    #expect(second.entries.dropFirst().map(\.name) == Array(names[20_000...].reversed()) + names[..<20_000])
  }

  @Test func `names that are given are nothing for the next run`() throws {
    #expect(try plan(["a=x/a", "b=y/a"]).names == [])
  }
}
