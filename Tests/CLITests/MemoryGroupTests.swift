import Foundation
import TestSupport
import Testing

/// What the program does in a control group of the kernel whose memory is nearly used up.
@Suite(.blocking) struct MemoryGroupTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  /// A folder with the files of the kernel that say which control group a process is in, and what that uses; without the one
  /// that says what the other programs of the machine wait for.
  private func kernelRoot() throws -> String {
    let root = folders.folder.file("kernel")
    for (link, target) in [("/sys/fs/cgroup", "/sys/fs/cgroup"), ("/proc/self", "/proc/self")] {
      let folder = URL(fileURLWithPath: root + link).deletingLastPathComponent().path
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(atPath: root + link, withDestinationPath: target)
    }
    return root
  }

  @Test(.enabled(if: MemoryGroup.obstacle == nil, "\(MemoryGroup.obstacle ?? "")"))
  func `in a control group that is nearly full nothing starts; when there is memory again everything completes`() throws
  {
    // Of which 40 MiB are left for the program.
    let group = try MemoryGroup(limit: 1 << 30)
    defer { withExtendedLifetime(group) {} }
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let command = folders.line("watch", ["--json", "--filters", "none"])
    let watch = try DarkroomProcess(
      script: "echo $$ > '\(group.processes)'; exec \(command)", in: folders.folder,
      environment: ["DARKROOM_TEST_KERNEL_ROOT": try kernelRoot()])
    #expect(try watch.waitForLine(containing: "watching") != nil)
    var ballast: MemoryBallast? = try MemoryBallast(in: group)
    try folders.drop("job.txt", (0..<3).map { server.url("\($0)") + "\n" }.joined())
    let line = try watch.waitForLine(containing: "paused: memory (")
    #expect(line?.contains(" of a control group are in use") == true, "\(line ?? "")")
    let status = try eventually(
      { try folders.ask("status", ["--json"]).output }, is: { $0.contains(#""cause":"memory""#) })
    #expect(status.contains(#""cause":"memory""#), "\(status)")
    #expect(try JSONSchema.violations(of: Data(status.utf8), name: "status.schema.json") == "")
    try server.note("none")
    #expect(try server.nextRequest() == "/none")
    withExtendedLifetime(ballast) {}
    ballast = nil
    #expect(try watch.waitForLine(containing: "resumed: there is memory again") != nil)
    try server.release(3)
    #expect(try watch.waitForLine(containing: "job: succeeded: 3 filtered") != nil)
    let ended = try watch.stop()
    #expect(try JSONSchema.violations(of: Data(ended.output.utf8), name: "events.schema.json") == "")
    let report = try folders.validReport("job")
    #expect(report.counts == Report.Counts(total: 3, filtered: 3))
    #expect(report.pauses?.map(\.cause) == ["memory"] && report.paused_s > 0)
  }
}
