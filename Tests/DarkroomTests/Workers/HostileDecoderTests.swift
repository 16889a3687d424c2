import Foundation
import Imaging
import Sandbox
import Synchronization
import System
import Testing
import TestSupport

@testable import Model
@testable import Operations

/// A picture that takes a decoder over gets no further, and costs itself only.
@Suite(.blocking) struct HostileDecoderTests {
  /// Whether the kernel filters system calls here.
  private static let isConfined: Bool = {
    guard !Confinement.isSanitized, let workers = try? Workers(), (try? workers.filter(Workers.picture)) != nil else {
      return false
    }
    return workers.pool.counts.confinement.contains(.systemCalls)
  }()

  @Test(
    .enabled(if: isConfined, "the kernel does not filter system calls here"),
    arguments: ["connect", "execve", "ptrace", "kill", "remove"])
  func `a decoder that tries this is ended by the kernel`(deed: String) throws {
    let workers = try Workers()
    let error = try #require(throws: ImagingError.self) { try workers.attempt(deed) }
    #expect(error.code == .decoderCrashed)
    #expect(error.message.contains("signal \(SIGSYS)"), "\(error.message)")
    #expect(workers.pool.counts.lost == 2, "a second try in a fresh worker")
  }

  @Test(
    .enabled(if: isConfined, "the kernel does not filter system calls here"),
    arguments: [
      ("open", EACCES), ("create", EACCES), ("stat", EACCES), ("share", ENOSYS), ("execute memory", ENOSYS),
      ("thread", ENOSYS), ("limit", ENOSYS), ("kill itself", ENOSYS), ("stop itself", ENOSYS),
    ])
  func `a decoder that tries this is refused, as the C library may try it`(deed: String, code: Int32) throws {
    let workers = try Workers()
    let error = try #require(throws: ImagingError.self) { try workers.attempt(deed) }
    #expect(error.message == "\(deed): errno \(code)")
    #expect(workers.pool.counts.lost == 0)
  }

  @Test(arguments: [
    ("abort", "was ended by signal 6"), ("end", "exited with 0"),
    ("garbage", "sent an invalid message"), ("long garbage", "sent an invalid message"),
    ("lie", "sent an invalid message"), ("demand all", "sent an invalid message"),
    ("escape", "sent an invalid message"),
  ])
  func `a worker that is lost fails its entry after a second try, and the next picture is made`(
    deed: String, message: String
  ) throws {
    let workers = try Workers()
    let error = try #require(throws: ImagingError.self) { try workers.attempt(deed) }
    #expect(error.code == .decoderCrashed)
    #expect(error.message.contains(message), "\(error.message)")
    #expect(workers.lost.count == 2)
    try workers.filter(Workers.picture)
    let counts = workers.pool.counts
    #expect((counts.started, counts.lost, counts.running) == (3, 2, 1))
  }

