import Foundation
import Synchronization
import TestSupport
import Testing

/// Disks that manifests fill.
@Suite(.blocking, .disabled(if: SmallDisk.obstacle != nil, Comment(rawValue: SmallDisk.obstacle ?? "")))
struct SpaceTests {
  private let folders: DarkroomFolders
  private let state: String

  /// Has the picture that is listed.
  private let pictures: Nginx

  init() throws {
    folders = try DarkroomFolders()
    pictures = try Nginx(serving: packageRoot + "/Samples")
    state = folders.folder.file("state")
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
  }

  /// A manifest of some bytes with one entry.
  private func drop(_ name: String, bytes: Int) throws {
    try folders.drop(name, "coffee.jpg\n" + String(repeating: "#\n", count: bytes / 2))
  }

  @Test func `a manifest that the state's file system can never hold is rejected, and the others are processed`() throws
  {
    let disk = try SmallDisk(over: state, in: folders.folder, kilobytes: 2048)
    try drop("huge.txt", bytes: 3 << 20)
    try folders.drop("good.txt", "coffee.jpg\n")
    try folders.run(["--filters", "none", "--min-free", "0", "--state", state]).expect(status: 65)
    #expect(try folders.report("huge").errors?.map(\.code) == ["too-large"])
    #expect(try folders.report("good").state == "succeeded")
    #expect(try folders.contents("huge/manifest.txt").count == 11 + (3 << 20))
    #expect(try folders.inboxNames().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/jobs").isEmpty)
    withExtendedLifetime(disk) {}
  }

