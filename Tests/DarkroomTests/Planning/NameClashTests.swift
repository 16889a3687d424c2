import JSON
import Manifests
import Testing

@testable import Model

/// Names that claim the same output.
@Suite struct NameClashTests {
  /// A manifest of entries with these names.
  private func planned(_ names: [String]) throws -> Planned {
    let lines = names.map { JSONValue.object(["url": .string("http://h/x"), "name": .string($0)]).text }
    return try Planned(lines.joined(separator: "\n"), as: "m.jsonl")
  }

  @Test(
    "names that are the same only because something was replaced get -2, and a warning each",
    arguments: [
      (["a:b", "a?b", "a*b"], ["a_b", "a_b-2", "a_b-3"], [2, 3]), (["a:b", "a_b"], ["a_b-2", "a_b"], [1]),
      (["a_b", "A:B"], ["a_b", "A_B-2"], [2]), (["con", "nul", "_"], ["_-2", "_-3", "_"], [1, 2]),
      (["a.", "a_"], ["a_-2", "a_"], [1]), (["x/a:b", "x/a_b-2", "x/a_b"], ["x/a_b-3", "x/a_b-2", "x/a_b"], [1]),
      (["a:b"], ["a_b"], []), (["a:b", "c:d"], ["a_b", "c_d"], []),
    ])
  func replaced(names: [String], expected: [String], lines: [Int]) throws {
    let planned = try planned(names)
    #expect(planned.problems == [])
    #expect(planned.entries.map(\.name) == expected)
    #expect(planned.entries.map(\.shownName) == names)
    let clashes = planned.warnings.filter { $0.code == .nameClash }
    #expect(clashes.map(\.location) == lines.map { .line($0) })
    for (warning, line) in zip(clashes, lines) {
      #expect(
        warning.message.contains("\"\(names[line - 1])\"") && warning.message.contains("\"\(expected[line - 1])\""))
    }
  }

  @Test(
    "given names that are changed are told once, with the first of them, in words that stay the same as the list grows",
    arguments: [
      (["a", "b.", "c"], [2], "this name: parts of it become"), (["x/con", "a:b"], [1], "this name and others: parts"),
      (["a", "a:b", "c?", "d"], [2], "this name and others: parts"), (["a", "x/b.jpg", ".c"], [], ""),
    ])
  func changed(names: [String], lines: [Int], text: String) throws {
    let warnings = try planned(names).warnings
    #expect(
      warnings.map(\.code) == lines.map { _ in .nameChanged } && warnings.map(\.location) == lines.map { .line($0) })
    #expect(warnings.allSatisfy { $0.message.contains(text) }, "\(warnings)")
  }

  @Test("a derived name gives way to one that was replaced")
  func derived() throws {
    let planned = try Planned(
      "\"http://h/a_b.jpg\"\n{\"url\":\"http://h/1\",\"name\":\"a:b\"}\n\"http://h/a%3Ab.png\"", as: "m.jsonl")
    #expect(planned.entries.map(\.name) == ["a_b-2", "a_b", "a_b-3"])
    #expect(planned.warnings.map(\.code) == [.nameChanged])
  }

  @Test(
    "equal names are told with the place of both, and all of them at once",
    arguments: [
      (
        "m.jsonl", #"{"url":"x","name":"Photo.jpg"}"# + "\n\n" + #"{"url":"y","name":"photo"}"#,
        [#"line 3: the name "photo" would be the same file as "Photo.jpg" at line 1; rename one of them"#]
      ),
      (
        "m.json", #"{"a":"http://h/1","A":"http://h/2"}"#,
        [#"A: the name "A" would be the same file as "a"; rename one of them"#]
      ),
      (
        "m.json", #"{"entries":[{"url":"x","name":"a"},"y",{"url":"z","name":"a.png"}]}"#,
        [#"entries[2]: the name "a.png" would be the same file as "a" at entries[0]; rename one of them"#]
      ),
      (
        "m.jsonl", "{\"url\":\"x\",\"name\":\"a:b\"}\n{\"url\":\"x\",\"name\":\"A:B\"}",
        [#"line 2: the name "A:B" would be the same file as "a:b" at line 1; rename one of them"#]
      ),
      (
        "m.csv", "name,url,quality\na,1,\nb,2,0\nB,3,\na,4,0\na,5,\n",
        [
          "line 3: quality: \"quality\" must be from 1 to 100, not 0",
          #"line 4: the name "B" would be the same file as "b" at line 3; rename one of them"#,
          "line 5: quality: \"quality\" must be from 1 to 100, not 0",
          #"line 5: the name "a" would be the same file as "a" at line 2; rename one of them"#,
          #"line 6: the name "a" would be the same file as "a" at line 2; rename one of them"#,
        ]
      ),
    ])
  func equal(file: String, text: String, expected: [String]) throws {
    #expect(try Planned(text, as: file).problems.map(\.description) == expected)
  }

  @Test("of many clashes a hundred are told", arguments: [99, 300])
  func many(count: Int) throws {
    let clashing = try planned(["a"] + Array(repeating: "a", count: count))
    #expect(clashing.problems.count == min(count, 100))
    #expect(clashing.problems.allSatisfy { $0.message.hasSuffix("at line 1; rename one of them") })
    let renamed = try planned((0...count).map { "a\($0 % 2 == 0 ? ":" : "?")\($0 / 2)" })
    #expect(renamed.problems == [] && renamed.warnings.count == min(1 + (count + 1) / 2, 100))
  }
}
