import Foundation
import TestSupport
import Testing

/// `--notify`: the head of each report is posted to a receiver.
@Suite(.blocking) struct NotificationTests {
  private let folders: DarkroomFolders
  private var metrics: String { folders.folder.file("darkroom.prom") }

  init() throws { folders = try DarkroomFolders() }

  private func run(
    _ url: String, _ more: [String] = [], secret: String? = NotificationReceiver.secret
  ) throws -> DarkroomProcess.Finished {
    try DarkroomProcess.run(
      ["run"] + folders.options + ["--notify", url, "--metrics", metrics] + more,
      environment: secret.map { ["DARKROOM_NOTIFY_SECRET": $0] } ?? [:])
  }

  private func hasMetric(_ line: String) throws -> Bool {
    try String(contentsOfFile: metrics, encoding: .utf8).contains("\ndarkroom_notifications_\(line)\n")
  }

  /// Everything that a report has before its entries is in the notification, too.
  private func expectHead(of path: String, in request: NotificationReceiver.Request) throws {
    let report = try #require(try JSONSerialization.jsonObject(with: folders.contents(path)) as? [String: Any])
    func text(_ value: Any?) throws -> Data {
      try JSONSerialization.data(withJSONObject: [value ?? "none"], options: .sortedKeys)
    }
    for (key, value) in report where key != "entries" {
      #expect(try text(value) == text(request.members[key]), "\(key)")
    }
    #expect(request.id == report["run_id"] as? String)
    #expect(try JSONSchema.violations(ofDocument: Data(request.body.utf8), name: "notification.schema.json") == "")
  }

  @Test func `status and metrics say how many are not delivered`() throws {
    let watch = try folders.start("watch", ["--notify", "http://127.0.0.1:1/", "--metrics", metrics])
    try folders.drop("a.txt", "coffee.jpg\n")
    let status = try eventually({ try folders.statusText() }, is: { $0.contains("notices") })
    #expect(status.contains(#""notices":{"notify":1}"#), "\(status)")
    #expect(try folders.ask("status").output.contains("\n1 notification is not delivered\n"))
    #expect(try eventually({ try hasMetric("waiting 1") }, is: { $0 }))
    try watch.kill()
  }

  @Test func `each run that ends is posted once, signed, with its head and its first failures`() throws {
    let receiver = try NotificationReceiver("204")
    let missing = (0..<120).map { "m\($0).jpg\n" }.joined()
    let manifests = [
      "good.txt": "coffee.jpg\n", "some.txt": "coffee.jpg\nhttp://user:password@127.0.0.1:9/a.jpg\n",
      "none.txt": missing, "bad.json": "{",
    ]
    for (name, text) in manifests { try folders.drop(name, text) }
    let url = receiver.url("hook?token=1")
    let run = try run(url).expect(status: 65)
    let requests = try receiver.requestsSoFar()
    #expect(requests.count == 4 && requests.allSatisfy { $0.method == "POST" && $0.path == "/hook?token=1" })
    for request in requests {
      #expect(request.isSigned && request.headers["content-type"] == "application/json")
      #expect(request.headers["darkroom-event"] == "job-ended" && request.headers["darkroom-id"] == request.id)
      #expect(request.headers["user-agent"]?.hasPrefix("darkroom/") == true)
      try expectHead(of: "\(request.members["job"] as? String ?? "")/report.json", in: request)
    }
    let byState = Dictionary(requests.map { ($0.state ?? "", $0.members) }, uniquingKeysWith: { $1 })
    #expect(byState.keys.sorted() == ["failed", "partial", "rejected", "succeeded"])
    func failures(_ state: String) -> [[String: Any]]? { byState[state]?["failures"] as? [[String: Any]] }
    #expect(failures("succeeded")?.isEmpty == true && failures("rejected")?.isEmpty == true)
    #expect(failures("partial")?.first?["url"] as? String == "http://127.0.0.1:9/a.jpg")
    #expect(failures("failed")?.compactMap { $0["name"] as? String } == (0..<100).map { "m\($0)" })
    #expect(byState["failed"]?["failures_total"] as? Int == 120)
    #expect(try hasMetric(#"total{result="delivered"} 4"#) && hasMetric("waiting 0"))
    #expect(!run.error.contains("notification"))

    #expect(try self.run(url).expect(status: 0).error.contains("nothing to do"))
    #expect(try receiver.requestsSoFar().isEmpty)
  }

