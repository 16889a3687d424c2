import Foundation
import TestSupport
import Testing

/// What `watch` tells the service manager that has started it.
@Suite(.blocking) struct ServiceManagerTests {
  private let folders: DarkroomFolders
  private let manager: Manager

  init() throws {
    folders = try DarkroomFolders()
    manager = try Manager(path: folders.folder.file("notify"))
  }

  @Test(arguments: [SIGUSR1, SIGUSR2])
  func `a signal that scripts send to any daemon does not end watch`(signal: Int32) throws {
    let watch = try folders.watch(["--filters", "none"])
    watch.send(signal)
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    try watch.stop()
  }

  private func watch(_ environment: [String: String] = [:], socket: String? = nil) throws -> DarkroomProcess {
    let variables = ["NOTIFY_SOCKET": socket ?? manager.path].merging(environment) { $1 }
    return try DarkroomProcess(["watch"] + folders.options, environment: variables)
  }

  @Test func `it is ready when it watches the inbox, says what it does, and that it stops`() throws {
    let process = try watch()
    try manager.wait { $0 == "READY=1\nSTATUS=watching \(folders.inbox)" }
    try folders.drop("cats.txt", "coffee.jpg\nchelsea.jpg\n")
    try manager.wait { $0.hasPrefix("STATUS=1 job, ") }
    _ = try DarkroomProcess.run(["wait"] + folders.named + ["cats"]).expect(status: 0)
    try manager.wait { $0 == "STATUS=watching \(folders.inbox)" }
    try process.stop()
    try manager.wait { $0 == "STOPPING=1" }
  }

  @Test func `a pause is in its status`() throws {
    try folders.drop("backup.lock", "nightly backup")
    let process = try watch()
    try manager.wait { $0.hasPrefix("STATUS=paused: ") && $0.contains("nightly backup") }
    try process.stop()
  }

  @Test(arguments: [["--quality", "80"], ["--quality", "nonsense"]])
  func `SIGHUP is reloading until the configuration was read, also a broken one`(config: [String]) throws {
    let file = folders.folder.file("config.json")
    try Data("{}".utf8).write(to: URL(fileURLWithPath: file))
    let process = try watch(["DARKROOM_CONFIG": file])
    try manager.wait { $0.hasPrefix("READY=1") }
    let text = "{\"\(config[0].dropFirst(2))\": \"\(config[1])\"}"
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    let began = monotonicMicroseconds()
    process.send(SIGHUP)
    let reloading = try manager.wait { $0.hasPrefix("RELOADING=1") }
    let time = try #require(reloading.wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=(\d+)/)?.1)
    // systemd ignores an answer that is older than its signal.
    #expect(Int(time) ?? 0 >= began)
    try manager.wait { $0 == "READY=1" }
    try process.stop()
  }

  @Test func `it says that it is alive at half the watchdog's time, also when there is nothing to do`() throws {
    let process = try watch(["WATCHDOG_USEC": "400000"])
    try manager.wait { $0.hasPrefix("READY=1") }
    for _ in 0..<5 { try manager.wait { $0 == "WATCHDOG=1" } }
    try process.stop()
  }

  @Test func `without a watchdog, or with that of another process, it does not`() throws {
    let process = try watch(["WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"])
    try manager.wait { $0.hasPrefix("READY=1") }
    try process.stop()
    var messages: [String] = []
    while messages.last != "STOPPING=1" { messages.append(try manager.next()) }
    #expect(!messages.contains("WATCHDOG=1"))
  }

  @Test(arguments: ["/does/not/exist", "vsock:2:1234", "relative", ""])
  func `a socket that nobody listens to changes nothing`(socket: String) throws {
    let process = try watch(["WATCHDOG_USEC": "400000"], socket: socket)
    #expect(try process.waitForLine(containing: "watching") != nil)
    try process.stop()
  }

  @Test func `the name of the socket may be abstract`() throws {
    let abstract = try Manager(path: "@darkroom-test-\(UUID().uuidString)")
    let process = try watch(socket: abstract.path)
    try abstract.wait { $0.hasPrefix("READY=1") }
    try process.stop()
  }
}

private func monotonicMicroseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int(time.tv_sec) * 1_000_000 + Int(time.tv_nsec) / 1000
}

/// The socket of a service manager.
private final class Manager: Sendable {
  let path: String
  private let descriptor: Int32

  init(path: String) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    let isAbstract = bytes[0] == UInt8(ascii: "@")
    if isAbstract { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(2 + bytes.count + (isAbstract ? 0 : 1))
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    guard descriptor >= 0, result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    // Only for a test that hangs.
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  /// The next message.
  func next() throws -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }

  /// Waits for a message.
  @discardableResult func wait(for isWanted: (String) -> Bool) throws -> String {
    while true {
      let message = try next()
      if isWanted(message) { return message }
    }
  }
}