  @Test(arguments: [
    "preview of a small picture", "too large a preview", "more of a preview", "less of a preview",
  ])
  func `a worker that sends no preview that its picture can have is lost`(deed: String) throws {
    let workers = try Workers()
    let error = try #require(throws: ImagingError.self) {
      try workers.filter(Workers.source(deed), maxPixels: 2_000_000, makesPreviews: true)
    }
    #expect(error.code == .decoderCrashed && error.message.contains("sent an invalid message"), "\(error.message)")
  }

  @Test
  func `a worker that is not asked for a preview sends none, and one that announces it and does not send it is lost`()
    throws
  {
    let workers = try Workers(idleTime: 0.3)
    for makesPreviews in [false, true] {
      let error = try #require(throws: ImagingError.self) {
        try workers.filter(Workers.source("no preview"), maxPixels: 2_000_000, makesPreviews: makesPreviews)
      }
      #expect(
        error.message.contains(makesPreviews ? "did not answer" : "sent an invalid message"), "\(error.message)")
    }
  }

  @Test func `what a worker sends as a preview and is none is not staged`() throws {
    let workers = try Workers()
    let pictures = try workers.filter(
      Workers.source("false preview"), maxPixels: 2_000_000, makesPreviews: true
    ).pictures
    let staging = Staging(folder: workers.folder.path, runID: "run-0001")
    let previews = PreviewStaging(staging: staging, position: 7, name: "a")
    #expect(previews.stage(try #require(pictures.preview), of: pictures.output) == nil)
    let picture = try Data(contentsOf: URL(fileURLWithPath: packageRoot + "/Samples/rocket.jpg"))
    let file = try OpenFile(reading: packageRoot + "/Samples/rocket.jpg")
    let header = try withExtendedLifetime(file) { try ImageInfo.probe(file.descriptor) }
    let size = (header.width * 4, header.height * 4)
    func stage(_ bytes: some Sequence<UInt8>, _ width: Int, _ height: Int) -> Artifact? {
      previews.stage(Array(bytes), of: ImageInfo(format: .png, width: width, height: height))
    }
    #expect(stage(picture, size.0, size.1) == nil, "another size")
    #expect(stage(picture, header.width, header.height) == nil, "of a small picture")
    #expect(stage(picture.dropLast(), size.0, size.1) == nil, "not whole")
    #expect(stage([UInt8](repeating: 0xFF, count: 200_000), size.0, size.1) == nil, "too long")
    #expect(try workers.folder.names().filter { $0.hasSuffix(".preview") } == [])
  }

  @Test(arguments: [true, false])
  func `a worker sends the preview of a large picture, and none of a small one`(isLarge: Bool) throws {
    let workers = try Workers()
    let large = workers.folder.file("large.jpg")
    try LargePicture.write(to: large)
    let picture = try isLarge ? Data(contentsOf: URL(fileURLWithPath: large)) : Workers.picture
    let pictures = try workers.filter(picture, maxPixels: 2_000_000, makesPreviews: true).pictures
    let staging = Staging(folder: workers.folder.path, runID: "run-0001")
    let preview = pictures.preview.flatMap {
      PreviewStaging(staging: staging, position: 7, name: "a").stage($0, of: pictures.output)
    }
    #expect((preview != nil) == isLarge && (pictures.preview != nil) == isLarge)
    guard let preview else { return }
    let found = try ImageInfo.probe(#require(preview.file).descriptor)
    #expect(found == ImageInfo(format: .jpeg, width: 501, height: 334))
    let (bytes, sha256) = (preview.delivery.bytes, preview.delivery.sha256)
    #expect(try staging.open().holds("run-0001-7.preview", bytes: bytes, sha256: sha256))
  }

  @Test func `a worker that loops is killed after its time of the processor, and has it no second time`() throws {
    let workers = try Workers(seconds: 0.3, wallFactor: 2000)
    let error = try #require(throws: ImagingError.self) { try workers.attempt("loop") }
    #expect(error.code == .decoderCrashed)
    #expect(error.message.contains("of processor time"), "\(error.message)")
    #expect(workers.pool.counts.lost == 1)
  }

  @Test func `a worker that does nothing is killed after ten times that on the wall, and has it no second time`() throws
  {
    let workers = try Workers(seconds: 0.05)
    let error = try #require(throws: ImagingError.self) { try workers.attempt("sleep") }
    #expect(error.code == .decoderCrashed)
    #expect(error.message.contains("did not answer"), "\(error.message)")
    #expect(workers.pool.counts.lost == 1)
  }

  /// Its limit on the wall would be 6000 s.
  @Test(.timeLimit(.minutes(30)))
  func `a worker that does nothing does not keep its place for as long as one that works may`() throws {
    let workers = try Workers(idleTime: 0.3)
    let error = try #require(throws: ImagingError.self) { try workers.attempt("sleep") }
    #expect(error.message.contains("did not answer"), "\(error.message)")
    #expect(workers.pool.counts.lost == 2, "a second try in a fresh worker")
  }

  @Test(.disabled(if: Confinement.isSanitized, "sanitizers reserve memory of their own"))
  func `a worker that allocates without end gets no more memory than it may have`() throws {
    let workers = try Workers()
    let error = try #require(throws: ImagingError.self) { try workers.attempt("allocate") }
    #expect(error.code == .imageTooLarge)
    #expect(error.message.contains("memory"))
    try workers.filter(Workers.picture)
  }

  @Test func `a worker that is lost once does not fail its entry`() throws {
    let workers = try Workers()
    try workers.attempt("abort once")
    #expect(workers.pool.counts.lost == 1)
  }

  @Test(arguments: [true, false])
  func `a picture whose worker is killed again and again is too large, sooner if memory ran out`(
    lacksMemory: Bool
  ) throws {
    let workers = try Workers(lacksMemory: lacksMemory)
    let error = try #require(throws: ImagingError.self) {
      try workers.filterKilling(Workers.source("be killed"))
    }
    #expect(error.code == .imageTooLarge && error.message.contains("signal 9"), "\(error.message)")
    #expect(workers.lost.count == (lacksMemory ? 2 : 3))
    try workers.filter(Workers.picture)
  }

  @Test(.timeLimit(.minutes(30)), arguments: [true, false])
  func `a picture whose worker was killed is tried again while no other is decoded only for want of memory`(
    lacksMemory: Bool
  ) throws {
    let workers = try Workers(slots: 2, lacksMemory: lacksMemory)
    let (isWaiting, isOther, isMade) = (DispatchSemaphore(value: 0), Flag(), Flag())
    let ended = DispatchSemaphore(value: 0)
    // The other one is being decoded until the first worker is lost, or the first picture has been made.
    Thread.detachNewThread {
      let error = #expect(throws: ImagingError.self) {
        try workers.filter(
          Workers.source("sleep"), name: "other",
          isCancelled: {
            guard lacksMemory ? !workers.lost.isEmpty : isMade.isSet else { return false }
            isOther.isSet = false
            return true
          },
          begun: { _ in
            isOther.isSet = true
            isWaiting.signal()
          })
      }
      #expect(error?.code == .cancelled)
      ended.signal()
    }
    isWaiting.wait()
    var others: [Bool] = []
    try workers.filterKilling(Workers.source("be killed once"), begun: { _ in others.append(isOther.isSet) })
    #expect(others == [true, !lacksMemory])
    isMade.isSet = true
    ended.wait()
  }

  @Test(.disabled(if: Confinement.isSanitized, "each worker is a server then"))
  func `workers that are started at the same time come from one server, and after a loss from another`() throws {
    let starts = try TemporaryFolder()
    let program = starts.file("program")
    try Data("#!/bin/sh\necho >>'\(starts.file("log"))'\nexec '\(Workers.program)' \"$@\"\n".utf8)
      .write(to: URL(fileURLWithPath: program))
    chmod(program, 0o700)
    let workers = try Workers(program: program, slots: 6)
    DispatchQueue.concurrentPerform(iterations: 6) { number in
      #expect(throws: Never.self) {
        try workers.filter(Workers.picture, owner: .user(number), name: "\(number)")
      }
    }
    let count = { try Data(contentsOf: URL(fileURLWithPath: starts.file("log"))).count }
    #expect(try count() == 1)
    #expect(throws: ImagingError.self) { try workers.attempt("abort", owner: .user(6)) }
    try workers.filter(Workers.picture, owner: .user(7))
    #expect(try count() == 3, "one for the second try, and one after that was lost, too")
  }

  @Test func `a worker that ends between two tasks is replaced without counting as a try`() throws {
    let workers = try Workers()
    try workers.attempt("end later")
    try workers.filter(Workers.picture)
    #expect(workers.pool.counts.running == 1)
    let error = try #require(throws: ImagingError.self) { try workers.attempt("abort") }
    #expect(error.code == .decoderCrashed)
  }

  @Test func `a task that is cancelled kills its worker, which is no loss`() throws {
    let workers = try Workers()
    let error = try #require(throws: ImagingError.self) {
      try workers.filter(Data("HOSTILE sleep".utf8), isCancelled: { true })
    }
    #expect(error.code == .cancelled)
    #expect(workers.pool.counts.lost == 0)
    #expect(workers.pool.counts.running == 0)
  }

  /// A recipe that holds some mebibytes.
  private static let holding = "resize(exact 900 900 enlarge) rotate(90)"

  @Test func `what does not fit the memory of whole pictures fails, and costs no worker`() throws {
    let workers = try Workers(memory: 256 << 10)
    let error = try #require(throws: ImagingError.self) { try workers.filter(Workers.picture, recipe: Self.holding) }
    #expect(error.code == .imageTooLarge)
    #expect(error.message.contains("128 KiB of memory is the limit"), "\(error.message)")
    try workers.filter(Workers.picture)
    // A worker has room of its own for a small picture.
    try workers.filter(Workers.picture, recipe: "rotate(90)")
    let counts = workers.pool.counts
    #expect((counts.started, counts.lost) == (1, 0))
  }

  @Test(arguments: [
    (PictureOwner.user(1000), PictureOwner.user(1001)), (.run("one"), .run("other")), (.run("1000"), .user(1000)),
  ])
  func `a worker sees pictures of one owner only`(one: PictureOwner, other: PictureOwner) throws {
    let workers = try Workers()
    try workers.attempt("keep", owner: one)
    let same = try #require(throws: ImagingError.self) { try workers.attempt("alter", owner: one) }
    #expect(same.message == "alter: done", "it is the worker that has kept a file")
    let another = try #require(throws: ImagingError.self) { try workers.attempt("alter", owner: other) }
    #expect(another.message == "alter: errno \(EBADF)", "it is another worker, which has none")
    let counts = workers.pool.counts
    #expect((counts.started, counts.running, counts.lost) == (2, 1, 0))
  }

  @Test func `workers are kept for the owners that go on, as many as there are places`() throws {
    let workers = try Workers(slots: 2)
    for user in [1, 2, 1, 2, 3, 2] {
      try workers.filter(Workers.picture, owner: .user(user))
    }
    let counts = workers.pool.counts
    #expect((counts.started, counts.running) == (3, 2))
  }

  @Test func `a worker lives on when the thread that asked for it ends`() throws {
    let workers = try Workers()
    let thread = Mutex<String?>(nil)
    Thread.detachNewThread {
      #expect(throws: Never.self) { try workers.filter(Workers.picture) }
      // PID/task/TID
      let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
      thread.withLock { $0 = "/proc/" + (path ?? "none") }
    }
    let isThere = { thread.withLock { $0.map(FileManager.default.fileExists) ?? true } }
    while isThere() { usleep(1000) }
    try workers.filter(Workers.picture)
    let counts = workers.pool.counts
    #expect((counts.started, counts.lost) == (1, 0))
  }

  /// A configuration with these workers.
  private func configuration(maxPixels: Int = 1_000_000) -> Configuration {
    var configuration = Configuration()
    (configuration.workerProgram, configuration.filtrations) = (Workers.program, 1)
    configuration.maxPixels = maxPixels
    return configuration
  }

  @Test func `a worker that is busy when its limits change is replaced when it has finished`() throws {
    let workers = try Workers()
    var source: OpenFile?
    try workers.filter(
      Workers.source("wait"),
      isCancelled: {
        // It is asked while the worker, which began with other limits, is busy.
        workers.pool.configure(configuration(maxPixels: 2_000_000), available: 256 << 20)
        if let source { lseek(source.descriptor, 1, SEEK_SET) }
        return false
      },
      begun: { source = $0 })
    #expect(workers.pool.counts.running == 0)
    try workers.filter(Workers.picture)
    #expect(workers.pool.counts.started == 2)
    workers.pool.configure(configuration(maxPixels: 2_000_000), available: 256 << 20)
    try workers.filter(Workers.picture)
    #expect(workers.pool.counts.started == 2, "nothing has changed")
  }

  @Test func `another configuration comes with the memory that there is then`() throws {
    let workers = try Workers()
    try workers.filter(Workers.picture, recipe: Self.holding)
    workers.pool.configure(configuration(), available: 256 << 10)
    let error = try #require(throws: ImagingError.self) { try workers.filter(Workers.picture, recipe: Self.holding) }
    #expect(error.message.contains("128 KiB of memory is the limit"), "\(error.message)")
    workers.pool.configure(configuration(), available: 256 << 20)
    try workers.filter(Workers.picture, recipe: Self.holding)
  }

  @Test func `a worker makes what the program itself makes`() throws {
    let workers = try Workers()
    let recipe = "sepia(0.8) rotate(90) blur(2px) hue-rotate(0.3rad) contrast(33.3%)"
    let (pictures, made) = try workers.filter(Workers.picture, recipe: recipe)
    let memory = MemoryBudget(available: 1 << 30, workers: 1)
    var settings = DecodingPool.Settings(Configuration(), WorkerLimits(memory: memory))
    settings.program = nil
    let own = DecodingPool(settings)
    let task = DecodingTask(try Recipe(parsing: recipe), OutputOptions(), limits: ImageLimits())
    let result = try own.perform(task, from: OpenFile(reading: packageRoot + "/Samples/chelsea-small.png")) {
      try OpenFile(creating: workers.folder.file("own"))
    }
    #expect(result.pictures == pictures)
    #expect(try Data(contentsOf: URL(fileURLWithPath: workers.folder.file("own"))) == made)
  }

  /// What a worker keeps that was taken over is copied, so that it alters nothing that was delivered.
  @Test func `a worker that keeps a result cannot alter it`() throws {
    let workers = try Workers()
    let chains = try Chains(fileRoot: workers.folder.path, pool: workers.pool)
    for deed in ["keep", "alter", "no picture"] {
      try Data("HOSTILE \(deed)".utf8).write(to: URL(fileURLWithPath: workers.folder.file(deed)))
    }
    let record = try chains.start(1, url: "keep", recipe: "sepia(1)")
    _ = chains.ended(1)
    let result = try #require(record.artifacts[.result]?.delivery)
    let altering = try chains.start(2, url: "alter", recipe: "sepia(1)")
    _ = chains.ended(1)
    #expect(altering.snapshot.failure?.message == "alter: done", "it has the file that was its result")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: chains.staging.path(result.staged)))
    #expect(!String(decoding: bytes, as: UTF8.self).contains("altered"))
    #expect(MessageDigest.hexDigest(of: bytes) == result.sha256)
    let other = try chains.start(3, url: "no picture", recipe: "sepia(1)")
    _ = chains.ended(1)
    #expect(other.snapshot.failure?.code.text == "decoder-crashed")
  }
}

/// Whether something is the case, as seen by two threads.
private final class Flag: Sendable {
  private let value = Mutex(false)
  var isSet: Bool {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}

extension MessageDigest {
  fileprivate static func hexDigest(of data: Data) -> String {
    let digest = MessageDigest()
    data.withUnsafeBytes { digest.update($0) }
    return digest.hexDigest()
  }
}