  @Test(arguments: [
    ("succeeded", "\"coffee.jpg\"\n"), ("partial", "\"coffee.jpg\"\n\"missing.jpg\"\n"),
    ("failed", "\"missing.jpg\"\n"),
    ("cancelled", "\"URL\"\n"), ("rejected", "{"),
  ])
  func `each state in which a job ends is posted, given to the program, and counted, once`(
    state: String, manifest: String
  ) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let receiver = try NotificationReceiver("204")
    let script = "#!/bin/sh\necho told $DARKROOM_JOB_NAME $DARKROOM_JOB_STATE; head -n 4 \"$DARKROOM_JOB_REPORT\"\n"
    let program = try folders.folder.writeProgram(script, as: "program")
    let watch = try folders.watch([
      "--notify", receiver.url(), "--exec", program, "--metrics", metrics, "--filters", "none",
    ])
    try folders.drop("job.jsonl", manifest.replacing("URL", with: server.url("a")))
    if state == "cancelled" {
      _ = try server.nextRequest()
      try folders.ask("cancel", ["job"]).expect(status: 0)
    }
    let request = try receiver.nextRequest()
    let report = try folders.report("job")
    #expect(request.state == state && report.state == state && request.id == report.run_id)
    try expectHead(of: "job/report.json", in: request)
    let said = try watch.stop().error
    #expect(said.split(separator: "told job \(state)").count == 2 && said.contains(report.run_id), "\(said)")
    #expect(try receiver.requestsSoFar().isEmpty && hasMetric(#"total{result="delivered"} 1"#))
    let text = try String(contentsOfFile: metrics, encoding: .utf8)
    let counts = text.matches(of: /jobs_ended_total\{state="(\w+)"\} 1\n/).map { String($0.1) }
    #expect(counts == [state], "\(text)")
  }

  @Test func `a run that was superseded is no end of its job, and is not posted; one that was cancelled is`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let receiver = try NotificationReceiver("200")
    func manifest(_ names: String...) -> String { names.map { "\"\(server.url($0))\"\n" }.joined() }
    try folders.drop("job.jsonl", manifest("a", "b", "c"))
    let watch = try folders.start(
      "watch", ["--downloads", "1", "--filters", "none", "--verbose", "--notify", receiver.url(), "--metrics", metrics])
    _ = try server.nextRequest()
    try server.release(1)
    #expect(try watch.waitForLine(containing: ": filtered") != nil)
    _ = try server.nextRequest()
    try folders.drop("job.jsonl", manifest("d", "e"))
    #expect(try watch.waitForLine(containing: "job: 2 entries") != nil)
    // A manifest that would replace it, and is rejected.
    try folders.drop("job.jsonl", "{")
    let rejected = try receiver.nextRequest()
    #expect(rejected.state == "rejected" && rejected.headers["darkroom-signature"] == nil)
    try expectHead(of: "job/history/\(rejected.id ?? "")/report.json", in: rejected)
    try folders.ask("cancel", ["job"]).expect(status: 0)
    let cancelled = try receiver.nextRequest()
    #expect(cancelled.state == "cancelled" && cancelled.id != rejected.id)
    #expect(try watch.waitForLine(containing: "job: its notification was delivered") != nil)
    try watch.stop()
    #expect(try receiver.requestsSoFar().isEmpty)
    #expect(try hasMetric(#"total{result="delivered"} 2"#))
  }

  @Test func `one that fails is tried again, with the same id`() throws {
    let receiver = try NotificationReceiver("500", "204")
    try folders.drop("a.txt", "coffee.jpg\n")
    let run = try run(receiver.url(), ["--json"]).expect(status: 0)
    let requests = try receiver.requestsSoFar()
    #expect(requests.count == 2 && requests.first?.id == requests.last?.id && requests.first?.id != nil)
    #expect(run.error.contains("the next try in 1.0 s: http://127.0.0.1:\(receiver.port) answers with status 500"))
    #expect(run.output.contains(#""event":"notification""#) && run.output.contains(#""result":"failed""#))
    #expect(try JSONSchema.violations(of: Data(run.output.utf8), name: "events.schema.json") == "")
    #expect(try hasMetric(#"total{result="failed"} 1"#) && hasMetric(#"total{result="delivered"} 1"#))
  }

  @Test func `a redirect is a failure, and its target is not asked`() throws {
    let target = try NotificationReceiver("204")
    let receiver = try NotificationReceiver("307 \(target.url())")
    try folders.drop("a.txt", "coffee.jpg\n")
    let watch = try folders.watch(["--notify", receiver.url()])
    #expect(try watch.waitForLine(containing: "status 307, and redirects are not followed") != nil)
    #expect(try watch.stop().error.contains("1 notification was not delivered: left for the next start"))
    #expect(try target.requestsSoFar().isEmpty)
  }

  @Test func `a receiver that is gone ends the tries at once`() throws {
    let receiver = try NotificationReceiver("410")
    try folders.drop("a.txt", "coffee.jpg\n")
    let run = try run(receiver.url(), ["--quiet"]).expect(status: 0)
    #expect(run.error.contains("warning: the notification of job a is given up: ") && run.error.contains("410"))
    #expect(try receiver.requestsSoFar().count == 1 && hasMetric(#"total{result="given-up"} 1"#))
    try self.run(receiver.url()).expect(status: 0)
    #expect(try receiver.requestsSoFar().isEmpty)
  }

  enum Loss: CaseIterable {
    case stoppedWhileItHangs, killedWhileItHangs, stoppedWithoutReceiver
  }

  @Test(arguments: Loss.allCases)
  func `what is not delivered when the process ends is delivered by the next one with the option`(loss: Loss) throws {
    let receiver = try NotificationReceiver("hang")
    let isAbsent = loss == .stoppedWithoutReceiver
    let url = isAbsent ? "http://127.0.0.1:9/" : receiver.url()
    let watch = try folders.watch(["--notify", url, "--grace", "0.2", "--metrics", metrics])
    try folders.drop("a.txt", "coffee.jpg\n")
    let id: String?
    if isAbsent {
      #expect(try watch.waitForLine(containing: "its notification was not delivered") != nil)
      id = try folders.report("a").run_id
    } else {
      id = try receiver.nextRequest().id
      // Another job is not held up.
      try folders.drop("b.txt", "chelsea.jpg\n")
      #expect(try watch.waitForLine(containing: "b: succeeded") != nil)
    }
    if loss == .killedWhileItHangs {
      try watch.kill()
    } else {
      #expect(try watch.stop().error.contains("left for the next start"))
      #expect(try hasMetric("waiting \(isAbsent ? 1 : 2)"))
    }
    // A start without the option leaves them.
    #expect(try !folders.run().expect(status: 0).error.contains("left for the next start"))
    let next = try NotificationReceiver("204")
    try run(next.url()).expect(status: 0)
    let requests = try next.requestsSoFar()
    #expect(requests.first?.id == id && requests.count == (isAbsent ? 1 : 2) && requests.allSatisfy(\.isSigned))
    try expectHead(of: "a/report.json", in: try #require(requests.first))
    #expect(try hasMetric("waiting 0"))
  }

  @Test(arguments: Array(stride(from: 1, through: 22, by: 3)))
  func `a crash at any moment neither loses nor invents one`(call: Int) throws {
    let receiver = try NotificationReceiver("204")
    try folders.drop("a.txt", "coffee.jpg\n")
    let options = ["--filters", "none", "--notify", receiver.url()]
    _ = try folders.run(options, injecting: "fsync,fdatasync,renameat2,unlinkat:signal=KILL:when=\(call)")
    try folders.run(options).expect(status: 0)
    let requests = try receiver.requestsSoFar()
    #expect(Set(requests.map(\.id)) == [try folders.report("a").run_id])
    try expectHead(of: "a/report.json", in: try #require(requests.last))
  }

  @Test func `user name, password, path and key appear nowhere`() throws {
    let receiver = try NotificationReceiver("500", "204")
    try folders.drop("a.txt", "coffee.jpg\n")
    let secrets = ["user-of-the-test", "password-of-the-test", "path-of-the-test", NotificationReceiver.secret]
    let url = receiver.url(secrets[2], user: "\(secrets[0]):\(secrets[1])@")
    let run = try run(url, ["--verbose", "--json"]).expect(status: 0)
    let authorization = "Basic " + Data("\(secrets[0]):\(secrets[1])".utf8).base64EncodedString()
    #expect(try receiver.nextRequest().headers["authorization"] == authorization)
    let files = try folders.files().map { String(decoding: try folders.contents($0), as: UTF8.self) }
    for text in files + [run.output, run.error] { #expect(!secrets.contains(where: text.contains)) }
  }

  @Test func `the receiver of the documentation takes what is signed, once, and nothing else`() throws {
    let blocks = try Documentation.blocks(of: "Documentation/operations.md").filter { $0.isTagged("receiver") }
    let script = try #require(blocks.first).text
      .replacing(
        "8080), Receiver)\n",
        with: "0), Receiver)\nReceiver.log_message = lambda *a: None\nprint(server.server_port, flush=True)\n")
    let key = "import os\nos.environ[\"DARKROOM_NOTIFY_SECRET\"] = \"\(NotificationReceiver.secret)\"\n"
    let server = try PythonServer(key + script)
    try folders.drop("a.txt", "coffee.jpg\nmissing.jpg\n")
    let watch = try folders.watch(["--notify", server.url()])
    #expect(try watch.waitForLine(containing: "answers with status 403") != nil)
    try watch.stop()
    try run(server.url()).expect(status: 0)
    #expect(try server.nextLine() == "a partial 1")
  }
}
