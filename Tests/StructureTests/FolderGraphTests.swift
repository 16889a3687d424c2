import Foundation
import TestSupport
import Testing

@Suite struct FolderGraphTests {
  /// The graph of a module `Studio` with these files, which are written to a temporary folder.
  private func graph(_ files: [String: String]) throws -> FolderGraph {
    let folder = try TemporaryFolder()
    for (path, source) in files {
      let url = URL(fileURLWithPath: folder.file(path))
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try source.write(to: url, atomically: true, encoding: .utf8)
    }
    return FolderGraph(module: "Studio", files: try SourceFile.files(in: folder.path))
  }

  struct Sample: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let files: [String: String]
    var cycles: [[String]] = []
  }

  @Test(arguments: [
    Sample(
      testDescription: "two folders",
      files: ["A/One.swift": "struct One { let two: Two }", "B/Two.swift": "struct Two { var all: [One] { [] } }"],
      cycles: [["A", "B"]]),
    Sample(
      testDescription: "three folders",
      files: [
        "C/One.swift": "enum One { case two(Two) }", "A/Two.swift": "actor Two: Three {}",
        "B/Three.swift": "protocol Three { associatedtype Item = One }", "D/Four.swift": "typealias Four = One",
      ],
      cycles: [["A", "B", "C"]]),
    Sample(
      testDescription: "two cycles",
      files: [
        "A/One.swift": "struct One { let two: Two }", "B/Two.swift": "struct Two { let one: One; let three: Three }",
        "C/Three.swift": "struct Three { let two: Two }",
      ],
      cycles: [["A", "B"], ["B", "C"]]),
    Sample(
      testDescription: "an extension",
      files: ["A/One.swift": "struct One { let two: Two }", "B/Two.swift": "struct Two {}; extension One {}"],
      cycles: [["A", "B"]]),
    Sample(
      testDescription: "an extension of a nested type",
      files: [
        "A/One.swift": "enum One { enum Kind {} }; var two: Two?",
        "B/Two.swift": "struct Two {}; extension One.Kind {}",
      ],
      cycles: [["A", "B"]]),
    Sample(
      testDescription: "a nested type by its qualified name",
      files: [
        "A/One.swift": "struct One { let kind: Two.Kind }", "B/Two.swift": "struct Two { enum Kind {}; let one: One }",
      ],
      cycles: [["A", "B"]]),
    Sample(
      testDescription: "a nested type that another folder adds",
      files: ["A/One.swift": "struct One { let kind: Kind }", "B/Two.swift": "extension One { enum Kind {} }"],
      cycles: [["A", "B"]]),
    Sample(
      testDescription: "a type named after its module",
      files: [
        "A/One.swift": "struct One { let two: Studio.Two }", "B/Two.swift": "struct Two { let one: Studio.One }",
      ],
      cycles: [["A", "B"]]),
    Sample(
      testDescription: "an interpolation",
      files: ["A/One.swift": "struct One { let two = \"\\(Two())\" }", "B/Two.swift": "struct Two { let one: One }"],
      cycles: [["A", "B"]]),
    Sample(
      testDescription: "folders of folders",
      files: ["A/Deep/One.swift": "struct One { let two: Two }", "B/Deep/Two.swift": "struct Two { let one: One }"],
      cycles: [["A", "B"]]),
    Sample(
      testDescription: "the module's own files and a folder",
      files: [
        "Studio.swift": "struct Studio { let one: One }; struct Limit {}",
        "A/One.swift": "struct One { let limit: Limit }",
      ],
      cycles: [["A", "Studio"]]),
    Sample(
      testDescription: "the module's own files, which do not use the folder",
      files: ["Limit.swift": "struct Limit {}", "A/One.swift": "struct One { let limit: Limit }"],
      cycles: [["A", "Studio"]]),
  ])
  func `cycles are found`(sample: Sample) throws {
    #expect(try graph(sample.files).cycles == sample.cycles)
  }

  @Test(arguments: [
    Sample(
      testDescription: "one direction",
      files: [
        "Studio.swift": "struct Studio { let one: One; let two: Two }", "A/One.swift": "struct One { let two: Two }",
        "B/Two.swift": "struct Two { let three: Three }", "C/Three.swift": "struct Three {}",
      ]),
    Sample(
      testDescription: "one folder",
      files: ["A/One.swift": "struct One { let two: Two }", "A/Two.swift": "struct Two { let one: One }"]),
    Sample(
      testDescription: "comments and strings",
      files: [
        "A/One.swift": "/* Two */ struct One { let two = \"Two\" } // Two",
        "B/Two.swift": "struct Two { let one: One }",
      ]),
    Sample(
      testDescription: "nested types of the same name",
      files: [
        "A/One.swift": "struct One { enum State {}; let state: State }",
        "B/Two.swift": "struct Two { enum State {}; let state: State; let one: One.State }",
      ]),
    Sample(
      testDescription: "a nested type named as another folder's type",
      files: [
        "A/One.swift": "struct One { enum Two {} }", "A/One+Two.swift": "extension One { func two() -> Two? { nil } }",
        "B/Two.swift": "struct Two { let one: One }",
      ]),
    Sample(
      testDescription: "a member named as another folder's type",
      files: ["A/One.swift": "struct One { let two = Other.Two.first }", "B/Two.swift": "struct Two { let one: One }"]),
    Sample(
      testDescription: "a file's private type named as another folder's type",
      files: [
        "A/One.swift": "private struct Two {}; struct One { let two = Two() }",
        "B/Two.swift": "struct Two { let one: One }",
        "C/Three.swift": "private struct One { let two: Two }",
      ]),
    Sample(
      testDescription: "a generic parameter named as another folder's type",
      files: [
        "A/One.swift": "struct One<Two> { let two: Two; func map<Three>(_ three: Three) {} }",
        "B/Two.swift": "struct Two { let one: One<Int> }", "C/Three.swift": "struct Three { let one: One<Int> }",
      ]),
    Sample(
      testDescription: "a type that depends on the platform",
      files: [
        "A/One.swift": "struct One { let two: Two }; struct Two {}", "B/Two.swift": "struct Two { let one: One }",
      ]),
  ])
  func `what is no cycle is not reported`(sample: Sample) throws {
    #expect(try graph(sample.files).cycles == [])
  }

  @Test func `the description of a cycle has the files and types behind each dependency`() throws {
    let graph = try graph([
      "A/One.swift": "struct One { let two: Two }", "A/More.swift": "extension Two { var kind: Kind { Three() } }",
      "B/Two.swift": "struct Two { struct Kind {}; let one: One }", "B/Three.swift": "struct Three {}",
    ])
    let description = """
      A → B → A
        A → B
          Three (B/Three.swift) in A/More.swift
          Two (B/Two.swift) in A/More.swift, A/One.swift
          Two.Kind (B/Two.swift) in A/More.swift
        B → A
          One (A/One.swift) in B/Two.swift
      """
    #expect(graph.cycles.map(graph.description(of:)) == [description])
    #expect(
      graph.report.hasPrefix("Studio: cycles\n  A → B → A\nStudio: dependencies\n  A → B\n    Three (B/Three.swift)"))
  }
}
