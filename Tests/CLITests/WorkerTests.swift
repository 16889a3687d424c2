import Foundation
import TestSupport
import Testing

/// Pictures are decoded in processes of their own, and what ends one of them costs a picture at most.
@Suite(.blocking) struct WorkerTests {
  /// The processes that a process has started.
  private func children(of parent: Int32) -> [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int32($0) }.filter { stat($0)?[1] == "\(parent)" }
  }

  /// Fields of `/proc/PID/stat` after the name: the state, the parent, and so on.
  private func stat(_ process: Int32) -> [Substring]? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let name = text.lastIndex(of: ")")
    else { return nil }
    return text[text.index(after: name)...].split(separator: " ")
  }

  /// Ticks of processor time in user mode.
  private func ticks(_ process: Int32) -> Int { stat(process).flatMap { Int($0[11]) } ?? 0 }

  private struct Status: Decodable {
    struct Workers: Decodable {
      let running: Int
      let started: Int
      let lost: Int
      let confinement: [String]
    }

    let workers: Workers?
  }

  private func status(_ folders: DarkroomFolders) throws -> Status {
    let said = try folders.ask("status", ["--json"])
    return try JSONDecoder().decode(Status.self, from: Data(said.output.utf8))
  }

  @Test func `pictures are the same whether workers decode them or the program`() throws {
    let all = try ["process", "none"].map { isolation in
      let folders = try DarkroomFolders()
      try folders.drop("job.txt", "coffee.jpg\nchelsea-small.png\n")
      try folders.run(["--isolation", isolation, "--filters", "sepia(0.8) rotate(90)"]).expect(status: 0)
      return try ["coffee.jpg", "chelsea-small.png"].map { try folders.contents("job/images/" + $0) }
    }
    #expect(all[0] == all[1])
  }

  @Test(.disabled(if: Sanitizer.isAny, "nothing is confined then"))
  func `the server of workers is confined, too, and each worker more strictly`() throws {
    let folders = try DarkroomFolders()
    let watch = try folders.start("watch", [])
    try folders.drop("one.txt", "coffee.jpg\n")
    _ = try folders.ask("wait", ["one"])
    let filters = children(of: watch.processID).map { process in
      let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
      return text.firstMatch(of: /Seccomp_filters:\t(\d+)/).flatMap { Int($0.1) }
    }
    // Those of what runs the tests are inherited by all.
    let own = try String(contentsOfFile: "/proc/\(watch.processID)/status", encoding: .utf8)
    let inherited = own.firstMatch(of: /Seccomp_filters:\t(\d+)/).flatMap { Int($0.1) }
    if let inherited { #expect(Set(filters) == [inherited + 1, inherited + 2], "\(filters)") }
    try watch.stop()
  }

  /// What the kernel does with huge pages: `always [madvise] never`.
  private static let hugePages = try? String(
    contentsOfFile: "/sys/kernel/mm/transparent_hugepage/enabled", encoding: .utf8)

  @Test(
    .disabled(if: Sanitizer.isAny, "they have allocators of their own"),
    .enabled(if: hugePages?.contains("[madvise]") == true && getuid() == 0, "only there, and for root, it can be seen"))
  func `workers ask for huge pages where the kernel leaves that to programs`() throws {
    let folders = try DarkroomFolders()
    let watch = try folders.start("watch")
    try folders.drop("one.txt", "coffee.jpg\n")
    try folders.ask("wait", ["one"]).expect(status: 0)
    let workers = children(of: watch.processID)
    #expect(!workers.isEmpty)
    for worker in workers {
      // Foundation reads only the first page of a file without a size.
      let file = try #require(FileHandle(forReadingAtPath: "/proc/\(worker)/smaps"))
      let mappings = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      #expect(mappings.contains(/VmFlags:.* hg/), "\(worker)")
    }
    try watch.stop()
  }

  @Test func `workers that were killed are replaced, are counted, and fail nothing`() throws {
    let folders = try DarkroomFolders()
    let watch = try folders.start("watch", ["--json", "--verbose"])
    try folders.drop("one.txt", "coffee.jpg\n")
    _ = try folders.ask("wait", ["one"])
    let workers = children(of: watch.processID)
    #expect(!workers.isEmpty)
    for worker in workers { kill(worker, SIGKILL) }
    try folders.drop("two.txt", "coffee.jpg\nrocket.jpg\n")
    try folders.ask("wait", ["two"]).expect(status: 0)
    #expect(try folders.report("two").counts == Report.Counts(total: 2, filtered: 2, failed: 0))
    let counts = try #require(try status(folders).workers)
    #expect(counts.running >= 1)
    #expect(counts.started > counts.running)
    watch.send(SIGTERM)
    let finished = try watch.finish()
    #expect(finished.output.contains("\"event\":\"worker-lost\""))
    #expect(children(of: watch.processID).isEmpty)
  }

  @Test func `without isolation there are no workers`() throws {
    let folders = try DarkroomFolders()
    let watch = try folders.start("watch", ["--isolation", "none"])
    try folders.drop("one.txt", "coffee.jpg\n")
    _ = try folders.ask("wait", ["one"])
    #expect(children(of: watch.processID).isEmpty)
    #expect(try status(folders).workers == nil)
    try watch.stop()
  }

  /// Takes seconds.
  private static let slow = "resize(exact 8000 8000 enlarge) blur(5px)"

  /// A manifest with a picture that takes seconds, and one that does not.
  private static let slowAndQuick = """
    {"url": "hubble-deep-field.jpg", "filters": "\(slow)"}
    {"url": "coffee.jpg"}

    """

  @Test(.disabled(if: Sanitizer.isThread, "what takes seconds takes minutes"))
  func `a picture over which workers are killed again and again fails, and nothing else does`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.jsonl", Self.slowAndQuick)
    let run = try folders.start("run")
    var killed: Set<Int32> = []
    while killed.count < 3, !folders.exists("job/report.json") {
      // One that has worked for so long has begun with the slow picture.
      for worker in children(of: run.processID) where ticks(worker) > 60 && killed.insert(worker).inserted {
        kill(worker, SIGKILL)
      }
      usleep(1000)
    }
    #expect(try run.finish().status == 1)
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 2, filtered: 1, failed: 1))
    #expect(report.entries.first?.error?.code == "image-too-large")
    #expect(report.entries.first?.error?.message.contains("signal 9") == true)
  }

  @Test(.disabled(if: Sanitizer.isThread, "what takes seconds takes minutes"))
  func `workers end with the program, whatever they do and however it ends`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.jsonl", Self.slowAndQuick)
    let run = try folders.start("run")
    var busy: Int32?
    while kill(run.processID, 0) == 0, busy == nil {
      busy = children(of: run.processID).first { ticks($0) > 20 }
      usleep(1000)
    }
    let worker = try #require(busy)
    // It cannot find out by itself that its parent is gone.
    kill(worker, SIGSTOP)
    let all = children(of: run.processID)
    try run.kill()
    let limit = ContinuousClock.now + .seconds(60)
    while !all.allSatisfy(hasEnded), ContinuousClock.now < limit { usleep(1000) }
    #expect(all.filter { !hasEnded($0) }.isEmpty)
    for process in all where !hasEnded(process) { kill(process, SIGKILL) }
    #expect(try status(folders).workers == nil, "there is no instance")
  }

  /// Whether a process is gone, or nobody has waited for it.
  private func hasEnded(_ process: Int32) -> Bool { stat(process).map { $0[0] == "Z" || $0[0] == "X" } ?? true }

  @Test(.disabled(if: Sanitizer.isThread, "what takes seconds takes minutes"))
  func `a picture that ends the whole program costs its own row`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.jsonl", Self.slowAndQuick)
    let options = ["--isolation", "none", "--filtrations", "1"]
    for _ in 1...4 {
      let run = try folders.start("run", options + ["--verbose"])
      // By then it has learned from the journal what an earlier one died over.
      _ = try run.waitForLine(containing: "2 entries")
      while !isInside(position: 0, folders), kill(run.processID, 0) == 0 { usleep(1000) }
      try run.kill()
    }
    try folders.run(options).expect(status: 1)
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 2, filtered: 1, failed: 1))
    #expect(report.entries.first?.error?.code == "decoder-crashed")
    #expect(report.entries.first?.error?.message.contains("4 times") == true)
  }

  /// Whether the journal has an entry inside a filtration.
  private func isInside(position: Int, _ folders: DarkroomFolders) -> Bool {
    let journal = (try? folders.contents(".darkroom/filtrations")) ?? Data()
    return journal.split(separator: 0).contains { String(decoding: $0, as: UTF8.self).hasSuffix(" \(position)") }
  }

  @Test(.enabled(if: MemoryGroup.obstacle == nil, "\(MemoryGroup.obstacle ?? "")"))
  func `under a memory limit a picture that needs more fails, and the program lives on`() throws {
    let group = try MemoryGroup(limit: 512 << 20)
    let folders = try DarkroomFolders()
    let root = folders.folder.file("root")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    _ = try TestPython.run(
      """
      import struct, sys, zlib
      side = 16383

      def chunk(name, data):
          return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))

      row, packer = bytes(1 + 3 * side), zlib.compressobj(1)
      with open(sys.argv[1] + '/large.png', 'wb') as file:
          file.write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', side, side, 8, 2, 0, 0, 0)))
          for _ in range(side):
              if part := packer.compress(row):
                  file.write(chunk(b'IDAT', part))
          file.write(chunk(b'IDAT', packer.flush()) + chunk(b'IEND', b''))
      """, [root])
    try FileManager.default.copyItem(atPath: packageRoot + "/Samples/coffee.jpg", toPath: root + "/coffee.jpg")
    try folders.drop("job.txt", "large.png\ncoffee.jpg\n")
    let options = folders.options.map { $0 == packageRoot + "/Samples" ? root : $0 }
    let script = "echo $$ > '\(group.processes)'; exec darkroom run --filters 'rotate(90) blur(200px)' "
    let run = try DarkroomProcess.run(
      script: script + options.map { "'\($0)'" }.joined(separator: " "), in: folders.folder)
    #expect(run.status == 1, "\(run.error)")
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 2, filtered: 1, failed: 1))
    #expect(report.entries.first?.error?.code == "image-too-large")
  }
}
