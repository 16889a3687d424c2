import Foundation
import TestSupport
import Testing

@testable import Transfer

/// Forms whose parts are files.
@Suite(.blocking) struct FormFileTransferTests {
  @Test("the file of a form is sent byte by byte, also to where a redirect leads, named after its path")
  func formFile() async throws {
    let server = try EchoServer.shared
    let text = String(repeating: "käse\r\n", count: 100_000)
    let downloads = try formFolder("dir/ü.PNG", text)
    for path in ["a", "redirect/307/" + server.url("a")] {
      let seen = try await downloads.seen(form("dir/ü.PNG"), at: server.url(path))
      let head = """
        \r
        Content-Disposition: form-data; name="f"; filename="ü.PNG"\r
        Content-Type: image/png\r
        \r

        """
      let end = try #require(seen.body.range(of: head)).upperBound
      #expect(seen.body[end...].hasPrefix(text + "\r\n--"))
      #expect(seen.fields["content-length"] == "\(seen.body.utf8.count)" && seen.line == "POST /a HTTP/1.1")
    }
  }

  @Test("a form whose file is not what it was when it was checked is broken off, and the error names the file")
  func changedFile() async throws {
    let server = try EchoServer.shared
    let changes: [(FileHandle) throws -> Void] = [
      { try $0.truncate(atOffset: 10) }, { try $0.truncate(atOffset: 0) },
      {
        try $0.seekToEnd()
        try $0.write(contentsOf: Data("more".utf8))
      },
    ]
    for change in changes {
      let downloads = try formFolder("a.txt", String(repeating: "x", count: 1 << 19))
      let files = try await downloads.engine.checkFiles(of: form("a.txt"))
      let handle = try #require(FileHandle(forUpdatingAtPath: downloads.folder.file("root/a.txt")))
      try change(handle)
      try handle.close()
      let (result, body) = try await downloads.fetch(server.url("a"), form("a.txt"), files: files)
      let error = #expect(throws: TransferError.self) { try result.get() }
      #expect(error?.code == .io && error?.isOfSource == true && error?.systemError == nil)
      #expect(error?.message == "a.txt changed while it was sent as a part of a form")
      #expect(body.isEmpty)
    }
  }

  @Test(
    "the file of a form is opened as that of a source is",
    arguments: [
      ("missing", TransferError.Code.fileNotFound), ("../outside", .addressNotAllowed), ("outward", .addressNotAllowed),
      ("/etc/passwd", .addressNotAllowed), ("pipe", .fileNotFound), (".", .fileNotFound), ("large", .tooLarge),
      ("inbox/job.json", .addressNotAllowed), ("inward", .addressNotAllowed),
    ])
  func refusedFile(path: String, code: TransferError.Code) async throws {
    let downloads = try formFolder("large", String(repeating: "x", count: 1 << 21))
    try Data().write(to: URL(fileURLWithPath: downloads.folder.file("outside")))
    mkfifo(downloads.folder.file("root/pipe"), 0o600)
    symlink("../outside", downloads.folder.file("root/outward"))
    try Data().write(to: URL(fileURLWithPath: downloads.folder.file("inbox/job.json")))
    symlink("inbox/job.json", downloads.folder.file("root/inward"))
    let error = await #expect(throws: TransferError.self) { try await downloads.engine.checkFiles(of: form(path)) }
    #expect(error?.code == code && error?.message.contains(path) == true, "\(error?.message ?? "")")
    await #expect(throws: TransferError.self) { try await Downloads().engine.checkFiles(of: form(path)) }
  }

