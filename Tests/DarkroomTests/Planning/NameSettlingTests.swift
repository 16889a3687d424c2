import Foundation
import Manifests
import Testing
import TestSupport

@testable import JobIndex
@testable import Model
@testable import Planning

/// The work for the final names of entries whose names are taken, and that the names do not depend on how it is saved.
@Suite struct NameSettlingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func planner(_ lines: [String]) throws -> Planner {
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: folder.file("m.jsonl")))
    let format = try #require(ManifestFileName("m.jsonl")?.format)
    return Planner(format: format, file: ManifestFile(path: folder.file("m.jsonl")), defaults: try Planned.defaults)
  }

  private static let count = 2000

  /// Names that are taken, and the variants of each entry that shares a name with all others.
  struct Clash: Sendable {
    let taken: [String]
    let variants: @Sendable (Int) -> [String]

    init(_ taken: [String], _ variants: @escaping @Sendable (Int) -> [String]) {
      (self.taken, self.variants) = (taken, variants)
    }
  }

  private static let numbered: [String] = (2..<count).map { "a-\($0).x" }
  private static let inTurn: [String] = (2..<count).map { $0 % 2 == 0 ? "a-\($0)" : "a-\($0).x" }

  private static let clashes: [Clash] = [
    // The name of a variant, of many entries with this one, with others each, and with others in turn.
    Clash(["a.x"]) { _ in ["x"] }, Clash(["a.x"]) { ["x", "y\($0)"] },
    Clash(["a.x", "a.y"]) { [$0 % 2 == 0 ? "x" : "y"] },
    // Many numbers, too.
    Clash(["a.x"] + numbered) { _ in ["x"] }, Clash(["a.x"] + numbered) { ["x", "y\($0)"] },
    Clash(["a.x"] + inTurn) { _ in ["x"] },
    // The name of the entry.
    Clash(["a"]) { _ in ["x"] }, Clash(["a"]) { _ in [] },
  ]

  @Test(
    "the numbers that are tried for names do not grow with the square of the entries, whatever name is taken",
    arguments: clashes.indices)
  func work(number: Int) throws {
    let clash = Self.clashes[number]
    let entries = (0..<Self.count).map { Draft(name: "a", isGiven: false, variants: clash.variants($0)) }
    let all = clash.taken.map { Draft(name: $0, isGiven: true) } + entries
    var questions = 0
    let index = try JobIndex(creating: .memory)
    let findings = try planner(all.map(\.line)).plan(
      into: index,
      isCancelled: {
        questions += 1
        return false
      })
    #expect(findings.problems == [])
    // One for each line that is read, one for each entry, and one for each number.
    #expect(questions < 10 * all.count, "\(questions)")
  }

  @Test("planning can be cancelled while names are settled")
  func cancelled() throws {
    let lines = (0..<10).map { _ in Draft(name: "a", isGiven: false).line }
    var questions = 0
    #expect(throws: CancellationError.self) {
      try planner(lines).plan(
        into: JobIndex(creating: .memory),
        isCancelled: {
          questions += 1
          return questions > lines.count
        })
    }
    #expect(questions == lines.count + 1)
  }

  @Test("names are those with the first number for which all are free", arguments: 0..<200)
  func names(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    func draft(_ isGiven: Bool) -> Draft {
      let base = ["a", "A", "a.x", "a-2", "b", "a-3.y"].randomElement(using: &random) ?? ""
      let suffix =
        isGiven ? ["", "-2", "-3", "-4", ".x", ".y", "-2.x", "-5.y"].randomElement(using: &random) ?? "" : ""
      return Draft(
        name: base + suffix, isGiven: isGiven,
        variants: isGiven ? [] : [[], ["x"], ["y"], ["x", "y"], ["y", "x"]].randomElement(using: &random) ?? [])
    }
    var given: Set<String> = []
    var all = (0..<8).map { _ in draft(true) }.filter { given.insert($0.name.lowercased()).inserted }
    all += (0..<30).map { _ in draft(false) }
    let planned = try Planned(all.map(\.line).joined(separator: "\n"), as: "m.jsonl").sound()
    #expect(planned.entries.map(\.name) == Self.names(of: all), "\(all)")
  }

  /// The names of entries, each found by trying all numbers. Entries that share a name which one of them has do not try again what
  /// was tried for the one before.
  private static func names(of all: [Draft]) -> [String] {
    var claims = Set(all.filter(\.isGiven).map { $0.name.lowercased() })
    var next = Dictionary(uniqueKeysWithValues: claims.map { ($0, 2) })
    return all.flatMap { entry -> [String] in
      if entry.isGiven { return [entry.name] }
      let base = entry.name.lowercased()
      func claim(_ name: String) -> Bool {
        // An entry with variants has its own name, too.
        let names = Set([name] + entry.variants.map { name + "." + $0 }).map { $0.lowercased() }
        guard claims.isDisjoint(with: names) else { return false }
        claims.formUnion(names)
        for name in names { next[name] = 2 }
        return true
      }
      var name = entry.name
      if !claim(name) {
        let isShared = next[base] != nil
        var suffix = next[base] ?? 2
        while !claim("\(entry.name)-\(suffix)") { suffix += 1 }
        if isShared { next[base] = suffix + 1 }
        name += "-\(suffix)"
      }
      return entry.variants.isEmpty ? [name] : entry.variants.map { name + "." + $0 }
    }
  }

  /// An entry of a manifest.
  private struct Draft: CustomStringConvertible {
    let name: String
    let isGiven: Bool
    var variants: [String] = []

    var line: String {
      let variants =
        variants.isEmpty ? "" : #","variants":["# + variants.map { #"{"name":"\#($0)"}"# }.joined(separator: ",") + "]"
      return isGiven
        ? #"{"url":"http://h/1","name":"\#(name)"\#(variants)}"# : #"{"url":"http://h/\#(name).jpg"\#(variants)}"#
    }

    var description: String { line }
  }
}
