import CSQLite
import Foundation
import Imaging
import Manifests
import Scheduling
import Testing
import TestSupport

@testable import Darkroom
@testable import Database
@testable import JobIndex
@testable import Model
@testable import Planning

/// `after`: which entries are meant, and what rejects the manifest.
@Suite struct DependencyPlanningTests {
  @Test(
    "names are found as outputs are compared, whether they are given, keys or derived",
    arguments: [
      ("m.json", #"{"a": "http://h/1", "b": {"url": "http://h/2", "after": ["a"]}}"#, [[], ["a"]]),
      ("m.json", #"{"b": {"url": "http://h/2", "after": "A.jpg"}, "a.png": "http://h/1"}"#, [["a.png"], []]),
      ("m.jsonl", "\"http://h/x.jpg\"\n\"http://g/x.png\"\n{\"url\":\"y\",\"after\":[\"x-2\"]}", [[], [], ["x-2"]]),
      ("m.jsonl", "{\"url\":\"y\",\"after\":[\"x\"]}\n\"http://h/x.jpg\"\n\"http://g/x\"", [["x"], [], []]),
      ("m.jsonl", "{\"url\":\"1\",\"name\":\"a:b\"}\n{\"url\":\"2\",\"after\":[\"a:b\"]}", [[], ["a:b"]]),
      (
        "m.jsonl", "{\"url\":\"1\",\"name\":\"d/Caf\u{e9}\"}\n{\"url\":\"2\",\"after\":[\"D/cafe\u{301}\"]}",
        [[], ["d/Café"]]
      ),
      (
        "m.jsonl",
        #"{"url":"3","name":"c","after":["b","a","b","B.jpg"]}"# + "\n" + #"{"url":"1","name":"a"}"# + "\n"
          + #"{"url":"2","name":"b","after":[]}"#, [["a", "b"], [], []]
      ),
      ("m.csv", "url,name,after\n1,a,\n2,b,a\n3,c,\"[\"\"a\"\",\"\"b\"\"]\"\n", [[], ["a"], ["a", "b"]]),
      ("m.jsonl", "\"http://h/1\"\n\"http://h/2\"", [[], []]),
    ])
  func found(file: String, text: String, expected: [[String]]) throws {
    let planned = try Planned(text, as: file).sound()
    #expect(planned.after == expected)
  }

  @Test(
    "what cannot be meant rejects the manifest, each with its place",
    arguments: [
      (
        "m.jsonl", #"{"url":"1","name":"a","after":["b","c"]}"# + "\n" + #"{"url":"2","name":"b","after":["x"]}"#,
        [
          "line 1: after: there is no entry \"c\" that this one could come after",
          "line 2: after: there is no entry \"x\" that this one could come after",
        ]
      ),
      (
        "m.json", #"{"a":{"url":"1","after":["a"]}}"#, [#"a.after: entries come after themselves: "a" after "a""#]
      ),
      (
        "m.csv", "url,name,after\n1,a,b\n2,b,c\n3,c,a\n4,d,d.jpg\n",
        [
          #"line 2: after: entries come after themselves: "a" after "b" after "c" after "a""#,
          #"line 5: after: entries come after themselves: "d" after "d""#,
        ]
      ),
      (
        "m.json",
        #"{"cat":{"url":"1","variants":[{"name":"ok"},{"name":"no"}]},"b":{"url":"2","after":["CAT.ok.png","cat"]},"#
          + #""c":{"url":"3","after":["cat.no","cat.on"]}}"#,
        [
          #"b.after: "CAT.ok.png" is a variant, and no entry; name its entry: this one then comes after all variants of that"#,
          #"c.after: "cat.no" is a variant, and no entry; name its entry: this one then comes after all variants of that"#,
          #"c.after: there is no entry "cat.on" that this one could come after"#,
        ]
      ),
      // Derived names, and an entry that only comes after a cycle.
      (
        "m.jsonl",
        #"{"url":"http://h/x","after":["x-2"]}"# + "\n" + #"{"url":"http://g/x","after":["x"]}"# + "\n"
          + #"{"url":"y","after":["x"]}"#,
        [#"line 1: after: entries come after themselves: "x" after "x-2" after "x""#]
      ),
      (
        "m.json", #"[{"url":"1","after":7},{"url":"2","after":["a",null]},{"url":"3","after":[""]}]"#,
        [
          #"[0].after: "after" must be an array of names, not a number"#,
          "[1].after: names must be strings; number 2 is null", #"[2].after: a name in "after" must not be empty"#,
        ]
      ),
      (
        "m.json", #"{"defaults":{"after":["a"]},"entries":{"a":"http://h/1"}}"#,
        [#"defaults.after: unknown field "after"; did you mean "filters"?"#]
      ),
    ])
  func rejected(file: String, text: String, expected: [String]) throws {
    let planned = try Planned(text, as: file)
    let found = planned.problems.map(\.description)
    if text.contains("defaults") {
      #expect(found.count == 1 && found[0].hasPrefix("defaults.after: unknown field \"after\""), "\(found)")
    } else {
      #expect(found == expected)
    }
  }

  @Test("they are told beside other problems, unless a name cannot be told")
  func beside() throws {
    let text = #"{"a": {"url": "1", "quality": 0}, "b": {"url": "2", "after": ["a", "c"]}}"#
    #expect(try Planned(text, as: "m.json").found == ["bad-value @ a.quality", "unknown-dependency @ b.after"])
    // What would its name be?
    let unknown = #"[{"url": 1}, {"url": "2", "after": ["c"]}]"#
    #expect(try Planned(unknown, as: "m.json").found == ["wrong-type @ [0].url"])
  }

  @Test("of a long cycle the first twenty are named, and of many problems a hundred are told")
  func long() throws {
    let count = 5000
    let lines = (0..<count).map { #"{"url":"\#($0)","name":"n\#($0)","after":["n\#(($0 + 1) % count)"]}"# }
    let problem = try #require(Planned(lines.joined(separator: "\n"), as: "m.jsonl").problems.first)
    #expect(problem.message.hasSuffix("\"n19\" after 4980 more after \"n0\""), "\(problem.message)")
    let selves = (0..<300).map { #"{"url":"\#($0)","name":"n\#($0)","after":["n\#($0)","u"]}"# }
    #expect(try Planned(selves.joined(separator: "\n"), as: "m.jsonl").problems.count == 100)
  }

  @Test("an index that is used again knows nothing of it, whether the manifest before was planned or undone")
  func reuse() throws {
    let pool = JobIndexPool()
    let folder = try TemporaryFolder()
    func plan(_ text: String) throws -> JobIndex {
      try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file("m.jsonl")))
      let index = try pool.take()
      let format = try #require(ManifestFileName("m.jsonl")?.format)
      _ = try Planner(format: format, file: ManifestFile(path: folder.file("m.jsonl")), defaults: Planned.defaults)
        .plan(into: index)
      return index
    }
    let chain = "{\"url\":\"1\",\"name\":\"a\"}\n{\"url\":\"2\",\"after\":\"a\"}\n"
    let undone = chain + String(repeating: "{\"url\":1}\n", count: 200)
    for text in [chain, undone, chain] {
      pool.give(back: try plan(text))
      let index = try plan("\"http://h/1\"\n")
      #expect(!index.hasDependencies)
      #expect(try index.dependencies(of: 0).isEmpty)
      pool.give(back: index)
    }
  }

  @Test("entries that wait are out of the order of their host until they are released, in any order")
  func held() throws {
    let index = try JobIndex(creating: .memory)
    try index.fill {
      for position in 0..<4 {
        try index.insert(Entry.sample(position, url: "http://h/\(position)"))
        _ = try index.claim("e\(position)", for: position)
      }
      try index.insert(after: ["e3"], of: 0)
      try index.insert(after: ["e0", "e3"], of: 1)
      _ = try index.settleNames()
    }
    let waiting = try #require(try index.holdDependents(isResumed: false))
    #expect(waiting.waiting == 2)
    try index.prepareHosts()
    let jobs = ScheduledJobs()
    jobs.scheduler.add(run: 1, index, dependencies: waiting)
    #expect(try jobs.start(perHost: 9) == [2, 3])
    end(3, jobs)
    #expect(try jobs.start(perHost: 9) == [0])
    end(2, jobs)
    #expect(try jobs.start(perHost: 9) == [])
    end(0, jobs)
    #expect(try jobs.start(perHost: 9) == [1])
    #expect(jobs.scheduler.waitingForOthers(run: 1) == 0)
  }

  private func end(_ position: Int, _ jobs: ScheduledJobs) {
    jobs.finish(position)
    jobs.scheduler.dependencyEnded(PhotoRecord.ID(run: 1, position: position), hasSucceeded: true)
  }

  @Test("the work for names of variants' results does not grow with the square of their number")
  func namesOfVariants() throws {
    let count = 5000
    let index = try JobIndex(creating: .memory)
    // Counts thousands of instructions of SQLite's machine.
    var work = 0
    try withUnsafeMutablePointer(to: &work) { work in
      sqlite3_progress_handler(
        index.database.connection, 1000,
        { work in
          work?.assumingMemoryBound(to: Int.self).pointee += 1
          return 0
        }, work)
      defer { sqlite3_progress_handler(index.database.connection, 0, nil, nil) }
      try index.fill {
        for position in 0..<count {
          try index.insert(
            Entry(
              position: position, variant: "x", firstRow: position, urls: ["http://h/a"], name: "e\(position).x",
              isNameExplicit: true, recipe: .none, options: OutputOptions(), priority: .normal))
          _ = try index.claim("e\(position)", for: position)
          _ = try index.claim("e\(position).x", for: position)
        }
        for position in 0..<count { try index.insert(after: ["E\(position).X"], of: count + position) }
        _ = try index.settleNames()
      }
    }
    let unknown = try index.unknownDependencies(limit: .max)
    #expect(unknown.map(\.position) == Array(count..<2 * count) && unknown.allSatisfy(\.isOfVariant))
    // Each entry takes hundreds. If each looked at all others, it would be tens of thousands.
    #expect(work < 2 * count, "\(work)")
  }

  @Test func `an index that is used again has no results and failures of a job before`() throws {
    let pool = JobIndexPool()
    for _ in 0..<3 {
      let index = try pool.take()
      try index.prepareOutputs()
      try index.prepareFailures()
      pool.give(back: index)
    }
  }
}
