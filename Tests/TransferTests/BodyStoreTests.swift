import Foundation
import System
import TestSupport
import Testing

@testable import Transfer

/// Bodies that are in memory while they are small, and then in a file.
@Suite(.blocking) struct BodyStoreTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("body") }

  init() throws { folder = try TemporaryFolder() }

  private func store(in memory: BodyMemory) -> BodyStore {
    BodyStore(in: memory) { [path] () throws(SystemError) in try OpenFile(creating: path) }
  }

  private func append(_ bytes: [UInt8], to store: BodyStore) throws {
    let result = bytes.withUnsafeBytes { piece in Result { try store.append(piece) } }
    try result.get()
  }

  private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

  @Test(
    "a body is in a file if it is large, or there is no memory for it",
    arguments: [
      (BodyMemory.largest, 1 << 20, false), (BodyMemory.largest + 1, 1 << 20, true), (1000, 1000, false),
      (1001, 1000, true),
      (0, 0, false),
    ])
  func large(_ bytes: Int, limit: Int, isInFile: Bool) throws {
    let (memory, body) = (BodyMemory(limit: limit), Self.bytes(bytes))
    let store = store(in: memory)
    for start in stride(from: 0, to: bytes, by: 300) {
      try append(Array(body[start..<min(start + 300, bytes)]), to: store)
    }
    #expect(store.isInFile == isInFile && FileManager.default.fileExists(atPath: path) == isInFile)
    let taken = store.takeBytes()
    #expect(try isInFile ? [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == body : taken?.bytes == body)
    #expect(memory.reserve(limit - (isInFile ? 0 : bytes)) && !memory.reserve(1), "no more is reserved than is used")
  }

  @Test(
    "memory is free again when the body is released, moved to its file or begun anew",
    arguments: ["taken", "left", "moved", "begun"])
  func released(how: String) throws {
    let memory = BodyMemory(limit: 1000)
    do {
      let store = store(in: memory)
      try append(Self.bytes(1000), to: store)
      #expect(!memory.reserve(1))
      switch how {
      case "taken":
        let taken = store.takeBytes()
        #expect(taken?.bytes.count == 1000 && !memory.reserve(1))
      case "moved":
        try store.moveToFile()
        #expect(memory.reserve(1000))
        memory.release(1000)
        try append([1], to: store)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(Self.bytes(1000) + [1]))
      case "begun":
        try store.restart()
        #expect(memory.reserve(1000))
        memory.release(1000)
        try append([1, 2], to: store)
        #expect(store.takeBytes()?.bytes == [1, 2])
      default: break
      }
    }
    #expect(memory.reserve(1000))
  }

  @Test(arguments: [BodyMemory.largest, BodyMemory.largest + 1])
  func `a body that is announced to be large is in a file from the beginning`(size: Int) throws {
    let memory = BodyMemory()
    let store = store(in: memory)
    store.announce(size)
    try append([1], to: store)
    #expect(store.isInFile == (size > BodyMemory.largest))
    #expect(memory.reserve((16 << 20) - (store.isInFile ? 0 : size)) && !memory.reserve(1))
  }

  @Test func `a body in a file is begun anew there`() throws {
    let store = store(in: BodyMemory(limit: 0))
    try append(Self.bytes(100), to: store)
    try store.restart()
    try append([1, 2], to: store)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([1, 2]))
  }

  @Test(arguments: [0, 1 << 20])
  func `what is transferred is the same in memory and in a file`(limit: Int) async throws {
    let server = try PythonServer(
      PythonServer.prelude + """
        body = bytes((n * 7) & 255 for n in range(60000))

        def answer(connection, path):
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: 60000\\r\\n\\r\\n" + body)

        serve()
        """)
    let (downloads, store) = (try Downloads(), store(in: BodyMemory(limit: limit)))
    let request = TransferRequest(location: try SourceLocation(parsing: server.url("a")), destination: store)
    let result = await withCheckedContinuation { continuation in
      downloads.engine.start(request) { continuation.resume(returning: $0) }
    }
    #expect(try result.get().sha256 == MessageDigest.hexDigest(of: Self.bytes(60_000)))
    let taken = store.takeBytes()?.bytes
    #expect(try (taken ?? [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))) == Self.bytes(60_000))
    #expect((taken == nil) == (limit == 0))
  }

  @Test func `a file that cannot be created is an error of the machine that names the source`() async throws {
    let (root, missing) = (try TemporaryFolder(), folder.file("missing/body"))
    try Data(Self.bytes(10)).write(to: URL(fileURLWithPath: root.file("a.jpg")))
    let downloads = try Downloads { $0.fileRoot = root.path }
    let store = BodyStore(in: BodyMemory(limit: 0)) { () throws(SystemError) in try OpenFile(creating: missing) }
    let request = TransferRequest(location: try SourceLocation(parsing: "a.jpg"), destination: store)
    let result = await withCheckedContinuation { continuation in
      downloads.engine.start(request) { continuation.resume(returning: $0) }
    }
    guard case .failure(let error) = result else {
      Issue.record("it should fail")
      return
    }
    #expect(error.code == .io && error.systemError == ENOENT && error.message.contains("a.jpg"))
  }

  @Test func `no one can change what a worker is given`() throws {
    let file = try OpenFile(inMemory: "source", sealed: Self.bytes(100))
    #expect(try file.readAll() == Data(Self.bytes(100)))
    #expect(pwrite(file.descriptor, "x", 1, 0) == -1 && errno == EPERM)
    #expect(ftruncate(file.descriptor, 0) == -1 && errno == EPERM)
  }
}
