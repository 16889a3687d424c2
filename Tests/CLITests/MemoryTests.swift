import Foundation
import TestSupport
import Testing

/// What the program does when the kernel says that memory is scarce. The kernel's files are the test's own.
@Suite(.blocking) struct MemoryTests {
  private let folders: DarkroomFolders
  private let kernel: TemporaryFolder

  init() throws {
    folders = try DarkroomFolders()
    kernel = try TemporaryFolder()
  }

  /// Kinds of scarce memory.
  enum Scarce: CaseIterable { case machine, group, version2, version1, version1WithSwap }

  private func write(_ path: String, _ text: String) throws {
    let url = URL(fileURLWithPath: kernel.file(path))
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url, options: .atomic)
  }

  private func set(_ kind: Scarce, isScarce: Bool) throws {
    let stall = "full avg10=\(isScarce ? "40.00" : "1.00") avg60=9.00 avg300=9.00 total=9\n"
    let used = isScarce ? "9600\n" : "9400\n"
    switch kind {
    case .machine: try write("proc/pressure/memory", stall)
    case .group:
      try write("proc/self/cgroup", "0::/job\n")
      try write("sys/fs/cgroup/job/memory.pressure", stall)
    case .version2:
      try write("proc/self/cgroup", "0::/job\n")
      try write("sys/fs/cgroup/job/memory.max", "10000\n")
      try write("sys/fs/cgroup/job/memory.stat", "active_file 200\ninactive_file 200\n")
      try write("sys/fs/cgroup/job/memory.current", "\((isScarce ? 9500 : 9400) + 400)\n")
    case .version1:
      try write("proc/self/cgroup", "2:memory:/\n")
      try write("sys/fs/cgroup/memory/memory.limit_in_bytes", "10000\n")
      try write("sys/fs/cgroup/memory/memory.usage_in_bytes", used)
    case .version1WithSwap:
      try write("proc/self/cgroup", "2:memory:/\n")
      try write("sys/fs/cgroup/memory/memory.limit_in_bytes", "8000\n")
      try write("sys/fs/cgroup/memory/memory.usage_in_bytes", "7000\n")
      try write("sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", "10000\n")
      try write("sys/fs/cgroup/memory/memory.memsw.usage_in_bytes", used)
    }
  }

  private func start(_ command: String, _ options: [String] = [], patience: String = "600") throws -> DarkroomProcess {
    try DarkroomProcess(
      [command] + folders.options + ["--filters", "none"] + options,
      environment: ["DARKROOM_TEST_KERNEL_ROOT": kernel.path, "DARKROOM_TEST_MEMORY_PATIENCE": patience])
  }

  @Test(arguments: Scarce.allCases)
  func `while memory is scarce nothing starts; then everything completes`(kind: Scarce) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try set(kind, isScarce: true)
    try folders.drop("job.txt", (0..<3).map { server.url("\($0)") + "\n" }.joined())
    let run = try start("run", ["--json"])
    #expect(try run.waitForLine(containing: "paused: memory (") != nil)
    // The status is written once a second.
    while try !DarkroomProcess.run(["status", "--json"] + folders.named).output.contains("\"cause\":\"memory\"") {}
    try server.note("none")
    #expect(try server.nextRequest() == "/none")
    try set(kind, isScarce: false)
    #expect(try run.waitForLine(containing: "resumed: there is memory again") != nil)
    try server.release(3)
    let ended = try run.finish().expect(status: 0)
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 3, filtered: 3))
    #expect(report.pauses?.map(\.cause) == ["memory"] && report.paused_s > 0)
    let events = ended.output.split(separator: "\n").filter { $0.contains("\"cause\":\"memory\"") }
    #expect(events.count == 2, "\(ended.output)")
  }

  /// Kernels that say nothing of memory that can be used.
  enum Silent: CaseIterable { case nothing, noFolders, noGroup, unknownGroup, unlimited1, torn }

  @Test(arguments: Silent.allCases)
  func `where the kernel offers neither pressure nor the limit of a control group, nothing is held back`(kind: Silent)
    throws
  {
    switch kind {
    case .nothing: break
    case .noFolders: try FileManager.default.removeItem(atPath: kernel.path)
    case .noGroup: try write("proc/self/cgroup", "")
    case .unknownGroup: try write("proc/self/cgroup", "0::/away\n4:memory:/away\n")
    case .unlimited1:
      try write("proc/self/cgroup", "4:memory:/\n")
      for part in ["memory", "memory.memsw"] {
        try write("sys/fs/cgroup/memory/\(part).limit_in_bytes", "9223372036854771712\n")
        try write("sys/fs/cgroup/memory/\(part).usage_in_bytes", "9223372036854771000\n")
      }
    case .torn:
      try write("proc/pressure/memory", "full avg")
      try write("proc/self/cgroup", "4:memory")
    }
    try folders.drop("job.txt", "coffee.jpg\n")
    let run = try start("run").finish()
    #expect(run.status == 0 && !run.error.contains("memory"), "\(run.error)")
    #expect(try folders.report("job").pauses == nil)
  }

  @Test func `what runs when memory becomes scarce is finished`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("job.txt", (0..<2).map { server.url("\($0)") + "\n" }.joined())
    let run = try start("run", ["--downloads", "1"])
    #expect(try server.nextRequest() == "/0")
    try set(.machine, isScarce: true)
    #expect(try run.waitForLine(containing: "paused: memory (") != nil)
    try server.release(1)
    // It is downloaded and waits for its filtration; the other has not begun.
    while try !DarkroomProcess.run(["status", "--json"] + folders.named).output.contains(
      #""filtration":{"limit":\#(ProcessInfo.processInfo.activeProcessorCount),"running":0,"waiting":1}"#)
    {}
    try set(.machine, isScarce: false)
    #expect(try server.nextRequest() == "/1")
    try server.release(1)
    #expect(try run.finish().status == 0)
  }

  @Test func `when memory stays scarce, one operation at a time goes on`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try set(.machine, isScarce: true)
    try folders.drop("job.txt", (0..<4).map { server.url("\($0)") + "\n" }.joined())
    let run = try start("run", ["--downloads", "4"], patience: "0.4")
    for number in 0..<4 {
      #expect(try server.nextRequest() == "/\(number)")
      if number == 0 {
        while try !DarkroomProcess.run(["status"] + folders.named).output.contains("one operation at a time goes on") {}
      }
      try server.note("none")
      #expect(try server.nextRequest() == "/none")
      try server.release(1)
    }
    try run.finish().expect(status: 0)
    let report = try folders.report("job")
    #expect(report.counts.filtered == 4 && report.pauses?.map(\.cause) == ["memory"])
  }

  @Test func `a signal and the end of --lock-wait end a run that is held back`() throws {
    try set(.machine, isScarce: true)
    try folders.drop("job.txt", "coffee.jpg\n")
    let run = try start("run")
    #expect(try run.waitForLine(containing: "paused: memory (") != nil)
    run.send(SIGTERM)
    #expect(try run.finish().status == 143)
    let short = try start("run", ["--lock-wait", "0.1"]).finish()
    #expect(short.status == 75 && short.error.contains("memory (programs wait for memory"), "\(short.error)")
    try set(.machine, isScarce: false)
    #expect(try start("run").finish().status == 0)
    #expect(try folders.report("job").counts.filtered == 1)
  }
}
