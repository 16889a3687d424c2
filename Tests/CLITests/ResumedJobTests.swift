import Foundation
import TestSupport
import Testing

/// Which of the jobs that an earlier process left a start works on.
@Suite(.blocking) struct ResumedJobTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  /// Leaves a job of three entries of which none has ended.
  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("left.txt", (0..<3).map { server.url("\($0)") + "\n" }.joined())
    let run = try folders.start("run", ["--downloads", "1", "--filters", "none", "--grace", "0"])
    _ = try server.nextRequest()
    run.send(SIGTERM)
    let finished = try run.finish().expect(status: 143)
    #expect(finished.error.contains("left: 0 of 3 done; the next start goes on"))
    try server.release(100)
  }

  private var fewOptions: [String] {
    folders.named + ["--settle", "0", "--poll-interval", "0.05", "--filters", "none"]
  }

  private func states() throws -> [String: String] {
    let status = try DarkroomProcess.run(["status", "--json"] + folders.named).expect(status: 0)
    #expect(try JSONSchema.violations(of: Data(status.output.utf8), name: "status.schema.json") == "")
    let jobs = try #require(try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any])
    return Dictionary(
      (jobs["jobs"] as? [[String: Any]] ?? []).map { ($0["job"] as? String ?? "", $0["state"] as? String ?? "") },
      uniquingKeysWith: { first, _ in first })
  }

  @Test func `run MANIFEST leaves other unfinished jobs to the next plain start`() throws {
    let other = try folders.folder.write("coffee.jpg\n", as: "other.txt")
    let named = try folders.run(["--filters", "none", other]).expect(status: 0)
    #expect(named.output == folders.outbox + "/other/report.json\n")
    #expect(try !folders.exists("left/report.json") && states() == ["left": "waiting"])
    try folders.run(["--filters", "none"]).expect(status: 0)
    #expect(try folders.report("left").counts == Report.Counts(total: 3, filtered: 3))
  }

  @Test func `a job waits for the options with which it was accepted, instead of failing`() throws {
    let run = try DarkroomProcess.run(["run"] + fewOptions).expect(status: 75)
    let why = "it was accepted with --allow-net 127.0.0.0/8, --file-root \(packageRoot)/Samples"
    #expect(run.error.contains("job left waits: \(why); start with that, or cancel it"))
    let status = try DarkroomProcess.run(["status"] + folders.named).expect(status: 0)
    #expect(status.output.contains("job left waits: \(why)"))
    #expect(try states() == ["left": "waiting"])
    try folders.run(["--filters", "none"]).expect(status: 0)
    #expect(try folders.report("left").counts == Report.Counts(total: 3, filtered: 3))
  }

  @Test func `a job that was cancelled meanwhile is not said to wait for its options`() throws {
    try DarkroomCommand.run(["cancel", "left"] + folders.named).expect(status: 0)
    let run = try DarkroomProcess.run(["run"] + fewOptions)
    #expect(run.error.contains("left: cancelled, as requested") && !run.error.contains("waits"), "\(run.error)")
  }

  @Test func `what a job waits for is mailed once by --quiet, and again when it is something else`() throws {
    let quiet = fewOptions + ["--quiet"]
    #expect(try DarkroomProcess.run(["run"] + quiet).expect(status: 75).error.contains("job left waits: "))
    #expect(try DarkroomProcess.run(["run"] + quiet).expect(status: 75).error == "")
    #expect(try DarkroomProcess.run(["run"] + fewOptions).expect(status: 75).error.contains("job left waits: "))
    let root = ["--file-root", packageRoot + "/Samples"]
    let other = try DarkroomProcess.run(["run"] + quiet + root).expect(status: 75).error
    #expect(other.contains("job left waits: it was accepted with --allow-net 127.0.0.0/8; start"), "\(other)")
  }

  @Test func `watch works on a job when its configuration covers what it needs`() throws {
    let file = try folders.folder.write("{}", as: "darkroom.json")
    let watch = try DarkroomProcess(["watch"] + fewOptions + ["--config", file])
    #expect(try watch.waitForLine(containing: "job left waits: ") != nil)
    try folders.folder.write(
      #"{ "allow-net": "127.0.0.0/8", "file-root": "\#(packageRoot)/Samples" }"#, as: "darkroom.json")
    watch.send(SIGHUP)
    #expect(try watch.waitForLine(containing: "left: succeeded") != nil)
    watch.send(SIGTERM)
    try watch.finish().expect(status: 0)
  }

  @Test func `run says when it has not accepted a list, and names what is in the way of a job`() throws {
    try folders.run(["--filters", "none"]).expect(status: 0)
    let full = try DarkroomProcess.run(
      script: "echo coffee.jpg | \(folders.line("run", ["--min-free", "1000000G", "--lock-wait", "0.1", "-"]))",
      in: folders.folder)
    full.expect(status: 75)
    #expect(full.error.contains("stdin.txt was NOT accepted, and the next start does not know it: name it again"))
    #expect(try states() == [:])

    try folders.drop("blocked.txt", "coffee.jpg\n")
    let blocked = try folders.run(
      ["--lock-wait", "0.1"], injecting: "mkdirat:error=EIO", about: folders.outbox)
    blocked.expect(status: 75)
    #expect(blocked.error.contains("s, the limit of --lock-wait: job blocked: "))
    let status = try DarkroomProcess.run(["status"] + folders.named)
    #expect(status.output.contains("job blocked is in trouble, and tried again: "))
  }

  @Test func `a request to cancel a job that waits is kept by runs that leave it, and ends it`() throws {
    try FileManager.default.removeItem(atPath: folders.inbox + "/left.txt")
    try DarkroomProcess.run(["cancel", "left"] + folders.named).expect(status: 0)
    let other = try folders.folder.write("coffee.jpg\n", as: "other.txt")
    try folders.run(["--filters", "none", other]).expect(status: 0)
    try DarkroomProcess.run(["run"] + fewOptions).expect(status: 1)
    #expect(try folders.report("left").state == "cancelled")
  }

  @Test func `a named manifest whose job is resumed, or waits, is or is not accepted`() throws {
    let other = try folders.folder.write("other.jpg\n", as: "left.txt")
    let held = try DarkroomProcess.run(["run"] + fewOptions + [other]).expect(status: 75)
    #expect(held.error.contains("left.txt was NOT accepted"))
    try folders.run(["--filters", "none"]).expect(status: 0)
    let gated = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let named = try folders.folder.write(gated.url("a") + "\n", as: "named.txt")
    for _ in 1...2 {
      let run = try folders.start("run", ["--filters", "none", "--grace", "0", named])
      _ = try gated.nextRequest()
      run.send(SIGTERM)
      let finished = try run.finish().expect(status: 143)
      #expect(finished.error.contains("named: 0 of 1 done; the next start goes on"))
      #expect(!finished.error.contains("NOT accepted"))
    }
    try gated.release(9)
  }

  @Test func `a manifest that is being accepted when the time is over is not done`() throws {
    try folders.run(["--filters", "none"]).expect(status: 0)
    // The snapshot of the manifest takes long.
    let named = try folders.folder.write("coffee.jpg\n", as: "named.txt")
    let run = try DarkroomProcess.run(
      script: "strace -f -qq -o /dev/null -e trace=fsync -e inject=fsync:delay_enter=1500000 "
        + folders.line("run", ["--max-duration", "0.5", named]), in: folders.folder)
    run.expect(status: 75)
    let isAccepted = run.error.contains("named: accepted; the next start goes on")
    #expect(isAccepted || run.error.contains("NOT accepted"), "\(run.error)")
    // Users who cannot read the ledger find it in the status.
    let status = String(decoding: try folders.contents(".darkroom/status.json"), as: UTF8.self)
    #expect(status.contains(#""job":"named""#) == isAccepted, "\(run.error)\(status)")
  }
}