  @Test(
    "while a disk does not answer other transfers go on, and a form that waits for it times out or is cancelled",
    arguments: [false, true])
  func silentDisk(isCancelled: Bool) async throws {
    let server = try EchoServer.shared
    let downloads = try formFolder("a.txt", "text") { if !isCancelled { $0.timeout = .seconds(1) } }
    let files = try await downloads.engine.checkFiles(of: form("a.txt"))
    downloads.engine.formReads.isSuspended = true
    let location = try SourceLocation(parsing: server.url("a"))
    let request = TransferRequest(
      location: location, request: try form("a.txt"), files: files, destination: BodyStore(descriptor: -1))
    let (results, stream) = AsyncStream.makeStream(of: Result<TransferOutcome, TransferError>.self)
    let id = downloads.engine.start(request) { stream.yield($0) }
    _ = try await downloads.fetch(server.url("b"), files: FormFiles()).result.get()
    if isCancelled { downloads.engine.cancel(id) }
    var iterator = results.makeAsyncIterator()
    let result = try #require(await iterator.next())
    let error = #expect(throws: TransferError.self) { try result.get() }
    #expect(error?.code == (isCancelled ? .cancelled : .io))
    #expect(isCancelled || error?.isOfSource == true && error?.message.hasPrefix("a.txt could not be read") == true)
    downloads.engine.formReads.isSuspended = false
  }

  @Test("the files of a form are open one at a time, while they are sent")
  func descriptors() async throws {
    let server = try EchoServer.shared
    let downloads = try formFolder("a.txt", "text")
    let part = try FormPart(name: "f", content: .file(SourceLocation(parsing: "a.txt")))
    let request = try SourceRequest(
      method: .post, headers: [], content: .form(Array(repeating: part, count: SourceRequest.maxFiles)))
    let files = try await downloads.engine.checkFiles(of: request)
    let root = downloads.folder.file("root/")
    func open() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0))?.hasPrefix(root) == true
      }
    }
    #expect(try open() == 0)
    let body = try await downloads.fetch(server.url("a"), request, files: files).body
    #expect(String(decoding: body, as: UTF8.self).ranges(of: "\r\n\r\ntext\r\n").count == SourceRequest.maxFiles)
    #expect(try open() == 0)
  }

  @Test("a large file is sent over HTTP/1.1 and over HTTP/2")
  func protocols() async throws {
    let (certificates, port) = (try Certificates.shared, try ReservedPort())
    let served = try TemporaryFolder()
    let nginx = try Nginx(
      serving: served.path, directives: certificates.directives(.none, port: port.number) + "dav_methods PUT;",
      on: port)
    let text = (0..<100_000).map { "\($0)" }.joined(separator: " ")
    let downloads = try formFolder("a.txt", text) { $0.certificateFile = certificates.authority }
    for (name, url) in [("1", nginx.url("1")), ("2", "https://127.0.0.1:\(port.number)/2")] {
      let result = try await downloads.fetch(url, form("a.txt", method: .put)).result
      let error = #expect(throws: TransferError.self) { try result.get() }
      #expect(error?.httpStatus == 201, "\(error?.message ?? "")")
      #expect(try String(contentsOfFile: served.file(name), encoding: .utf8).contains("\r\n\r\n\(text)\r\n--"))
    }
  }

  @Test(
    "the type of a file is that of the extension of its name, or else of its path",
    arguments: [
      ("a.png", "upload", "image/png"), ("a.png", "b.txt", "text/plain"), ("a.png", "b.xyz", "image/png"),
      ("png", nil, "application/octet-stream"), ("a.GIF", nil, "image/gif"),
      ("gif/a", "csv", "application/octet-stream"),
    ])
  func type(path: String, filename: String?, type: String) throws {
    let part = try FormPart(name: "f", content: .file(SourceLocation(parsing: path)), filename: filename)
    #expect(part.type == type)
  }

  private func form(_ path: String, method: SourceRequest.Method = .post) throws -> SourceRequest {
    let part = try FormPart(name: "f", content: .file(SourceLocation(parsing: path)), filename: nil)
    return try SourceRequest(method: method, headers: [], content: .form([part]))
  }

  /// An engine with a file root that has one file.
  private func formFolder(
    _ path: String, _ text: String, _ change: (inout TransferConfiguration) throws -> Void = { _ in }
  ) throws -> Downloads {
    let folder = try TemporaryFolder()
    let file = URL(fileURLWithPath: folder.file("root/" + path))
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    try folder.makeFolder("inbox")
    symlink("../inbox", folder.file("root/inbox"))
    return try Downloads(in: folder) {
      $0.fileRoot = folder.file("root")
      $0.privateFolders = [folder.file("root/inbox"), folder.file("missing")]
      $0.maxBytes = 1 << 20
      try change(&$0)
    }
  }
}
