import Foundation
import TestSupport
import Testing

@testable import Sandbox

@Suite struct MemoryReadingTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let files: [String: String]
    var pressure: Double?
    var groups: [MemoryReading.Group] = []
  }

  private static let stall = "some avg10=99.00 avg60=1.00 avg300=0.00 total=1\nfull avg10="

  private static func stall(_ percent: String) -> String { stall + percent + " avg60=77.00 avg300=66.00 total=5\n" }

  @Test(arguments: [
    Sample(testDescription: "nothing", files: [:]),
    Sample(
      testDescription: "the machine", files: ["proc/pressure/memory": stall("12.50"), "proc/self/cgroup": "0::/\n"],
      pressure: 12.5),
    Sample(
      testDescription: "a kernel without full stalls",
      files: ["proc/pressure/memory": "some avg10=50.00 avg60=0.00 avg300=0.00 total=0\n"]),
    Sample(
      testDescription: "garbage",
      files: [
        "proc/pressure/memory": "full avg10=much\nfull\n", "proc/self/cgroup": "0\n::\nmemory\n4:memory:/a:b\n",
        "sys/fs/cgroup/memory/a:b/memory.limit_in_bytes": "-5\n",
        "sys/fs/cgroup/memory/a:b/memory.usage_in_bytes": "5\n",
      ]),
    Sample(
      testDescription: "version 2: the pressure is the group's",
      files: [
        "proc/pressure/memory": stall("50.00"), "proc/self/cgroup": "0::/user/job\n",
        "sys/fs/cgroup/user/memory.pressure": stall("40.00"),
        "sys/fs/cgroup/user/job/memory.pressure": stall("3.00"),
      ], pressure: 3),
    Sample(
      testDescription: "version 2: limits of the group and of one above, without pages of files",
      files: [
        "proc/self/cgroup": "0::/user/job\n",
        "sys/fs/cgroup/user/job/memory.max": "1000\n", "sys/fs/cgroup/user/job/memory.current": "900\n",
        "sys/fs/cgroup/user/job/memory.stat": "anon 5\nactive_file 100\ninactive_file 200\ninactive_anon 50\n",
        "sys/fs/cgroup/user/memory.max": "5000\n", "sys/fs/cgroup/user/memory.current": "4000\n",
        "sys/fs/cgroup/memory.max": "max\n", "sys/fs/cgroup/memory.current": "9000\n",
      ], groups: [.init(limit: 1000, used: 600), .init(limit: 5000, used: 4000)]),
    Sample(
      testDescription: "version 2: more pages of files than are in use",
      files: [
        "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "300\n",
        "sys/fs/cgroup/memory.stat": "active_file 400\n",
      ], groups: [.init(limit: 1000, used: 0)]),
    Sample(
      testDescription: "version 1",
      files: [
        "proc/pressure/memory": stall("1.00"), "proc/self/cgroup": "3:cpu:/x\n2:hugetlb,memory:/job\n0::/\n",
        "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "2000\n",
        "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1500\n",
        "sys/fs/cgroup/memory/job/memory.stat":
          "active_file 1\ninactive_file 1\ntotal_active_file 100\ntotal_inactive_file 400\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "99999\n",
      ], pressure: 1, groups: [.init(limit: 2000, used: 1000)]),
    Sample(
      testDescription: "version 1, memory and swap space together",
      files: [
        "proc/self/cgroup": "2:memory:/job\n",
        "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "2000\n",
        "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1500\n",
        "sys/fs/cgroup/memory/job/memory.memsw.limit_in_bytes": "3000\n",
        "sys/fs/cgroup/memory/job/memory.memsw.usage_in_bytes": "2900\n",
        "sys/fs/cgroup/memory/job/memory.stat": "total_active_file 100\n",
        "sys/fs/cgroup/memory/memory.memsw.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/memory.memsw.usage_in_bytes": "99999\n",
      ], groups: [.init(limit: 2000, used: 1400), .init(limit: 3000, used: 2800)]),
    Sample(
      testDescription: "version 1 in a container, which sees the path on the host",
      files: [
        "proc/self/cgroup": "2:memory:/docker/0123\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "2000\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "1900\n",
      ], groups: [.init(limit: 2000, used: 1900)]),
    Sample(
      testDescription: "both versions: version 2 has a folder of its own",
      files: [
        "proc/self/cgroup": "2:memory:/a\n0::/a\n", "sys/fs/cgroup/unified/a/memory.pressure": stall("7.00"),
        "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "10\n",
        "sys/fs/cgroup/memory/a/memory.usage_in_bytes": "9\n",
      ], pressure: 7, groups: [.init(limit: 10, used: 9)]),
  ])
  func `what the kernel says of memory is read, whichever version of control groups it has`(sample: Sample) throws {
    let folder = try TemporaryFolder()
    for (path, text) in sample.files {
      let url = URL(fileURLWithPath: folder.file(path))
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    #expect(
      MemoryReading(root: folder.path) == MemoryReading(pressure: sample.pressure, groups: sample.groups))
  }
}
