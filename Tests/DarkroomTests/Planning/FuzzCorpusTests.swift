import Foundation
import Manifests
import Testing
import TestSupport

@testable import JobIndex
@testable import Model
@testable import Planning

/// What the fuzzers begin with, and what they have found.
@Suite struct FuzzCorpusTests {
  private static func files(_ folder: String) -> [String] {
    let path = packageRoot + "/Tests/Fuzz/Corpus/" + folder
    return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted().map { path + "/" + $0 }
  }

  @Test("every file of the corpus ends in entries or problems in every format", arguments: files("manifests"))
  func manifests(path: String) throws {
    // The first byte picks the fuzzer's format.
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path)).dropFirst()
    for format in ManifestFormats.all {
      for suffix in [format.name, format.name + ".gz"] {
        let planned = try Planned(bytes, as: "m." + suffix)
        #expect(planned.problems.count <= Planner.problemLimit)
        #expect(planned.problems.isEmpty || planned.entries.isEmpty)
      }
    }
  }

  @Test("every name of the corpus becomes a safe one, and that one itself", arguments: files("names"))
  func names(path: String) throws {
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    for name in [OutputName.explicit(text).path, OutputName.derived(fromURL: text)] {
      let components = name.split(separator: "/", omittingEmptySubsequences: false)
      #expect(components.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") && $0.utf8.count <= OutputName.lengthLimit })
      #expect(components.allSatisfy { Array(PortableName.replacing(String($0)).utf8) == Array($0.utf8) })
      #expect(Array(OutputName.explicit(name).path.utf8) == Array(name.utf8))
      let claim = OutputName.claim(name)
      #expect(Array(OutputName.claim(claim).utf8) == Array(claim.utf8))
    }
  }

  @Test("there is a corpus")
  func corpus() {
    #expect(Self.files("manifests").count > 10)
    #expect(Self.files("names").count > 5)
  }
}
