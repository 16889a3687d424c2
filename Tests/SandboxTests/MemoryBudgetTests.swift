import Foundation
import TestSupport
import Testing

@testable import Sandbox

@Suite struct MemoryBudgetTests {
  /// In MiB.
  @Test(arguments: [[512, 2, 256, 64], [512, 1, 256, 128], [65536, 8, 1024, 256], [256, 8, 128, 48]])
  func `whole pictures get half of the memory, a gibibyte at most`(numbers: [Int]) {
    let budget = MemoryBudget(available: numbers[0] << 20, workers: numbers[1])
    #expect(budget.shared == numbers[2] << 20)
    #expect(budget.perWorker == numbers[3] << 20)
  }

  /// A tree of control groups for one test.
  private func tree(_ files: [String: String]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for (path, text) in files {
      let url = URL(fileURLWithPath: folder.file(path))
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    return folder
  }

  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let membership: String
    let files: [String: String]
    let limit: Int?
  }

  @Test(arguments: [
    Sample(
      testDescription: "version 2", membership: "0::/a/b\n", files: ["a/b/memory.max": "536870912\n"],
      limit: 536_870_912),
    Sample(
      testDescription: "version 2, a group above", membership: "0::/a/b\n",
      files: ["a/b/memory.max": "max\n", "a/memory.max": "1000\n"], limit: 1000),
    Sample(
      testDescription: "version 2, without a limit", membership: "0::/a\n", files: ["a/memory.max": "max\n"], limit: nil
    ),
    Sample(
      testDescription: "version 1", membership: "4:cpu:/x\n3:memory:/job\n0::/\n",
      files: ["memory/job/memory.limit_in_bytes": "2000\n"], limit: 2000),
    Sample(
      testDescription: "version 1, without a limit", membership: "3:memory:/\n",
      files: ["memory/memory.limit_in_bytes": "9223372036854771712\n"], limit: nil),
    Sample(
      testDescription: "version 1 in a container", membership: "3:memory:/docker/0123\n",
      files: ["memory/memory.limit_in_bytes": "3000\n"], limit: 3000),
    Sample(testDescription: "nothing", membership: "", files: [:], limit: nil),
  ])
  func `the least limit of a control group and those above it is found`(sample: Sample) throws {
    let folder = try tree(sample.files)
    #expect(ControlGroup.memoryLimit(membership: sample.membership, root: folder.path) == sample.limit)
  }
}