  @Test func `a manifest that needs more room than there is waits for it without holding others up`() throws {
    let disk = try SmallDisk(over: state, in: folders.folder, kilobytes: 8192)
    try Data(count: 5 << 20).write(to: URL(fileURLWithPath: state + "/filler"))
    let watch = try folders.start("watch", ["--filters", "none", "--min-free", "0", "--state", state])
    try drop("huge.txt", bytes: 4 << 20)
    #expect(try watch.waitForLine(containing: "tried again when there is room: huge.txt needs 4 MiB") != nil)
    try folders.drop("good.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "good: succeeded") != nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/jobs").isEmpty, "nothing is left behind")
    try FileManager.default.removeItem(atPath: state + "/filler")
    #expect(try watch.waitForLine(containing: "huge: succeeded") != nil)
    let ended = try watch.stop()
    #expect(!ended.error.contains("paused: disk"), "\(ended.error)")
    withExtendedLifetime(disk) {}
  }

  @Test func `an index that does not fit is given up, leaves nothing, and is rejected when it can never fit`() throws {
    let disk = try SmallDisk(over: state, in: folders.folder, kilobytes: 6144)
    // Each entry takes more in the index than in the manifest.
    let lines = (0..<40_000).map { "http://h.example/\($0)/picture-with-a-long-name.jpg\n" }.joined()
    try folders.drop("big.txt", lines)
    try folders.drop("good.txt", "coffee.jpg\n")
    try folders.run(["--filters", "none", "--min-free", "0", "--state", state, "--lock-wait", "30"]).expect(status: 65)
    let report = try folders.report("big")
    #expect(report.state == "rejected" && report.errors?.map(\.code) == ["too-large"])
    #expect(try folders.report("good").state == "succeeded")
    #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/jobs").isEmpty)
    withExtendedLifetime(disk) {}
  }

  /// A list of some bytes with one entry, and a manifest that names it.
  private func dropSource(bytes: Int) throws -> PythonServer {
    let list = folders.folder.file("list.txt")
    let text = "\(pictures.url("coffee.jpg"))\n" + String(repeating: "#\n", count: bytes / 2)
    try text.write(toFile: list, atomically: false, encoding: .utf8)
    let server = try PythonServer(
      PythonServer.prelude + #"""
        body = open(sys.argv[1], "rb").read()

        def handle(connection):
            say(connection.recv(65536).decode().split(" ")[1])
            connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            connection.close()

        serve()
        """#, [list])
    try folders.drop("huge.json", #"{"source": "\#(server.url("list.txt"))"}"#)
    return server
  }

  @Test func `a list that the state's file system can never hold fails its job, and the others are processed`() throws {
    let disk = try SmallDisk(over: state, in: folders.folder, kilobytes: 2048)
    let server = try dropSource(bytes: 3 << 20)
    try folders.drop("good.txt", "coffee.jpg\n")
    try folders.run(["--filters", "none", "--min-free", "0", "--state", state]).expect(status: 65)
    let error = try #require(try folders.report("huge").errors?.first)
    #expect(error.code == "source-failed")
    #expect(error.message.contains("too-large: the list has 3 MiB"), "\(error.message)")
    #expect(try folders.report("good").state == "succeeded")
    #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/jobs").isEmpty)
    #expect(try server.nextLine() == "/list.txt")
    withExtendedLifetime(disk) {}
  }

  @Test func `a list that needs more room than there is waits for it without holding others up`() throws {
    let disk = try SmallDisk(over: state, in: folders.folder, kilobytes: 8192)
    try Data(count: 5 << 20).write(to: URL(fileURLWithPath: state + "/filler"))
    let options = ["--filters", "none", "--min-free", "0", "--state", state, "--cache-size", "0"]
    let watch = try folders.start("watch", options)
    let server = try dropSource(bytes: 4 << 20)
    #expect(try watch.waitForLine(containing: "tried again when there is room: the list needs 4 MiB") != nil)
    #expect(try server.nextLine() == "/list.txt")
    try folders.drop("good.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "good: succeeded") != nil)
    #expect(!(try FileManager.default.contentsOfDirectory(atPath: state + "/jobs")).contains { $0.hasSuffix(".list") })
    try FileManager.default.removeItem(atPath: state + "/filler")
    #expect(try watch.waitForLine(containing: "huge: succeeded") != nil)
    #expect(try server.nextLine() == "/list.txt", "it is downloaded again, once")
    let ended = try watch.stop()
    #expect(!ended.error.contains("paused: disk"), "\(ended.error)")
    withExtendedLifetime(disk) {}
  }

  @Test func `a list is downloaded once, also when there is no room for the index of its entries`() throws {
    let disk = try SmallDisk(over: state, in: folders.folder, kilobytes: 12_544)
    // Each entry takes as much in the index as in the list.
    let metadata = String(repeating: "x", count: 200_000)
    let list = folders.folder.file("list.jsonl")
    let pictures = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try pictures.release(99)
    let lines = (0..<15).map { #"{"url": "\#(pictures.url("\($0)"))", "metadata": "\#(metadata)"}"# + "\n" }
    try lines.joined().write(toFile: list, atomically: false, encoding: .utf8)
    let server = try GatedServer(serving: list)
    try server.release(9)
    try folders.drop("job.json", #"{"source": "\#(server.url("list.jsonl"))"}"#)
    try Data(count: 7 << 20).write(to: URL(fileURLWithPath: state + "/filler"))
    let watch = try folders.start(
      "watch", ["--filters", "none", "--min-free", "0", "--cache-size", "0", "--state", state])
    #expect(try watch.waitForLine(containing: "tried again when there is room") != nil)
    try FileManager.default.removeItem(atPath: state + "/filler")
    #expect(try watch.waitForLine(containing: "job: succeeded: 15 filtered") != nil)
    #expect(try server.requestsSoFar() == ["/list.jsonl"])
    #expect(try folders.report("job").transfers?.requests == 16, "it is counted although it was planned again")
    try watch.stop()
    withExtendedLifetime(disk) {}
  }

  @Test func `min-free holds for the state's file system, too, and nothing is planned meanwhile`() throws {
    let disk = try SmallDisk(over: state, in: folders.folder, kilobytes: 4096)
    try folders.drop("job.txt", "coffee.jpg\n")
    let watch = try folders.start("watch", ["--filters", "none", "--min-free", "8M", "--state", state])
    #expect(try watch.waitForLine(containing: "free in the state folder, and --min-free is 8 MiB") != nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/jobs").isEmpty)
    try disk.resize(kilobytes: 16384)
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    try watch.stop()
  }

  @Test(arguments: [[], ["--cache-size", "0"], ["--filters", "sepia()"]])
  func `what is in progress does not fill the disk beyond min-free`(more: [String]) throws {
    let disk = try SmallDisk(over: folders.outbox, in: folders.folder, kilobytes: 30 << 10)
    // Pictures of 480 by 480 pixels, of 675 KiB each, no two of which are the same.
    let server = try PythonServer(
      PythonServer.prelude + #"""
        import zlib

        pixels = b"".join(b"\0" + os.urandom(3 * 480) for _ in range(480))

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        def answer(connection, path):
            data = b"\0" + bytes([int(path[1:])]) + pixels[2:]
            body = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 480, 480, 8, 2, 0, 0, 0))
            body += chunk(b"IDAT", zlib.compress(data, 0)) + chunk(b"IEND", b"")
            head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
            connection.sendall(head + body)

        serve()
        """#)
    try folders.drop("job.txt", (0..<60).map { server.url("\($0)") + "\n" }.joined())
    let options = ["--filters", "none", "--gallery", "off", "--min-free", "10M", "--lock-wait", "0"] + more
    let lowest = LowestFreeSpace(folders.outbox)
    let ended = try folders.run(options)
    #expect(ended.status == 75 && ended.error.contains("--min-free is 10 MiB"), "\(ended.error)")
    // The ledger is written, too, and what is in progress when the limit is reached.
    let free = lowest.stop()
    #expect(free > 8 << 20, "\(free) bytes were free: \(ended.error)")
    withExtendedLifetime(disk) {}
  }
}

/// Measures all the time how much is free on a file system.
private final class LowestFreeSpace: Sendable {
  private let bytes = Mutex(Int.max)
  private let isStopped = Atomic(false)
  private let path: String

  init(_ path: String) {
    self.path = path
    Thread.detachNewThread { [self] in
      while !isStopped.load(ordering: .relaxed) {
        measure()
        usleep(1000)
      }
    }
  }

  private func measure() {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return }
    bytes.withLock { $0 = min($0, Int(status.f_bavail) * Int(status.f_frsize)) }
  }

  /// The least that was free so far, in bytes.
  func stop() -> Int {
    isStopped.store(true, ordering: .relaxed)
    measure()
    return bytes.withLock { $0 }
  }
}
