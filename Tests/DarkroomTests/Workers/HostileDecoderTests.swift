import Foundation
import Imaging
import Sandbox
import System
import TestSupport
import Testing

@testable import Darkroom

/// A picture that takes a decoder over gets no further, and costs itself only.
@Suite struct HostileDecoderTests {
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
      ("thread", ENOSYS), ("limit", ENOSYS),
    ])
  func `a decoder that tries this is refused, as the C library may try it`(deed: String, code: Int32) throws {
    let workers = try Workers()
    let error = try #require(throws: ImagingError.self) { try workers.attempt(deed) }
    #expect(error.message == "\(deed): errno \(code)")
    #expect(workers.pool.counts.lost == 0)
  }

  @Test(arguments: [
    ("abort", "was ended by signal 6"), ("end", "exited with 0"), ("be killed", "was ended by signal 9"),
    ("garbage", "said what no decoder says"), ("long garbage", "said what no decoder says"),
    ("lie", "said what no decoder says"), ("demand all", "said what no decoder says"),
    ("escape", "said what no decoder says"),
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

  @Test func `a worker that loops is killed after its time of the processor`() throws {
    let workers = try Workers(seconds: 0.3, wallFactor: 2000)
    let error = try #require(throws: ImagingError.self) { try workers.attempt("loop") }
    #expect(error.code == .decoderCrashed)
    #expect(error.message.contains("of processor time"), "\(error.message)")
    #expect(workers.pool.counts.lost == 2)
  }

  @Test(arguments: ["stop", "sleep"])
  func `a worker that does nothing is killed after ten times that on the wall`(deed: String) throws {
    let workers = try Workers(seconds: 0.05)
    let error = try #require(throws: ImagingError.self) { try workers.attempt(deed) }
    #expect(error.code == .decoderCrashed)
    #expect(error.message.contains("did not answer"), "\(error.message)")
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

  @Test func `what does not fit the memory of whole pictures fails, and costs no worker`() throws {
    let workers = try Workers(memory: 256 << 10)
    let error = try #require(throws: ImagingError.self) { try workers.filter(Workers.picture, recipe: "rotate(90)") }
    #expect(error.code == .imageTooLarge)
    #expect(error.message.contains("131072 bytes are the limit"), "\(error.message)")
    try workers.filter(Workers.picture)
    let counts = workers.pool.counts
    #expect((counts.started, counts.lost) == (1, 0))
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
    let result = try #require(record.snapshot.result)
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

extension MessageDigest {
  fileprivate static func hexDigest(of data: Data) -> String {
    let digest = MessageDigest()
    data.withUnsafeBytes { digest.update($0) }
    return digest.hexDigest()
  }
}
