import Foundation
import TestSupport
import Testing

/// The folder of `--file-root` is not there, such as a share that is not mounted.
@Suite(.blocking) struct FileRootTroubleTests {
  private let folders: DarkroomFolders
  private var root: String { folders.folder.file("nas") }

  init() throws { folders = try DarkroomFolders() }

  @Test(arguments: [
    ["status"], ["pause"], ["resume"], ["gc"], ["filters"], ["wait", "--timeout", "1", "job"],
    ["add", "http://127.0.0.1/a"],
  ])
  func `commands that read no files work without it`(words: [String]) throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    try folders.run(["--filters", "none"]).expect(status: 0)
    let given = words == ["filters"] ? [] : folders.named
    let run = try DarkroomProcess.run(words + given, environment: ["DARKROOM_FILE_ROOT": root])
    #expect(run.status == 0, "\(run.error)")
  }

  @Test(arguments: [["run"], ["watch"], ["check", "m.txt"], ["shard", "split", "--shards", "2", "m.txt", "s"]])
  func `commands that read files end with 66 and name it`(words: [String]) throws {
    try folders.folder.write("a.jpg\n", as: "m.txt")
    let given = ["run", "watch"].contains(words[0]) ? folders.named : []
    let run = try DarkroomProcess.run(words + given, in: folders.folder, environment: ["DARKROOM_FILE_ROOT": root])
    run.expect(status: 66)
    #expect(run.error.contains("DARKROOM_FILE_ROOT") && run.error.contains(root), "\(run.error)")
  }

  @Test func `doctor says so, and gc needs no program and no headers`() throws {
    let doctor = try DarkroomProcess.run(["doctor", "--file-root", root] + folders.named).expect(status: 1)
    #expect(doctor.output.contains("file-root") && doctor.output.contains(root), "\(doctor.output)")
    try folders.folder.write(
      #"{"exec": "/missing", "hosts": {"h": {"headers-file": "missing"}}, "allow-net": []}"#, as: "c.json")
    try DarkroomProcess.run(["gc", "--config", folders.folder.file("c.json")] + folders.named).expect(status: 0)
  }

  @Test func `entries fail with an error that is retried and names the folder when it goes away`() throws {
    try folders.folder.makeFolder("nas")
    try FileManager.default.copyItem(atPath: packageRoot + "/Samples/coffee.jpg", toPath: root + "/a.jpg")
    let watch = try folders.watch(["--file-root", root, "--filters", "none"])
    #expect(rename(root, root + "-away") == 0)
    try folders.drop("job.txt", "a.jpg\nmissing/b.jpg\n")
    #expect(try watch.waitForLine(containing: "job: failed") != nil)
    for entry in try folders.report("job").entries {
      #expect(entry.error?.code == "io" && entry.error?.retryable == true, "\(entry)")
      #expect(entry.error?.message.contains("the folder of --file-root is missing: \(root)") == true, "\(entry)")
    }
    #expect(rename(root + "-away", root) == 0)
    try DarkroomProcess.run(["retry", "job"] + folders.named).expect(status: 0)
    #expect(try watch.waitForLine(containing: "job: partial") != nil)
    let codes = try folders.report("job").entries.map { $0.error?.code }
    #expect(codes == [nil, "file-not-found"], "\(codes)")
    try watch.stop()
  }
}
