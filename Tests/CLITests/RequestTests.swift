import Foundation
import TestSupport
import Testing

/// Sources that need more than GET, from the manifest to the server and to the report.
@Suite(.blocking) struct RequestTests {
  private let server: DeskServer
  private let folders: DarkroomFolders

  init() throws {
    server = try DeskServer()
    folders = try DarkroomFolders()
  }

  @Test func `what a manifest asks for reaches the server, byte by byte`() throws {
    try folders.drop(
      "job.json",
      """
      { "defaults": { "headers": { "X-Key": "k", "User-Agent": "me" } },
        "entries": {
          "a": { "url": "\(server.url("a"))", "body": "{\\"é\\": [1,\\r\\n 2]}", "headers": { "Content-Type": "application/json" } },
          "b": { "url": "\(server.url("b"))", "form": { "q": "käse", "f": { "content": "x,y", "filename": "a.csv", "type": "text/csv" } } },
          "c": { "url": "\(server.url("c"))", "method": "PUT", "body": "" },
          "d": "\(server.url("d"))" } }
      """)
    try folders.run(["--downloads", "1"]).expect(status: 0)
    let (a, b, c, d) = try (server.nextRequest(), server.nextRequest(), server.nextRequest(), server.nextRequest())
    #expect([a, b, c, d].map { "\($0.method) \($0.path)" } == ["POST /a", "POST /b", "PUT /c", "GET /d"])
    #expect(a.body == "{\"é\": [1,\r\n 2]}")
    #expect(a.headers["content-type"] == "application/json" && a.headers["x-key"] == nil)
    let boundary = try #require(b.headers["content-type"]?.split(separator: "boundary=").last)
    #expect(
      b.body == """
        --\(boundary)\r
        Content-Disposition: form-data; name="q"\r
        \r
        käse\r
        --\(boundary)\r
        Content-Disposition: form-data; name="f"; filename="a.csv"\r
        Content-Type: text/csv\r
        \r
        x,y\r
        --\(boundary)--\r

        """)
    for request in [b, c, d] {
      #expect(request.headers["x-key"] == "k" && request.headers["user-agent"] == "me")
    }
    #expect(c.headers["content-length"] == "0" && d.headers["content-length"] == nil)
  }

  @Test func `a POST is made once in each run, and one with another body is another`() throws {
    let entries = ["a", "b", "c"].map { "\"\($0)\": {\"url\": \"\(server.url("x"))\", \"body\": \"1\"}" }
    let manifest =
      "{" + (entries + ["\"d\": {\"url\": \"\(server.url("x"))\", \"body\": \"2\"}"]).joined(separator: ",") + "}"
    for _ in 0..<2 {
      try folders.drop("job.json", manifest)
      try folders.run(["--refresh", "--downloads", "1"]).expect(status: 0)
      #expect(try (0..<2).map { _ in try server.nextRequest().body }.sorted() == ["1", "2"])
      #expect(try folders.report("job").transfers?.requests == 2)
      #expect(try folders.cachedSources().isEmpty, "an answer that no later run may use takes no room")
    }
  }

  @Test func `after a kill the answer to a POST is used by its run, and gone with it`() throws {
    let entry = #"{"url": "\#(server.url("x"))", "body": "1"}"#
    try folders.drop("job.json", #"{"a": \#(entry), "b": \#(entry)}"#)
    let run = try folders.start("run", ["--downloads", "1", "--filtrations", "1", "--verbose"])
    #expect(try run.waitForLine(containing: "a: filtered") != nil)
    try run.kill()
    #expect(try folders.run([]).status == 0)
    #expect(try folders.cachedSources().isEmpty)
  }

  @Test func `mirrors are tried in order, each with its retries, and the row tells which it was`() throws {
    let good = server.url("good", host: "localhost")
    let file = "chelsea-small.png"
    let digest = "sha-256=" + String(repeating: "0", count: 64)
    let expected: [(urls: [String], checksum: String?, last: Int, attempts: Int, code: String?)] = [
      ([server.url("a?404"), good], nil, 1, 2, nil),
      ([server.url("b?500,500"), good], nil, 1, 3, nil),
      ([server.url("c?500"), good], nil, 0, 2, nil),
      (["http://[", "http://10.0.0.1/", "gopher://h/", "missing.jpg", good], nil, 4, 5, nil),
      ([file, file, server.url("d?404"), "http://10.0.0.1/"], digest, 3, 4, "address-not-allowed"),
      ([server.url("e?404"), server.url("f?500,500")], nil, 1, 3, "http-status"),
      (["CREDITS.md", good], nil, 0, 1, "not-an-image"),
      ([file, good], "sha-256=952901529a5cdf33c3d31cc5058809e8e304216a206565eca8c4261fea2afd8a", 1, 2, nil),
    ]
    let lines = expected.enumerated().map { number, entry in
      let urls = entry.urls.map { "\"\($0)\"" }.joined(separator: ",")
      let checksum = entry.checksum.map { ",\"checksum\":\"\($0)\"" } ?? ""
      return "{\"name\":\"n\(number)\",\"url\":[\(urls)]\(checksum)}\n"
    }
    try folders.drop("job.jsonl", lines.joined())
    let run = try folders.run(["--retries", "1", "--verbose"]).expect(status: 1)
    let rows = try folders.validReport("job").entries
    for (row, entry) in zip(rows, expected) {
      #expect(row.error?.code == entry.code, "\(row)")
      #expect(row.url == entry.urls[entry.last], "\(row)")
      #expect(row.attempts == entry.attempts, "\(row)")
      let tried = entry.urls.count > 1 && entry.code != nil ? Array(entry.urls[...entry.last]) : nil
      #expect(row.error?.mirrors?.map(\.url) == tried, "\(row)")
    }
    #expect(
      rows[4].error?.mirrors?.map(\.code) == [
        "checksum-mismatch", "checksum-mismatch", "http-status", "address-not-allowed",
      ])
    #expect(rows[5].error?.mirrors?.map(\.http_status) == [404, 500])
    #expect(run.error.contains("n0: try 1 failed, the next mirror is \(good): http-status: "))
    let failures = String(decoding: try folders.contents("job/job.failed.jsonl"), as: UTF8.self).split(separator: "\n")
    #expect(failures.count == 3)
    #expect(failures[1].contains(#""url":["\#(server.url("e?404"))","\#(server.url("f?500,500"))"]"#), "\(failures)")
  }

  @Test(arguments: ["500", "429"])
  func `a request that may have an effect is repeated only if that is asked for`(fault: String) throws {
    try folders.drop("job.json", #"{"a": {"url": "\#(server.url("a?\(fault)"))", "method": "POST"}}"#)
    #expect(try folders.run().status == 1)
    #expect(try folders.report("job").entries.map(\.attempts) == [1])
    try folders.drop("job.json", #"{"b": {"url": "\#(server.url("b?\(fault)"))", "method": "POST"}}"#)
    try folders.run(["--retries", "1"]).expect(status: 0)
    #expect(try folders.report("job").entries.map(\.attempts) == [2])
  }

  @Test func `check shows all mirrors, and warns of an entry only when every one would fail`() throws {
    try folders.drop(
      "job.jsonl",
      """
      {"url": ["http://10.0.0.1/a", "http://localhost/a"], "body": "x"}
      {"url": ["missing.jpg", "http://10.0.0.1/b"]}
      """)
    let options = ["--allow-net", "127.0.0.0/8", "--file-root", packageRoot + "/Samples"]
    let text = try DarkroomCommand.run(["check"] + options + [folders.inbox + "/job.jsonl"])
    #expect(
      text.output.contains("  POST http://10.0.0.1/a\n    warning: this mirror would fail: address-not-allowed: "))
    #expect(text.output.contains("\n    or http://localhost/a\n"))
    #expect(text.output.hasSuffix("  warning: 1 of 2 entries would fail\n"))
    let lines = try DarkroomCommand.run(["check", "--json"] + options + [folders.inbox + "/job.jsonl"]).output
      .split(separator: "\n").map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
    #expect(lines[1]?["error"] == nil && lines[1]?["method"] as? String == "POST")
    let mirrors = lines[1]?["mirrors"] as? [[String: Any]]
    #expect(mirrors?.map { $0["url"] as? String } == ["http://10.0.0.1/a", "http://localhost/a"])
    #expect(mirrors?.map { ($0["error"] as? [String: Any])?["code"] as? String } == ["address-not-allowed", nil])
    #expect((lines[2]?["error"] as? [String: Any])?["code"] as? String == "address-not-allowed")
  }

  @Test func `what failed can be dropped again as it was asked for`() throws {
    try folders.drop(
      "job.json",
      """
      {"a": {"url": ["\(server.url("a?404"))"], "headers": {"X": ["1", "2"]}, "form": {"f": {"content": "c", "type": "a/b"}}}}
      """)
    #expect(try folders.run().status == 1)
    try folders.drop("again.jsonl", folders.contents("job/job.failed.jsonl"))
    try folders.run().expect(status: 0)
    let (first, second) = try (server.nextRequest(), server.nextRequest())
    #expect(first.method == "POST" && second.method == "POST" && second.headers["x"] == first.headers["x"])
    let bodies = [first, second].map { request in
      request.body.replacing(request.headers["content-type"]?.split(separator: "boundary=").last ?? "", with: "B")
    }
    #expect(bodies[0] == bodies[1] && bodies[0].contains("Content-Type: a/b\r\n\r\nc\r\n"))
  }

  @Test func `secrets are in no log, event, report, ledger or cache, whether it goes well or not`() throws {
    let secret = "hush-4711"
    let always404 = Array(repeating: "404", count: 50).joined(separator: ",")
    let more = """
      "headers": {"Authorization": "Bearer \(secret)", "Cookie": "\(secret)"}
      """
    let user = "\(secret):\(secret)@127.0.0.1"
    func entries(_ urls: [String]) -> String {
      urls.enumerated().map { number, url in
        """
        "g\(number)": {"url": "\(url)", \(more)},
        "p\(number)": {"url": "\(url)", \(more), "body": "\(secret)"},
        "f\(number)": {"url": "\(url)", \(more), "form": {"\(secret)": {"content": "\(secret)", "filename": "\(secret)"}}},
        "m\(number)": {"url": ["\(server.url("x?\(always404)", host: user))", "\(url)"], \(more)}
        """
      }.joined(separator: ",\n")
    }
    let port = try LoopbackSocket.closedPort
    try folders.drop("good.json", "{\(entries([server.url("a", host: user)]))}")
    try folders.drop(
      "bad.json",
      "{\(entries([server.url("b?404,404,404,404", host: user), "http://\(user):\(port)/", "http://\(user)@10.0.0.1/", "http://\(user)@[/"]))}"
    )
    try folders.drop(
      "rejected.json", #"{"a": {"url": "x", "headers": {"X": "\#(secret)\r\nY: z"}, "body": ["\#(secret)"]}}"#)
    try folders.drop("broken.json", #"{"a": {"url": "x", "headers": {"X" "\#(secret)"}}}"#)
    try folders.drop("table.csv", "url,headers\nx,\"{\"\"X\"\" \"\"\(secret)\"\"}\"\n")
    for manifest in try folders.inboxNames() {
      let check = try DarkroomCommand.run(["check", "--json", folders.inbox + "/" + manifest])
      #expect(!(check.output + check.error).contains(secret), "\(manifest): \(check.output)")
    }
    let run = try folders.run(["--verbose", "--json", "--retries", "1"]).expect(status: 65)
    #expect(!run.output.contains(secret))
    #expect(!run.error.contains(secret))
    #expect(try folders.report("good").counts.filtered == 4)
    #expect(try folders.report("bad").counts.failed == 16)
    var holders: [String] = []
    for file in try folders.files() {
      if try folders.contents(file).range(of: Data(secret.utf8)) != nil {
        holders.append(file)
        #expect(try folders.mode(file) == 0o600, "\(file)")
      }
      if file.contains(".sqlite") { #expect(try folders.mode(file) == 0o600, "\(file)") }
    }
    #expect(
      holders.sorted() == [
        "bad/bad.failed.jsonl", "bad/manifest.json", "broken/manifest.json", "good/manifest.json",
        "rejected/manifest.json", "table/manifest.csv",
      ])
  }
}
