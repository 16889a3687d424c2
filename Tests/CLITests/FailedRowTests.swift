import Foundation
import TestSupport
import Testing

/// What a row tells of its failure, and what it does not.
@Suite(.blocking) struct FailedRowTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  @Test func `a failed row names what a redirect asked for`() throws {
    let server = try PythonServer(
      PythonServer.prelude + """
        def answer(connection, path):
            head = "HTTP/1.1 404 Not Found\\r\\n"
            if path == "/moved":
                port = connection.getsockname()[1]
                head = "HTTP/1.1 302 Found\\r\\n"
                head += "Location: http://user:hush@127.0.0.1:%d/gone/a.jpg?signature=1\\r\\n" % port
            connection.sendall((head + "Content-Length: 0\\r\\nConnection: close\\r\\n\\r\\n").encode())

        serve()
        """)
    try folders.drop("job.txt", server.url("moved") + "\n" + server.url("gone") + "\n")
    #expect(try folders.run([]).status == 1)
    let rows = try folders.report("job").entries
    #expect(rows[0].final_url == server.url("gone/a.jpg?signature=1"))
    let place = "127.0.0.1:\(server.port)/gone/a.jpg"
    #expect(rows[0].error?.message == "\(server.url("moved")), redirected to \(place), answered with status 404")
    #expect(rows[1].final_url == nil)
    #expect(rows[1].error?.message == "\(server.url("gone")) answered with status 404")
  }

  @Test(arguments: [
    ("job.json", #"{"https://user:hush-4711@h/x": "coffee.jpg", "user:hush-4711@h": {"url": "missing.jpg"}}"#),
    ("job.jsonl", #"{"name": "https://user:hush-4711@h/x", "url": "coffee.jpg"}"#),
    ("job.csv", "name,url,after\nhttps://user:hush-4711@h/x,coffee.jpg,\nb,coffee.jpg,https://user:hush-4711@h/x\n"),
    ("job.json", #"{"https://user:hush-4711@h/x": "a.jpg", "https://user:hush-4711@h/x": "b.jpg"}"#),
    ("job.json", #"{"https://user:hush-4711@h/x": {"url": "a.jpg", "filtres": "none"}}"#),
    ("job.json", #"{"https://user:hush-4711@h/x": 4, "https://other:hush-4711@h/x": {"url": "a", "quality": 0}}"#),
    ("job.json", #"{"a": {"url": "a.jpg", "https://user:hush-4711@h/x": "none"}}"#),
    ("job.jsonl", #"{"url": "a.jpg", "name": "a", "after": ["https://user:hush-4711@h/x"]}"#),
    ("job.jsonl", #"{"url": "a.jpg", "https://user:hush-4711@h/x": {"b": 1, "b": 2}}"#),
    (
      "job.plist",
      "<plist><dict><key>https://user:hush-4711@h/x</key><string>a</string><key>https://user:hush-4711@h/x</key>"
        + "<string>b</string></dict></plist>"
    ),
  ])
  func `secrets in names and keys are in no log, event, report, page, name or ledger`(
    file: String, text: String
  ) throws {
    let secret = "hush-4711"
    try folders.drop(file, text)
    let check = try DarkroomCommand.run(["check", "--json", folders.inbox + "/" + file])
    #expect(!(check.output + check.error).contains(secret), "\(check.output)")
    let run = try folders.run(["--json", "--verbose", "--filters", "none", "--keep-originals"])
    #expect([0, 1, 65].contains(run.status))
    #expect(!run.output.contains(secret) && !run.error.contains(secret), "\(run.error)")
    let mayHold = [String(file.split(separator: ".")[1])].map { "job/manifest.\($0)" } + ["job/job.failed.jsonl"]
    for found in try folders.files() {
      #expect(!found.contains(secret))
      guard try folders.contents(found).range(of: Data(secret.utf8)) != nil else { continue }
      #expect(mayHold.contains(found), "\(found)")
      #expect(try folders.mode(found) == 0o600, "\(found)")
    }
    if run.status == 0 { #expect(folders.exists("job/images/https_/h/x.jpg")) }
  }

  @Test func `secrets of what is nearly a URL are in no log, event, report, name, ledger or cache`() throws {
    let secret = "hush-4711"
    let urls = [
      "https//user:\(secret)@h/p.jpg", "https:\\\\user:\(secret)@h\\p", "user:\(secret)@h/p", "\(secret):x@h/p",
      "//user:\(secret)@h/p", "https//user:\(secret)@h", "https: //u:\(secret)@h/p", "<https://u:\(secret)@h/p>",
      "https/u:\(secret)@h/p", "https://u:\(secret)@h h/", "htp://u:\(secret)@h/p",
    ]
    try folders.drop("job.txt", urls.joined(separator: "\n"))
    let check = try DarkroomCommand.run(["check", "--json", folders.inbox + "/job.txt"])
    #expect(!(check.output + check.error).contains(secret), "\(check.output)")
    let run = try folders.run(["--verbose", "--json", "--retries", "0"]).expect(status: 1)
    #expect(!run.output.contains(secret) && !run.error.contains(secret), "\(run.error)")
    #expect(try folders.report("job").counts.failed == urls.count)
    var holders: [String] = []
    for file in try folders.files() {
      #expect(!file.contains(secret))
      if try folders.contents(file).range(of: Data(secret.utf8)) != nil {
        holders.append(file)
        #expect(try folders.mode(file) == 0o600, "\(file)")
      }
    }
    #expect(holders.sorted() == ["job/job.failed.jsonl", "job/manifest.txt"])
    for command in ["add", "check"] {
      let refused = try DarkroomCommand.run([command] + (command == "add" ? folders.named : []) + [urls[0]])
      #expect(refused.status != 0 && !(refused.output + refused.error).contains(secret), "\(refused.error)")
    }
  }

  @Test func `a pause in which the program is killed counts until then`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    let lock = folders.inbox + "/x.lock"
    try Data().write(to: URL(fileURLWithPath: lock))
    let run = try folders.start("run", ["--filters", "none"])
    #expect(try run.waitForLine(containing: "job: 1 entry") != nil)
    // It is the pause that is measured.
    Thread.sleep(forTimeInterval: 4)
    try run.kill()
    try FileManager.default.removeItem(atPath: lock)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    let report = try folders.report("job")
    #expect(report.pauses?.count == 1)
    #expect(report.paused_s >= 1.5 && report.paused_s <= report.duration_s, "\(report.paused_s)")
  }

  @Test func `a run takes as long as from its beginning to its end`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try folders.run([]).status == 0)
    let report = try folders.report("job")
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let times = try [report.started_at, report.finished_at].map { try Date($0, strategy: style) }
    let shown = times[1].timeIntervalSince(times[0])
    #expect(abs(shown - report.duration_s) < 0.0005, "\(shown), \(report.duration_s)")
  }
}
