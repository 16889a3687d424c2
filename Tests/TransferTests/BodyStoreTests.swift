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

  /// - Returns: The bytes of which the store asks for a digest.
  @discardableResult private func append(_ bytes: [UInt8], to store: BodyStore) throws -> [UInt8] {
    var digested: [UInt8] = []
    let result = bytes.withUnsafeBytes { piece in Result { try store.append(piece) { digested += $0 } } }
    try result.get()
    return digested
  }

  private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

  @Test(
    "a body is in a file if it is large, or there is no memory for it",
    arguments: [
      (BodyMemory.largestArriving, 1 << 20, false), (BodyMemory.largestArriving + 1, 1 << 20, true),
      (1000, 1000, false),
      (100_000, 1 << 20, false),
      (1001, 1000, true),
      (0, 0, false),
    ])
  func large(_ bytes: Int, limit: Int, isInFile: Bool) throws {
    let (memory, body) = (BodyMemory(limit: limit), Self.bytes(bytes))
    let store = store(in: memory)
    var digested: [UInt8] = []
    for start in stride(from: 0, to: bytes, by: 300) {
      digested += try append(Array(body[start..<min(start + 300, bytes)]), to: store)
    }
    #expect(digested == (isInFile ? body : []), "all that is in the file is digested on its way, in order")
    #expect(store.isInFile == isInFile && FileManager.default.fileExists(atPath: path) == isInFile)
    let taken = store.takeBytes()
    #expect(try isInFile ? [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == body : taken?.bytes == body)
    let used = isInFile ? 0 : bytes > BodyMemory.largest ? BodyMemory.largestArriving : bytes
    #expect(memory.reserve(limit - used) && !memory.reserve(1), "no more is reserved than is used")
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

  @Test(arguments: [BodyMemory.largestArriving, BodyMemory.largestArriving + 1])
  func `a body that is announced to be large is in a file from the beginning`(size: Int) throws {
    let memory = BodyMemory()
    let store = store(in: memory)
    store.announce(size)
    try append([1], to: store)
    #expect(store.isInFile == (size > BodyMemory.largestArriving))
    #expect(memory.reserve((16 << 20) - (store.isInFile ? 0 : size)) && !memory.reserve(1))
  }

  @Test func `a body in a file is begun anew there`() throws {
    let store = store(in: BodyMemory(limit: 0))
    try append(Self.bytes(100), to: store)
    try store.restart()
    try append([1, 2], to: store)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([1, 2]))
  }

  @Test(arguments: [0, 1 << 20], [0, 60_000, BodyMemory.largest, BodyMemory.largest + 1, 200_000, 300_000])
  func `what is transferred is the same in memory and in a file`(limit: Int, size: Int) async throws {
    let server = try PythonServer(
      PythonServer.prelude + """
        body = bytes((n * 7) & 255 for n in range(\(size)))

        def answer(connection, path):
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: \(size)\\r\\n\\r\\n" + body)

        serve()
        """)
    let (downloads, location) = (try Downloads(), try SourceLocation(parsing: server.url("a")))
    let body = Self.bytes(size)
    for checksum in [nil, "sha-256=\(MessageDigest.hexDigest(of: body))", "md5=\(md5(body))"] {
      let store = store(in: BodyMemory(limit: limit))
      let request = TransferRequest(
        location: location, destination: store, checksum: try checksum.map { try Checksum(parsing: $0) })
      let result = await withCheckedContinuation { continuation in
        downloads.engine.start(request) { continuation.resume(returning: $0) }
      }
      let outcome = try result.get().settled(in: store, of: location)
      #expect(outcome.sha256 == MessageDigest.hexDigest(of: body) && outcome.bytes == size)
      let taken = store.takeBytes()?.bytes
      #expect(try (taken ?? [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))) == body)
      #expect((taken == nil) == (size > BodyMemory.largest || limit == 0 && size > 0))
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  private func md5(_ bytes: [UInt8]) -> String {
    let digest = MessageDigest(.md5)
    bytes.withUnsafeBytes { digest.update($0) }
    return digest.hexDigest()
  }

  @Test(arguments: [1000, 200_000])
  func `a body that breaks off in memory has the digest that its continuation needs`(size: Int) throws {
    let (memory, body) = (BodyMemory(), Self.bytes(size))
    let checksum = try Checksum(parsing: "sha-256=\(MessageDigest.hexDigest(of: body))")
    func writer(_ store: BodyStore, _ begun: PartialBody.Content? = nil) throws -> BodyWriter {
      let location = try SourceLocation(parsing: "http://h/a")
      let request = TransferRequest(location: location, destination: store, checksum: checksum)
      return BodyWriter(request, maxBytes: .max, begun: begun)
    }
    let first = store(in: memory)
    let begun = try writer(first)
    try body[..<(size / 2)].withUnsafeBytes { piece in try begun.append(piece) }
    #expect(!first.isInFile)
    let partial = begun.partial(
      of: PartialBody.Source(
        validator: #""a""#, urlDigest: "", total: size, etag: nil, lastModified: nil, forbidsStoring: false))
    try first.moveToFile()
    let rest = try writer(first, partial)
    try body[(size / 2)...].withUnsafeBytes { piece in try rest.append(piece) }
    #expect(rest.matchesChecksum)
    #expect(try rest.finish() == checksum.digest)
  }

  @Test(arguments: [(10, 0), (200_000, 1 << 20)])
  func `a file that cannot be created is an error of the machine that names the source`(
    size: Int, limit: Int
  ) async throws {
    let (root, missing) = (try TemporaryFolder(), folder.file("missing/body"))
    try Data(Self.bytes(size)).write(to: URL(fileURLWithPath: root.file("a.jpg")))
    let downloads = try Downloads { $0.fileRoot = root.path }
    let store = BodyStore(in: BodyMemory(limit: limit)) { () throws(SystemError) in
      try OpenFile(creating: missing)
    }
    let location = try SourceLocation(parsing: "a.jpg")
    let request = TransferRequest(location: location, destination: store)
    let result = await withCheckedContinuation { continuation in
      downloads.engine.start(request) { continuation.resume(returning: $0) }
    }
    let error = #expect(throws: TransferError.self) { try result.get().settled(in: store, of: location) }
    #expect(error?.code == .io && error?.systemError == ENOENT && error?.message.contains("a.jpg") == true)
  }

  @Test func `no one can change what a worker is given`() throws {
    let file = try OpenFile(inMemory: "source", sealed: Self.bytes(100))
    #expect(try file.readAll() == Data(Self.bytes(100)))
    #expect(pwrite(file.descriptor, "x", 1, 0) == -1 && errno == EPERM)
    #expect(ftruncate(file.descriptor, 0) == -1 && errno == EPERM)
  }
}
