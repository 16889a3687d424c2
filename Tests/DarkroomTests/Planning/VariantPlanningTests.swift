import Manifests
import Testing
import TestSupport

@testable import Model

/// `variants`: the rows of an entry, and what rejects the manifest.
@Suite struct VariantPlanningTests {
  @Test("each variant is a row, which inherits what it leaves out, and has the entry's name before its own")
  func rows() throws {
    let planned = try Planned(
      #"""
      {"plain": "http://h/1",
       "cat.png": {"url": "http://h/2", "filters": "none", "quality": 70, "priority": "high", "metadata": 1, "variants": [
         {"name": "small", "filters": "resize(10 10)"}, {"name": "big@2x", "format": "webp", "quality": 5, "_x": 1}]},
       "last": "http://h/3"}
      """#, as: "m.json")
    #expect(planned.problems == [])
    #expect(planned.entries.map(\.name) == ["plain", "cat.small", "cat.big@2x", "last"])
    #expect(planned.entries.map(\.shownName) == ["plain", "cat.png", "cat.png", "last"])
    #expect(planned.entries.map(\.variant) == [nil, "small", "big@2x", nil])
    #expect(planned.entries.map(\.position) == [0, 1, 2, 3])
    #expect(planned.entries.map(\.firstRow) == [nil, 1, 1, nil])
    #expect(planned.entries.map { $0.line ?? $0.position } == [0, 1, 1, 2])
    #expect(planned.entries.map(\.recipe.description) == ["sepia(0.8)", "resize(fit 10 10)", "none", "sepia(0.8)"])
    #expect(planned.entries.map(\.options.format?.rawValue) == [nil, nil, "webp", nil])
    #expect(planned.entries.map(\.options.quality) == [85, 70, 5, 85])
    #expect(planned.entries.map(\.priority) == [.normal, .high, .high, .normal])
    #expect(Set(planned.urls.dropFirst().prefix(2)) == ["http://h/2"])
  }

  private static let two = #""variants":[{"name":"s"},{"name":"m"}]"#

  @Test(
    "names of variants clash with no other, and a derived name is the same for all of an entry",
    arguments: [
      (
        "\"http://h/x.jpg\"\n{\"url\":\"http://g/x.png\",\(two)}\n{\"url\":\"http://i/x\",\(two)}",
        ["x", "x-2.s", "x-2.m", "x-3.s", "x-3.m"], ["x", "x-2", "x-2", "x-3", "x-3"]
      ),
      (
        "{\"url\":\"http://g/x.png\",\(two)}\n{\"url\":\"1\",\"name\":\"X.M\"}\n\"http://h/x.s\"",
        ["x-2.s", "x-2.m", "X.M", "x.s"], ["x-2", "x-2", "X.M", "x.s"]
      ),
      (
        "{\"url\":\"1\",\"name\":\"a:b\",\(two)}\n{\"url\":\"2\",\"name\":\"a_b\"}", ["a_b-2.s", "a_b-2.m", "a_b"],
        ["a:b", "a:b", "a_b"]
      ),
    ])
  func clashes(text: String, names: [String], shown: [String]) throws {
    let planned = try Planned(text, as: "m.jsonl").sound()
    #expect(planned.entries.map(\.name) == names)
    #expect(planned.entries.map(\.shownName) == shown)
  }

  @Test("a name of a variant that begins with a combining mark is no part of its entry's")
  func combiningMark() throws {
    let variants = #""variants":[{"name":"\u0301x"}]"#
    let planned = try Planned(
      "{\"url\":\"1\",\"name\":\"aa:\",\(variants)}\n{\"url\":\"2\",\"name\":\"aa_\"}\n"
        + "{\"url\":\"http://h/bb\",\(variants)}\n{\"url\":\"http://g/bb\",\(variants)}", as: "m.jsonl")
    #expect(planned.problems == [])
    #expect(planned.entries.map(\.name) == ["aa_-2.\u{301}x", "aa_", "bb.\u{301}x", "bb-2.\u{301}x"])
    #expect(planned.entries.map(\.lineName) == ["aa_-2", "aa_", "bb", "bb-2"])
    #expect(planned.warnings.map(\.code) == [.nameChanged, .nameClash])
    #expect(planned.warnings.last?.message.contains("since \"aa_\" is taken") == true)
  }

  @Test(
    "what cannot be rejects the manifest, each with its place",
    arguments: [
      (#"[{"url":"1","variants":{}}]"#, ["wrong-type @ [0].variants"]),
      (#"[{"url":"1","variants":[]}]"#, ["bad-value @ [0].variants"]),
      (#"[{"url":"1","variants":["s",{}]}]"#, ["wrong-type @ [0].variants[0]", "bad-value @ [0].variants[1]"]),
      (
        #"[{"url":"1","variants":[{"name":"s","priority":"low"},{"name":"m","filters":"x","format":"y","quality":0}]}]"#,
        [
          "unknown-field @ [0].variants[0].priority", "bad-recipe @ [0].variants[1].filters",
          "bad-value @ [0].variants[1].format", "bad-value @ [0].variants[1].quality",
        ]
      ),
      (
        #"[{"url":"1","variants":[{"name":"a/b"},{"name":".."},{"name":"a:"},{"name":""},{"name":"a "},{"name":7}]}]"#,
        (0..<5).map { "bad-value @ [0].variants[\($0)].name" } + ["wrong-type @ [0].variants[5].name"]
      ),
      (#"[{"url":"1","variants":[{"name":"é"},{"name":"E\u0301"}]}]"#, ["duplicate-name @ [0].variants[1].name"]),
      (#"{"a":{"url":"1","variants":[{"name":"s"}]},"A.S":"http://h/2"}"#, ["duplicate-name @ A.S"]),
      (#"{"a.s":"http://h/2","a":{"url":"1","variants":[{"name":"s"}]}}"#, ["duplicate-name @ a"]),
      (#"{"a":{"url":"1","variants":[{"name":"s"}]},"a.jpg":"http://h/2"}"#, ["duplicate-name @ a.jpg"]),
      (
        #"{"defaults":{"variants":[{"name":"s"},{"name":""}]},"entries":["1","2"]}"#,
        ["bad-value @ defaults.variants[1].name"]
      ),
      (#"{"defaults":{"variants":[{"name":"s"}]},"entries":{"a":"1","a.s":"2"}}"#, ["duplicate-name @ entries.a.s"]),
    ])
  func rejected(text: String, expected: [String]) throws {
    #expect(try Planned(text, as: "m.json").found == expected)
  }

  @Test("more than 64 variants are too many")
  func limit() throws {
    func text(_ count: Int) -> String {
      "[{\"url\":\"1\",\"variants\":[" + (0..<count).map { "{\"name\":\"v\($0)\"}" }.joined(separator: ",") + "]}]"
    }
    #expect(try Planned(text(64), as: "m.json").entries.count == 64)
    #expect(try Planned(text(65), as: "m.json").found == ["bad-value @ [0].variants"])
  }

  @Test("what comes after an entry comes after all its variants, and all its variants after what it comes after")
  func after() throws {
    let text = """
      {"url":"1","name":"a",\(Self.two)}
      {"url":"2","name":"b","after":["a"],\(Self.two)}
      {"url":"3","name":"c","after":["b"]}
      """
    let planned = try Planned(text, as: "m.jsonl")
    #expect(planned.after == [[], [], ["a", "a"], ["a", "a"], ["b", "b"]])
    let cycle = text + "\n" + #"{"url":"4","name":"d","after":["d"],\#(Self.two)}"#
    #expect(try Planned(cycle, as: "m.jsonl").found == ["cycle @ line 4: after"])
  }

  @Test("places are told behind entries with variants, too")
  func places() throws {
    let text =
      "{\"url\":\"1\",\"name\":\"a\",\(Self.two)}\n{\"url\":\"2\",\"name\":\"b\"}\n{\"url\":\"3\",\"name\":\"B\"}"
    let problem = try #require(Planned(text, as: "m.jsonl").problems.first)
    #expect(problem.description == #"line 3: the name "B" would be the same file as "b" at line 2; rename one of them"#)
  }

  @Test("a name that a variant has names the variant")
  func variantsName() throws {
    let text = "{\"url\":\"1\",\"name\":\"a\",\(Self.two)}\n{\"url\":\"2\",\"name\":\"a.m\"}"
    let problem = try #require(Planned(text, as: "m.jsonl").problems.first)
    #expect(
      problem.description
        == #"line 2: the name "a.m" would be the same file as the variant "m" of "a" at line 1; rename one of them"#)
  }

  @Test("in a table they are JSON")
  func table() throws {
    let planned = try Planned("url,variants\nhttp://h/a,\"[{\"\"name\"\":\"\"s\"\"}]\"\nhttp://h/b,\n", as: "m.csv")
    #expect(planned.entries.map(\.name) == ["a.s", "b"])
  }
}
