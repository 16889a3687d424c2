import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct CacheTests {
  private let folders: DarkroomFolders
  private let pictures: TemporaryFolder
  private let nginx: Nginx
  private let names = (0..<4).map { "p\($0).jpg" }

  init() throws {
    folders = try DarkroomFolders()
    pictures = try TemporaryFolder()
    nginx = try Nginx(
      serving: pictures.path,
      directives: "location /private/ { alias \(pictures.path)/; add_header Cache-Control no-store; }")
    for (name, shade) in zip(names, 0...) { try serve(name, shade) }
  }

  /// Has the server serve a picture of its own under a name.
  private func serve(_ name: String, _ shade: Int) throws {
    let script =
      "import sys; from PIL import Image; Image.new('RGB', (64 + 16 * int(sys.argv[2]), 48), (int(sys.argv[2]) * 20, 90, 30)).save(sys.argv[1])"
    _ = try TestPython.run(script, [pictures.file(name), "\(shade)"])
  }

  private func run(_ job: String, _ paths: [String]? = nil, _ options: [String] = []) throws -> Report {
    try folders.drop("\(job).txt", (paths ?? names).map { nginx.url($0) + "\n" }.joined())
    try folders.run(["--downloads", "1"] + options).expect(status: 0)
    return try folders.report(job)
  }

  /// The statuses that the server answered with since it was last asked for them.
  private func statuses(after count: Int = 0) throws -> [String] {
    try nginx.accessLog().dropFirst(count).map { String($0.split(separator: " ")[8]) }
  }

  private func bytes(_ job: String, _ name: String) throws -> Data { try folders.contents("\(job)/images/\(name)") }

  private var cache: String { folders.outbox + "/.darkroom/cache" }

  private func objects() throws -> [String] { try folders.cachedSources() }

  @Test(arguments: [["--filters", "none"], ["--filters", "sepia(1)"], ["--format", "png"]])
  func `what was downloaded before and has not changed is not sent again, whatever is made of it`(
    second: [String]
  ) throws {
    _ = try run("first", nil, ["--filters", "sepia(1)"])
    let again = try run("second", nil, second)
    #expect(try statuses(after: 4) == Array(repeating: "304", count: 4))
    #expect(again.entries.allSatisfy { $0.source?.http_status == 304 && $0.source?.bytes ?? 0 > 0 })
    #expect(again.transfers?.bytes == 0)
    // The same as without a cache.
    let fresh = try run("third", nil, second + ["--cache-size", "0"])
    #expect(fresh.entries.map(\.output) == again.entries.map(\.output))
    #expect(try folders.staged().isEmpty)
  }

  @Test func `what the cache keeps is for its owner alone, and results are as public as other files`() throws {
    _ = try run("made", [names[0]], ["--filters", "sepia(1)"])
    for path in try FileManager.default.subpathsOfDirectory(atPath: cache) {
      var status = stat()
      #expect(lstat(cache + "/" + path, &status) == 0)
      #expect(status.st_mode & 0o777 == (status.st_mode & S_IFMT == S_IFDIR ? 0o700 : 0o600), "\(path)")
    }
    _ = try run("copied", [names[1]], ["--filters", "none"])
    _ = try run("kept", [names[2]], ["--filters", "sepia(1)", "--keep-originals"])
    let plain = folders.outbox + "/plain"
    try Data().write(to: URL(fileURLWithPath: plain))
    for file in ["made/images/p0.jpg", "copied/images/p1.jpg", "kept/images/p2.jpg", "kept/originals/p2.jpg"] {
      #expect(try folders.mode(file) == folders.mode("plain"), "\(file)")
    }
  }

  @Test func `what has changed is sent, and only that`() throws {
    _ = try run("first")
    try serve(names[2], 7)
    let second = try run("second", nil, ["--filters", "none"])
    #expect(try statuses(after: 4) == ["304", "304", "200", "304"])
    #expect(try bytes("second", names[2]) == Data(contentsOf: URL(fileURLWithPath: pictures.file(names[2]))))
    #expect(second.entries[2].source?.http_status == 200)
  }

  @Test(arguments: [["--refresh"], ["--cache-size", "0"]])
  func `everything is sent again when that is asked for`(options: [String]) throws {
    _ = try run("first")
    _ = try run("second", nil, options)
    #expect(try statuses() == Array(repeating: "200", count: 8))
    #expect(try objects().count == 4)
  }

  @Test func `within a run a source is asked for once, and the rows say which shared it`() throws {
    let report = try run("job", (0..<5).flatMap { _ in names }, ["--refresh"])
    #expect(try statuses() == Array(repeating: "200", count: 4))
    #expect(report.entries.map { $0.coalesced ?? false } == (0..<20).map { $0 >= 4 })
    #expect(report.transfers?.requests == 4)
    #expect(Set(report.entries.map { $0.output?.sha256 }).count == 4)
  }

  @Test func `what a server forbids to store is not`() throws {
    let paths = names.map { "private/\($0)" }
    _ = try run("first", paths)
    _ = try run("second", paths)
    #expect(try statuses() == Array(repeating: "200", count: 8))
    #expect(try objects().isEmpty)
  }

  @Test(arguments: ["", "cut", "some other bytes", "gone"])
  func `a copy that is damaged or gone is not used, and is replaced`(damage: String) throws {
    _ = try run("first", nil, ["--filters", "none"])
    for object in try objects() {
      let path = cache + "/" + object
      if damage == "gone" {
        try FileManager.default.removeItem(atPath: path)
        continue
      }
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      try (damage == "cut" ? whole.dropLast() : Data(damage.utf8)).write(
        to: URL(fileURLWithPath: path), options: .atomic)
    }
    let second = try run("second", nil, ["--filters", "none", "--retries", "0"])
    #expect(second.counts == Report.Counts(total: 4, filtered: 4))
    for name in names { #expect(try bytes("second", name) == bytes("first", name)) }
    _ = try run("third")
    #expect(try Array(statuses().suffix(4)) == Array(repeating: "304", count: 4))
  }

  @Test(arguments: ["index.sqlite", "index.sqlite-wal"])
  func `a cache that makes no sense is begun anew`(file: String) throws {
    _ = try run("first")
    try Data(repeating: 7, count: 5000).write(to: URL(fileURLWithPath: cache + "/" + file))
    #expect(try run("second").counts == Report.Counts(total: 4, filtered: 4))
    _ = try run("third")
    #expect(try statuses(after: 8) == Array(repeating: "304", count: 4))
  }

  @Test func `a result that somebody changes does not change the cache, nor another result`() throws {
    for job in ["first", "second"] {
      _ = try run(job, nil, ["--filters", "none"])
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: folders.outbox + "/\(job)/images/\(names[0])"))
      try file.write(contentsOf: Data("changed".utf8))
      try file.close()
    }
    _ = try run("third", nil, ["--filters", "none"])
    #expect(try bytes("third", names[0]) == Data(contentsOf: URL(fileURLWithPath: pictures.file(names[0]))))
  }

  /// `DARKROOM_TEST_KILLS=200` has it kill as often.
  @Test func `killed anywhere it gives no wrong bytes, and holds one source too many at most`() throws {
    let kills = ProcessInfo.processInfo.environment["DARKROOM_TEST_KILLS"].flatMap { Int($0) } ?? 12
    let sizes = try names.map { try Data(contentsOf: URL(fileURLWithPath: pictures.file($0))).count }
    let (limit, largest) = (sizes[0] * 5 / 2, sizes.max() ?? 0)
    for kill in 0..<kills {
      let paths = (0..<12).map { names[($0 * 5 + kill) % 4] + "?\($0 % 7)" }
      try folders.drop("job\(kill).txt", paths.map { nginx.url($0) + "\n" }.joined())
      let run = try folders.start("run", ["--filters", "none", "--cache-size", "\(limit)", "--verbose"])
      for _ in 0..<kill % 7 { _ = try run.waitForLine(containing: ": filtered") }
      try run.kill()
      let held = try objects().map { try Data(contentsOf: URL(fileURLWithPath: cache + "/" + $0)).count }
      #expect(held.reduce(0, +) <= limit + largest)
    }
    #expect(try folders.run(["--filters", "none", "--cache-size", "\(limit)"]).status == 0)
    for kill in 0..<kills {
      let entries = try folders.report("job\(kill)").entries
      #expect(entries.count == 12)
      for (entry, name) in zip(entries, (0..<12).map { names[($0 * 5 + kill) % 4] }) {
        let delivered = try folders.contents("job\(kill)/" + (entry.output?.file ?? ""))
        #expect(try delivered == Data(contentsOf: URL(fileURLWithPath: pictures.file(name))))
      }
    }
  }

  @Test func `the cache gives way before want of space pauses anything`() throws {
    _ = try run("first")
    #expect(try objects().count == 4)
    try folders.drop("job.txt", nginx.url(names[0]) + "\n")
    // More than any disk has: it pauses in the end, but not for the cache's sake.
    #expect(try folders.run(["--min-free", "1000000G", "--lock-wait", "0"]).status == 75)
    #expect(try objects().isEmpty)
  }

  @Test(arguments: [([], "checksum-mismatch"), (["--max-bytes", "100"], "too-large")])
  func `a wrong checksum and what is larger than --max-bytes are refused, whatever the cache has`(
    options: [String], code: String
  ) throws {
    _ = try run("first")
    let entry = #"{"url":"\#(nginx.url(names[0]))","checksum":"md5=\#(String(repeating: "0", count: 32))"}"#
    try folders.drop("job.jsonl", entry + "\n")
    try folders.run(options).expect(status: 1)
    #expect(try folders.report("job").entries[0].error?.code == code)
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/shm")))
  func `on another file system than the outbox the cache has copies`() throws {
    let state = try TemporaryFolder(in: "/dev/shm")
    for job in ["first", "second"] {
      #expect(try run(job, nil, ["--state", state.path]).counts.filtered == 4)
    }
    #expect(try statuses() == Array(repeating: "200", count: 4) + Array(repeating: "304", count: 4))
    #expect(try bytes("second", names[0]) == bytes("first", names[0]))
  }
}
