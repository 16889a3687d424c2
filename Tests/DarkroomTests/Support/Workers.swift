import Foundation
import Imaging
import Sandbox
import Synchronization
import System
import TestSupport

@testable import Model
@testable import Operations

/// A pool of workers that do what their pictures say, see `HostileWorker`.
final class Workers: Sendable {
  let pool: DecodingPool
  let folder: TemporaryFolder
  private let notices = Notices()

  private final class Notices: Sendable { let lost = Mutex<[String]>([]) }

  /// What the pool said of lost workers.
  var lost: [String] { notices.lost.withLock { $0 } }

  static let program = URL(fileURLWithPath: DarkroomProcess.path).deletingLastPathComponent().path + "/HostileWorker"

  /// - Parameters:
  ///   - program: The workers'.
  ///   - lacksMemory: Whether the kernel is said to have killed something for want of memory whenever that is asked.
  init(
    program: String = program, slots: Int = 1, seconds: Double = 600, wallFactor: Double = 10, idleTime: Double = 600,
    memory: Int = 256 << 20,
    lacksMemory: Bool = false
  ) throws {
    folder = try TemporaryFolder()
    var limits = WorkerLimits(memory: MemoryBudget(available: memory, workers: 1))
    (limits.baseTime, limits.wallFactor, limits.idleTime) = (seconds, wallFactor, idleTime)
    let (notices, kills) = (notices, Notices())
    pool = DecodingPool(
      DecodingPool.Settings(program: program, slots: slots, maxPixels: 1_000_000, limits: limits),
      killCount: {
        kills.lost.withLock { kills in
          if lacksMemory { kills.append("") }
          return kills.count
        }
      }
    ) { notice in
      if case .lost(_, _, let why) = notice { notices.lost.withLock { $0.append(why) } }
    }
  }

  /// Has a source "sleep" in its folder, of which filtrations do nothing until they are cancelled.
  convenience init(sleeping slots: Int) throws {
    try self.init(slots: slots)
    try Self.source("sleep").write(to: URL(fileURLWithPath: folder.file("sleep")))
  }

  deinit { pool.close() }

  /// Filters a source: a deed, or a picture.
  /// - Parameters:
  ///   - owner: Whose picture it is.
  ///   - name: What its files are called; of those at the same time each has its own.
  ///   - begun: Called for each try, with the source.
  @discardableResult
  func filter(
    _ source: Data, recipe: String = "sepia(1)", owner: PictureOwner = .run(""), name: String = "picture",
    maxPixels: Int = 1_000_000, makesPreviews: Bool = false,
    isCancelled: () -> Bool = { false }, begun: (OpenFile) -> Void = { _ in }
  ) throws -> (pictures: ImagePassResult, result: Data) {
    let (input, output) = (folder.file(name), folder.file(name + ".result"))
    try source.write(to: URL(fileURLWithPath: input))
    let task = DecodingTask(
      try Recipe(parsing: recipe), OutputOptions(), limits: ImageLimits(maxPixels: maxPixels),
      makesPreviews: makesPreviews)
    let file = try OpenFile(reading: input)
    let (pictures, _) = try pool.perform(
      task, from: file, subject: DecodingPool.Subject(owner: owner), isCancelled: isCancelled
    ) {
      begun(file)
      try Folder.removeFile(output)
      return try OpenFile(creating: output)
    }
    return (pictures, try Data(contentsOf: URL(fileURLWithPath: output)))
  }

  /// Filters a source whose worker says its number in the result, and kills it then.
  @discardableResult
  func filterKilling(_ source: Data, begun: (OpenFile) -> Void = { _ in }) throws -> ImagePassResult {
    var (tries, killed) = (0, 0)
    return try filter(
      source,
      isCancelled: {
        let said = (try? String(contentsOfFile: folder.file("picture.result"), encoding: .utf8)) ?? ""
        if killed < tries, said.hasSuffix(" "), let worker = pid_t(said.dropLast()) {
          killed = tries
          kill(worker, SIGKILL)
        }
        return false
      },
      begun: {
        tries += 1
        begun($0)
      }
    ).pictures
  }

  @discardableResult
  func attempt(_ deed: String, owner: PictureOwner = .run("")) throws -> ImagePassResult {
    try filter(Self.source(deed), owner: owner).pictures
  }

  /// A picture that does something.
  static func source(_ deed: String) -> Data { Data("HOSTILE \(deed)".utf8) }

  static var picture: Data {
    get throws { try Data(contentsOf: URL(fileURLWithPath: packageRoot + "/Samples/chelsea-small.png")) }
  }
}
